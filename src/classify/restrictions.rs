//! A table of how far robots.txt files restrict crawlers: one row for each file, or time, and name.

use std::io;

use crate::digest::Digest;
use crate::judge::{file_restriction::FileRestriction, profile::CrawlerProfile};
use crate::robots::foreign::{Foreign, foreign};
use crate::robots::{model::ParsedRobotsTxt, parse::parse_body};
use crate::table::csv::Row;
use crate::table::schema::{Column, TableSchema, column, count, joined};
use crate::time::UtcTime;
use crate::url::path::Dialect;

/// The columns of `botaudit robots restrictions`.
#[rustfmt::skip]
pub(crate) const RESTRICTIONS: TableSchema = TableSchema {
    file: "restrictions.csv",
    row: "each origin, time and name",
    columns: joined![
        column("origin", "text", "origin, or name of the file"),
        column("snapshot_utc", "RFC 3339, UTC", "fetch of the robots.txt in force; empty for files"),
        column("outcome", "HTTP status, name of a failure, file", "answer to that fetch"),
        column("name", "text", "crawler of the registry, or product token"),
        column("restriction", "disallow-all, allow-list, disallow, none, unreachable, unknown", "how far the rules restrict it"),
        column("group", "own, star, none", "group that binds it; empty without rules"),
        column("rule_line", "line number from 1", "rule that decides about `/`; empty if no rule matches it"),
        column("reason", "ignores-star", "why a group for `*` does not bind it"),
        column("crawl_delay", "text", "Crawl-delay of that group, as written"),
        column("at_utc", "RFC 3339, UTC", "time of the row; empty for files"),
        column("not_robots_txt", "text", "what the file is instead of a robots.txt"),
        column("digest", "sha256:hex", "digest of the file"),
        count("size_bytes", "size of the file; 512,001 for a larger one in an archive, which keeps no more"),
        count("lines", "its lines; a line break at the end begins no other line"),
        count("groups", "its groups"),
        count("rules", "its rules"),
        count("sitemaps", "its sitemaps"),
        count("usage_statements", "its statements about use"),
        count("licenses", "its licences"),
        NAME_KIND,
    ],
};

/// The column that says what a name is.
pub(super) const NAME_KIND: [Column; 1] = column(
    "name_kind",
    "crawler, token",
    "what `name` is: a crawler of the registry may have several tokens, or ignore `*`",
);

/// A crawler with its name in the table.
#[derive(Clone, Debug)]
pub(crate) struct NamedProfile {
    /// The name of a crawler, or a product token.
    pub name: String,
    /// The properties that select its rules.
    pub profile: CrawlerProfile,
}

impl NamedProfile {
    /// What its name is.
    pub(super) fn kind(&self) -> &'static str {
        if self.profile.is_known { "crawler" } else { "token" }
    }
}

/// What was in force for an origin at one time.
#[derive(Clone, Debug)]
pub(crate) struct RulesInForce {
    /// The time; `None` for a file.
    pub at: Option<UtcTime>,
    /// The fetch of the robots.txt in force.
    pub fetched_at: Option<UtcTime>,
    /// The answer to the fetch.
    pub outcome: String,
    /// The rules.
    pub rules: RulesOf,
}

/// The rules of one time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RulesOf {
    /// Those of the body with this index.
    Body(usize),
    /// None: everything is allowed.
    Nobody,
    /// Everything is disallowed, because robots.txt is unreachable.
    Unreachable,
    /// Nothing is known.
    Unknown,
}

/// The robots.txt files of one origin, each read once.
#[derive(Debug)]
pub(crate) struct OriginRules {
    /// The origin, or the name of the file.
    pub origin: String,
    /// The bytes of the files.
    pub bodies: Vec<Vec<u8>>,
    /// What was in force, by time.
    pub in_force: Vec<RulesInForce>,
}

/// The facts of a file, and its restriction of each name.
struct FileFacts {
    not_robots_txt: Option<Foreign>,
    digest: Digest,
    counts: [u64; 7],
    restrictions: Vec<FileRestriction>,
}

impl FileFacts {
    fn of(body: &[u8], names: &[NamedProfile]) -> FileFacts {
        let text = parse_body(body);
        let digest = Digest::of(body);
        let rules: usize = text.groups.iter().map(|group| group.rules.len()).sum();
        let sizes = [
            body.len(),
            lines(body, &text),
            text.groups.len(),
            rules,
            text.sitemaps.len(),
            text.usage.len(),
            text.licenses.len(),
        ];
        let restriction = |named: &NamedProfile| {
            FileRestriction::new(&text, digest, &named.profile, Dialect::Google)
        };
        FileFacts {
            not_robots_txt: foreign(&text),
            digest,
            counts: sizes.map(|size| size as u64),
            restrictions: names.iter().map(restriction).collect(),
        }
    }
}

/// The lines of `body`, of which the parser also reads the empty one after the last line break.
fn lines(body: &[u8], text: &ParsedRobotsTxt) -> usize {
    let has_rest = !matches!(body.last(), None | Some(b'\n' | b'\r'));
    text.lines as usize - usize::from(!has_rest)
}

/// Takes what the row counts in the summary, the index of a name and a word, and what fills the row.
pub(crate) type TakeRow<'a> =
    dyn FnMut(Option<(usize, &'static str)>, &dyn Fn(&mut Row)) -> io::Result<()> + 'a;

/// The rows of an origin, in the order of times and names. `take` gets each.
///
/// # Errors
/// If `take` fails.
pub(crate) fn rows(
    of: &OriginRules,
    names: &[NamedProfile],
    take: &mut TakeRow<'_>,
) -> io::Result<()> {
    let facts: Vec<FileFacts> = of.bodies.iter().map(|body| FileFacts::of(body, names)).collect();
    for in_force in &of.in_force {
        let file = match in_force.rules {
            RulesOf::Body(at) => facts.get(at),
            _ => None,
        };
        for (at, named) in names.iter().enumerate() {
            let restriction = file.and_then(|file| file.restrictions.get(at));
            let word = match (restriction, in_force.rules) {
                (Some(restriction), _) => restriction.kind.map_or("none", |kind| kind.as_str()),
                (None, RulesOf::Unreachable) => "unreachable",
                (None, RulesOf::Unknown) => "unknown",
                (None, RulesOf::Nobody | RulesOf::Body(_)) => "none",
            };
            take(Some((at, word)), &|row| {
                row.text(&of.origin)
                    .maybe(in_force.fetched_at, 1, Row::time)
                    .text(&in_force.outcome)
                    .text(&named.name)
                    .word(word)
                    .word(restriction.map_or("", |restriction| restriction.group));
                let line = restriction.and_then(|restriction| restriction.root_line);
                row.maybe_counts(line.map(|line| [u64::from(line)]));
                let ignores = restriction.is_some_and(|restriction| restriction.ignores_star);
                row.word(if ignores { "ignores-star" } else { "" });
                let delay = restriction.and_then(|restriction| restriction.crawl_delay.as_deref());
                row.bytes(delay.unwrap_or_default());
                row.maybe(in_force.at, 1, Row::time);
                row.text(file.and_then(|file| file.not_robots_txt).map_or("", Foreign::as_str));
                row.maybe(file, 1, |row, file| row.digest(&file.digest));
                row.maybe_counts(file.map(|file| file.counts)).word(named.kind());
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_have_its_columns() {
        let page = include_str!("../../docs/research.md");
        for column in RESTRICTIONS.columns {
            let row = format!("| `{}` | {} | {} |\n", column.name, column.unit, column.meaning);
            assert!(page.contains(&row), "{row}");
        }
    }
}
