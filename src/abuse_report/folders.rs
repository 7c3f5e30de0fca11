//! Folders about several crawlers and origins, with an index.

use std::{fs, path::Path};

use crate::audit::tally::identity_sources::IdentitySources;
use crate::audit::{conduct::Conduct, crawler_row::ActorRow, model::ReportModel};
use crate::crawlers::identity::Identity;
use crate::error::{Error, Result};
use crate::report::tables::crawlers::SUMMARY;
use crate::url::origin::Origin;

use super::folder::{Enclosed, WrittenFolder, each_row, write_folder};
use super::{Reporter, subject::Subject, write_file};

/// The most folders; of more subjects, those with the most violations.
const FOLDERS_MAX: usize = 100;

/// The file that lists the folders.
const INDEX: &str = "index.csv";

/// The columns of summary.csv that the index has.
const INDEX_COLUMNS: [&str; 10] = [
    "crawler",
    "operator",
    "identity",
    "origin",
    "conduct",
    "violations",
    "violations_after_fetch",
    "violation_rate",
    "first_seen_utc",
    "last_seen_utc",
];

/// The most characters of a name in the name of a folder.
const NAME_CHARS_MAX: usize = 60;

/// Crawlers and origins that letters are about.
#[derive(Debug, Default)]
pub(crate) struct Subjects {
    /// Names of crawlers and origins, most violations first.
    pub about: Vec<(String, Origin)>,
    /// Crawlers and origins beyond [`FOLDERS_MAX`].
    pub left_out: usize,
    /// Crawlers and what is in place of an origin that no letter can name, such as `-`.
    pub nowhere: Vec<(String, String)>,
}

impl Subjects {
    /// Those of `audit` that ignore robots.txt, or all with violations of `crawler`; of `origin`
    /// alone, if it is given.
    pub(crate) fn find(
        audit: &ReportModel,
        crawler: Option<&str>,
        origin: Option<&Origin>,
    ) -> Subjects {
        let name = |row: &ActorRow| &audit.registry.crawler(row.actor.0).name;
        let mut rows: Vec<_> = audit
            .rows()
            .iter()
            .filter(|row| !row.broken.is_empty() && row.actor.1 != Identity::Spoofed)
            .filter(|row| origin.is_none_or(|origin| row.origin == origin.as_str()))
            .filter(|row| match crawler {
                Some(crawler) => name(row).eq_ignore_ascii_case(crawler),
                None => !audit.is_tool(row.actor.0) && audit.conduct(row) == Conduct::Ignores,
            })
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.tally.total().violations));
        let mut found = Subjects::default();
        for row in rows {
            let Ok(origin) = row.origin.parse::<Origin>() else {
                found.nowhere.push((name(row).clone(), row.origin.clone()));
                continue;
            };
            let about = (name(row).clone(), origin);
            // One with several identities is one subject.
            if !found.about.contains(&about) {
                found.about.push(about);
            }
        }
        found.left_out = found.about.len().saturating_sub(FOLDERS_MAX);
        found.about.truncate(FOLDERS_MAX);
        found
    }
}

/// Writes a folder for each of `about` to `directory`, and an index.
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn write_folders(
    directory: &Path,
    (audit, identities): (&ReportModel, &IdentitySources),
    about: &[(String, Origin)],
    reporter: &dyn Fn(&Origin) -> Reporter,
    enclosed: Enclosed<'_>,
) -> Result<Vec<WrittenFolder>> {
    let cannot_write = |err| Error::io("cannot write", &directory.join(INDEX), err);
    let mut index = csv::Writer::from_writer(Vec::new());
    let names = ["folder"].into_iter().chain(INDEX_COLUMNS);
    index.write_record(names).map_err(|err| cannot_write(err.into()))?;
    let column = |name: &str| SUMMARY.schema.columns.iter().position(|column| column.name == name);
    let columns = INDEX_COLUMNS.map(|name| column(name).expect("summary.csv has these columns"));
    let mut written = Vec::new();
    for (number, (name, origin)) in (1..).zip(about) {
        let subject = Subject::new(audit, identities, (name, origin))?;
        let folder = format!("{number:03}-{}-{}", plain(name), plain(origin.host_and_port()));
        let path = directory.join(&folder);
        fs::create_dir(&path).map_err(|err| Error::io("cannot write", &path, err))?;
        written.push(write_folder(&path, &subject, &reporter(origin), enclosed)?);
        each_row(&subject, &SUMMARY, &mut |cells| {
            let cells = columns.iter().map(|&column| cells[column].as_str());
            index.write_record([folder.as_str()].into_iter().chain(cells)).map_err(Into::into)
        })
        .map_err(cannot_write)?;
    }
    let index = index.into_inner().map_err(|err| cannot_write(err.into_error()))?;
    write_file(&directory.join(INDEX), &index)?;
    Ok(written)
}

/// `name` for a file name on any system.
fn plain(name: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
    let chars = name.chars().map(|char| if is_plain(char) { char } else { '_' });
    chars.take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_plain_names() {
        assert_eq!(plain("../a b:80\u{202e}"), ".._a_b_80_");
        assert_eq!(plain(&"x".repeat(500)).len(), NAME_CHARS_MAX);
    }
}
