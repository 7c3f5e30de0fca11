//! Writes the folder.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use crate::audit::model::ReportModel;
use crate::audit::tally::identity_sources::IdentitySources;
use crate::digest::sha256;
use crate::error::{Error, Result};
use crate::report::directory::Staging;
use crate::report::table::{Audited, Table};
use crate::report::tables::robots_fetches::ROBOTS_FETCHES;
use crate::report::tables::{summary::SUMMARY, violations::VIOLATION};
use crate::table::csv::{CrawlerCells, EachRow};
use crate::table::schema::TableSchema;
use crate::url::origin::Origin;

use super::letter::letter;
use super::reporter::Reporter;
use super::requests::EvidenceRows;
use super::robots::deciding_texts;
use super::subject::Subject;
use super::xarf::message;

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

/// The files of a folder.
struct Files<'a> {
    staging: &'a Staging,
    names: Vec<String>,
}

impl Files<'_> {
    fn write(&mut self, name: String, bytes: &[u8]) -> Result<()> {
        let path = self.staging.staged(name.as_ref());
        fs::write(&path, bytes).map_err(|err| Error::io("cannot write", &path, err))?;
        self.names.push(name);
        Ok(())
    }
}

/// Writes the folder about the crawler and the origin `about` to `staging`, with its requests from the
/// file `evidence`.
///
/// # Errors
/// If there are no such violations, or a file cannot be read or written.
pub(crate) fn write_folder(
    staging: &Staging,
    (audit, identities): (&ReportModel, &IdentitySources),
    about: (&str, &Origin),
    reporter: &Reporter,
    evidence: Option<&Path>,
) -> Result<WrittenFolder> {
    let subject = Subject::new(audit, identities, about)?;
    let mut files = Files { staging, names: Vec::new() };
    for (digest, text) in deciding_texts(&subject)? {
        let digest = digest.to_string();
        let digits = &digest.trim_start_matches("sha256:")[..DIGITS];
        files.write(format!("robots-{digits}.txt"), text.bytes)?;
        files.write(format!("robots-{digits}.marked.txt"), text.marked.as_bytes())?;
    }
    for table in [SUMMARY, VIOLATION, ROBOTS_FETCHES] {
        files.write(table.schema.file.to_owned(), &rows_of(&subject, &table)?)?;
    }
    let mut requests = EvidenceRows::default();
    if let Some(path) = evidence {
        requests = EvidenceRows::copy(path, &subject, &mut staging.create(REQUESTS)?)?;
        files.names.push(REQUESTS.to_owned());
    }
    let mut clients: Vec<_> = requests.clients.iter().collect();
    clients.retain(|(client, _)| client.parse::<IpAddr>().is_ok());
    clients.sort_by_key(|(_, of)| std::cmp::Reverse(of.requests));
    let has_addresses = !clients.is_empty();
    let is_sent = reporter.contact.is_some();
    for (number, (client, of)) in (1..).zip(clients).take(MESSAGES_MAX).filter(|_| is_sent) {
        let name = if number == 1 { "xarf.json".to_owned() } else { format!("xarf-{number}.json") };
        let message = message(&subject, reporter, client, of)?;
        files.write(name, format!("{message:#}\n").as_bytes())?;
    }
    files.write("letter.txt".to_owned(), letter(&subject, reporter, &requests).as_bytes())?;
    files.names.sort();
    write_sums(staging, &files.names)?;
    Ok(WrittenFolder { files: files.names, requests: requests.requests, has_addresses })
}

/// The rows of `table` about `subject`.
fn rows_of(subject: &Subject<'_>, table: &Table) -> Result<Vec<u8>> {
    let audit = subject.audit;
    let of = Audited { audit, crawlers: &CrawlerCells::new(&audit.registry) };
    let TableSchema { file, columns, .. } = table.schema;
    let cannot = |err| Error::io("cannot write", Path::new(file), err);
    let column = |name: &str| columns.iter().position(|column| column.name == name);
    let index = |name| column(name).expect("each of these tables says who a row is about");
    let [origin, crawler, identity] = ["origin", "crawler", "identity"].map(index);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = columns.iter().map(|column| column.name);
    writer.write_record(names).map_err(|err| cannot(err.into()))?;
    let mut each = EachRow(|cells: Vec<String>| {
        if subject.has(&cells[origin], &cells[crawler], &cells[identity]) {
            writer.write_record(&cells)?;
        }
        Ok(())
    });
    table.rows(of, &mut each).map_err(cannot)?;
    writer.into_inner().map_err(|err| cannot(err.into_error()))
}

/// The digests, as `sha256sum -c` reads them.
fn write_sums(staging: &Staging, files: &[String]) -> Result<()> {
    let mut sums = String::new();
    for name in files {
        let path = staging.staged(name.as_ref());
        let bytes = fs::read(&path).map_err(|err| Error::io("cannot read", &path, err))?;
        let digest: String = sha256(&[&bytes]).iter().map(|byte| format!("{byte:02x}")).collect();
        sums += &format!("{digest}  {name}\n");
    }
    let path = staging.staged("SHA256SUMS".as_ref());
    fs::write(&path, sums).map_err(|err| Error::io("cannot write", &path, err))
}
