//! A table of how the rules for crawlers changed from one robots.txt to the next.

use std::io;

use bytes::Bytes;

use crate::digest::Digest;
use crate::judge::file_restriction::FileRestriction;
use crate::judge::rule_differences::{Effect, RuleDifference, Versions};
use crate::robots::{model::ParsedRobotsTxt, parse::parse_body};
use crate::table::csv::Row;
use crate::table::schema::{TableSchema, column, joined, line_number, time};
use crate::time::UtcTime;
use crate::url::path::Dialect;

use super::answer::shown;
use super::restrictions::{NAME_KIND, NamedProfile, TakeRow};

/// The possible values of a restriction.
const KIND_WORDS: &str = "disallow-all, allow-list, disallow, none";

/// The possible values of a group.
const GROUP_WORDS: &str = "own, star, none";

/// The possible values of an effect.
const EFFECT_WORDS: &str = "tightened, loosened, both, none";

/// The columns of `botaudit robots changes`.
#[rustfmt::skip]
pub(crate) const RULE_CHANGES: TableSchema = TableSchema {
    file: "rule-changes.csv",
    row: "each origin, change, name and rule that only one version has",
    columns: joined![
        column("origin", "text", "origin"),
        column("name", "text", "crawler of the registry, or product token"),
        time("changed_after_utc", "last fetch that still saw the old rules"),
        time("changed_before_utc", "first fetch that saw the new rules"),
        column("effect", EFFECT_WORDS, "whether paths are newly disallowed or newly allowed"),
        column("old_restriction", KIND_WORDS, "how far the old rules restrict it"),
        column("new_restriction", KIND_WORDS, "how far the new rules restrict it"),
        column("old_group", GROUP_WORDS, "group that bound it; empty if there was no robots.txt"),
        column("new_group", GROUP_WORDS, "group that binds it; empty if there is no robots.txt"),
        column("old_crawl_delay", "text", "Crawl-delay of the old group, as written"),
        column("new_crawl_delay", "text", "Crawl-delay of the new group, as written"),
        column("old_digest", "sha256:hex", "digest of the old file"),
        column("new_digest", "sha256:hex", "digest of the new file"),
        column("rule_change", "added, removed", "which version has the rule; empty if all rules are the same"),
        column("rule_effect", EFFECT_WORDS, "effect on the paths that this rule decides"),
        column("directive", "allow, disallow", "directive of the rule"),
        column("pattern", "text", "pattern of the rule, cut to 1,024 bytes"),
        line_number("rule_line", "line of the rule in the version that has it"),
        NAME_KIND,
    ],
};

/// Two consecutive versions of the robots.txt of an origin. A body is `None` if there was no file.
#[derive(Debug)]
pub(crate) struct VersionPair {
    /// The origin.
    pub origin: String,
    /// The last fetch of the old version.
    pub after: UtcTime,
    /// The first fetch of the new version.
    pub before: UtcTime,
    /// The old version.
    pub old: Option<Bytes>,
    /// The new version.
    pub new: Option<Bytes>,
}

/// A version of a robots.txt.
struct Version {
    text: ParsedRobotsTxt,
    digest: Digest,
}

impl Version {
    fn of(body: &Option<Bytes>) -> Option<Version> {
        body.as_ref().map(|body| Version { text: parse_body(body), digest: Digest::of(body) })
    }

    fn restriction(&self, named: &NamedProfile) -> FileRestriction {
        FileRestriction::new(&self.text, self.digest, &named.profile, Dialect::Google)
    }
}

/// The change of the rules for one name.
struct Change<'a> {
    pair: &'a VersionPair,
    digests: [Option<Digest>; 2],
    named: &'a NamedProfile,
    restrictions: [Option<FileRestriction>; 2],
    effect: Effect,
}

impl Change<'_> {
    /// Whether something besides the rules is different.
    fn is_visible(&self) -> bool {
        let [old, new] = self.restrictions.each_ref().map(|restriction| {
            restriction.as_ref().map(|of| (of.group, of.kind, of.crawl_delay.as_deref()))
        });
        // Without a robots.txt, and without rules in it, nothing binds.
        let unbound = ("none", None, None);
        old.unwrap_or(unbound) != new.unwrap_or(unbound)
    }

    /// The cells of a row, about `rule` if there is one.
    fn fill(&self, row: &mut Row, rule: Option<&RuleDifference<'_>>) {
        row.text(&self.pair.origin)
            .text(&self.named.name)
            .time(self.pair.after)
            .time(self.pair.before);
        row.word(self.effect.as_str());
        let known = self.restrictions.each_ref().map(Option::as_ref);
        for of in known {
            row.word(of.and_then(|of| of.kind).map_or("none", |kind| kind.as_str()));
        }
        for of in known {
            row.word(of.map_or("", |of| of.group));
        }
        for of in known {
            row.bytes(of.and_then(|of| of.crawl_delay.as_deref()).unwrap_or_default());
        }
        for digest in &self.digests {
            row.maybe(digest.as_ref(), 1, Row::digest);
        }
        row.maybe(rule, 5, |row, rule| {
            row.word(if rule.is_added { "added" } else { "removed" })
                .word(rule.effect.as_str())
                .word(rule.rule.directive.as_str())
                .bytes(&shown(rule.rule.written()).concat())
                .counts([u64::from(rule.rule.line)])
        });
        row.word(self.named.kind());
    }
}

/// The rows of `pair`, in the order of `names`. `take` gets each; the first one of a change counts
/// its effect.
///
/// # Errors
/// If `take` fails.
pub(crate) fn rows(
    pair: &VersionPair,
    names: &[NamedProfile],
    take: &mut TakeRow<'_>,
) -> io::Result<()> {
    let files = [Version::of(&pair.old), Version::of(&pair.new)];
    let [old, new] = files.each_ref().map(|file| file.as_ref().map(|file| &file.text));
    let mut versions = Versions::new(old, new);
    for (at, named) in names.iter().enumerate() {
        let rules = versions.differences(&named.profile);
        let effect = rules.iter().fold(Effect::None, |all, rule| all.and(rule.effect));
        let restrictions =
            files.each_ref().map(|file| file.as_ref().map(|file| file.restriction(named)));
        let digests = files.each_ref().map(|file| file.as_ref().map(|file| file.digest));
        let change = Change { pair, digests, named, restrictions, effect };
        let counts = Some((at, effect.as_str()));
        if rules.is_empty() && change.is_visible() {
            take(counts, &|row| change.fill(row, None))?;
        }
        for (place, rule) in rules.iter().enumerate() {
            take(counts.filter(|_| place == 0), &|row| change.fill(row, Some(rule)))?;
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
        for column in RULE_CHANGES.columns {
            let row = format!("| `{}` | {} | {} |\n", column.name, column.unit, column.meaning);
            assert!(page.contains(&row), "{row}");
        }
    }
}
