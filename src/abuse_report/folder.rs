//! Writes folders about crawlers and origins: one, or several with an index.

use std::fs::{self, File};
use std::{io, net::IpAddr, path::Path};

use crate::audit::tally::identity_sources::IdentitySources;
use crate::audit::{conduct::Conduct, crawler_row::ActorRow, model::ReportModel};
use crate::crawlers::{identity::Identity, key_archive::KeyArchive};
use crate::digest::{hexadecimal, sha256};
use crate::error::{Error, Result};
use crate::report::table::{Audited, Table};
use crate::report::tables::{crawlers::SUMMARY, robots_fetches::ROBOTS_FETCHES, rules::VIOLATION};
use crate::table::csv::{CsvTable, EachRow, write_cells};
use crate::table::schema::Cell;
use crate::url::origin::Origin;

use super::letter::{letter, message};
use super::requests::{EvidenceRows, write_signed};
use super::{Files, Reporter, robots::deciding_texts, subject::Subject, write_file};

/// The most messages, one for each client; those with the most requests.
const MESSAGES_MAX: usize = 20;

/// The digits of a digest in the name of a file.
const DIGITS: usize = 12;

/// The requests of the evidence file.
const REQUESTS: &str = "requests.csv";

/// What was written.
#[derive(Debug)]
pub(crate) struct WrittenFolder {
    /// The names of the files, in order.
    pub files: Vec<String>,
    /// Requests of the evidence file.
    pub requests: u64,
    /// Whether the evidence file has addresses of clients.
    pub has_addresses: bool,
}

/// What a folder is made from beside the report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Enclosed<'a> {
    /// The evidence file.
    pub requests: Option<&'a Path>,
    /// The keys of agents.
    pub keys: Option<&'a KeyArchive>,
}

/// Writes the folder about `subject` to `directory`, with what `enclosed` has about it.
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn write_folder(
    directory: &Path,
    subject: &Subject<'_>,
    reporter: &Reporter,
    enclosed: Enclosed<'_>,
) -> Result<WrittenFolder> {
    let mut files = Files::of(directory);
    for (digest, text) in deciding_texts(subject)? {
        let digest = digest.to_string();
        let digits = &digest.trim_start_matches("sha256:")[..DIGITS];
        files.write(&format!("robots-{digits}.txt"), text.bytes)?;
        files.write(&format!("robots-{digits}.marked.txt"), text.marked.as_bytes())?;
    }
    for table in [SUMMARY, VIOLATION, ROBOTS_FETCHES] {
        files.write(table.schema.file, &rows_of(subject, &table)?)?;
    }
    let mut requests = EvidenceRows::default();
    if let Some(path) = enclosed.requests {
        let copy = directory.join(REQUESTS);
        let cannot_write = |err| Error::io("cannot write", &copy, err);
        let mut file = File::create_new(&copy).map_err(cannot_write)?;
        requests = EvidenceRows::copy(path, subject, &mut file)?;
        file.sync_all().map_err(cannot_write)?;
        files.names.push(REQUESTS.to_owned());
    }
    let mut clients: Vec<_> = requests.clients.iter().collect();
    clients.retain(|(client, _)| client.parse::<IpAddr>().is_ok());
    clients.sort_by_key(|(_, of)| std::cmp::Reverse(of.requests));
    let has_addresses = !clients.is_empty();
    let is_sent = reporter.contact.is_some();
    for (number, (client, of)) in (1..).zip(clients).take(MESSAGES_MAX).filter(|_| is_sent) {
        let name = if number == 1 { "xarf.json".to_owned() } else { format!("xarf-{number}.json") };
        let message = message(subject, reporter, client, of)?;
        files.write(&name, format!("{message:#}\n").as_bytes())?;
    }
    let signed = write_signed(&mut files, subject, &requests.signed, enclosed.keys)?;
    files.write("letter.txt", letter(subject, reporter, &requests, &signed).as_bytes())?;
    files.names.sort();
    write_sums(directory, &files.names)?;
    Ok(WrittenFolder { files: files.names, requests: requests.requests, has_addresses })
}

/// The rows of `table` about `subject`, as CSV.
fn rows_of(subject: &Subject<'_>, table: &Table) -> Result<Vec<u8>> {
    let cannot = |err| Error::io("cannot write", Path::new(table.schema.file), err);
    let mut csv = CsvTable::with_header(Vec::new(), &table.schema).map_err(cannot)?;
    each_row(subject, table, &mut |cells| csv.row(|row| _ = row.cells(cells))).map_err(cannot)?;
    csv.finish().map_err(cannot)
}

/// Gives the cells of the rows of `table` about `subject`.
pub(super) fn each_row(
    subject: &Subject<'_>,
    table: &Table,
    row: &mut dyn FnMut(&[Cell]) -> io::Result<()>,
) -> io::Result<()> {
    let audit = subject.audit;
    let of = Audited { audit };
    let column = |name: &str| table.schema.columns.iter().position(|column| column.name == name);
    let index = |name| column(name).expect("each of these tables says who a row is about");
    let [origin, crawler, identity] = ["origin", "crawler", "identity"].map(index);
    let mut each = EachRow(|cells: Vec<Cell>| {
        let [origin, crawler, identity] = [origin, crawler, identity].map(|at| cells[at].text());
        if subject.has([origin, crawler, identity].map(Option::unwrap_or_default)) {
            row(&cells)?;
        }
        Ok(())
    });
    table.rows(of, &mut each)
}

/// The digests, as `sha256sum -c` reads them.
fn write_sums(directory: &Path, files: &[String]) -> Result<()> {
    let mut sums = String::new();
    for name in files {
        let path = directory.join(name);
        let bytes = fs::read(&path).map_err(|err| Error::io("cannot read", &path, err))?;
        let digest = hexadecimal(&sha256(&[&bytes]));
        sums += &format!("{digest}  {name}\n");
    }
    write_file(&directory.join("SHA256SUMS"), sums.as_bytes())
}

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
            index.write_field(&folder)?;
            write_cells(&mut index, columns.iter().map(|&column| &cells[column]))
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
