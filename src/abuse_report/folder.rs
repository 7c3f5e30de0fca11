//! Writes the folder.

use std::fs::{self, File};
use std::{io, net::IpAddr, path::Path};

use crate::crawlers::key_archive::KeyArchive;
use crate::digest::{hexadecimal, sha256};
use crate::error::{Error, Result};
use crate::report::table::{Audited, Table};
use crate::report::tables::{crawlers::SUMMARY, robots_fetches::ROBOTS_FETCHES, rules::VIOLATION};
use crate::table::csv::{CrawlerCells, EachRow};

use super::{Files, Reporter, letter::letter, requests::EvidenceRows, robots::deciding_texts};
use super::{signed::write_signed, subject::Subject, write_file, xarf::message};

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
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = table.schema.columns.iter().map(|column| column.name);
    writer.write_record(names).map_err(|err| cannot(err.into()))?;
    let mut write = |cells: &[String]| writer.write_record(cells).map_err(Into::into);
    each_row(subject, table, &mut write).map_err(cannot)?;
    writer.into_inner().map_err(|err| cannot(err.into_error()))
}

/// Gives the cells of the rows of `table` about `subject`, each escaped as for CSV.
pub(super) fn each_row(
    subject: &Subject<'_>,
    table: &Table,
    row: &mut dyn FnMut(&[String]) -> io::Result<()>,
) -> io::Result<()> {
    let audit = subject.audit;
    let of = Audited { audit, crawlers: &CrawlerCells::new(&audit.registry) };
    let column = |name: &str| table.schema.columns.iter().position(|column| column.name == name);
    let index = |name| column(name).expect("each of these tables says who a row is about");
    let [origin, crawler, identity] = ["origin", "crawler", "identity"].map(index);
    let mut each = EachRow(|cells: Vec<String>| {
        if subject.has(&cells[origin], &cells[crawler], &cells[identity]) {
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
