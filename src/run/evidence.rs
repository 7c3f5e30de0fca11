//! Folders about crawlers that broke rules, each about one at one origin, for complaints.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::abuse_report::folder::{Enclosed, Subjects, WrittenFolder, write_folder, write_folders};
use crate::abuse_report::{Reporter, subject::Subject};
use crate::audit::model::ReportModel;
use crate::audit::tally::merge::{merge_files, name_damaged};
use crate::audit::tally::{counter::TallyLimits, file::TALLY, identity_sources::IdentitySources};
use crate::crawlers::{key_archive::KeyArchive, registry::Registry};
use crate::digest::DigestWriter;
use crate::error::{Error, Result};
use crate::numbers::counted;
use crate::report::directory::Staging;
use crate::report::outputs::{Outputs, Overwrite};
use crate::staged::pending::is_ahead;
use crate::table::escape::visible;
use crate::url::origin::Origin;

use super::console::{RunOutcome, SharedConsole};
use super::report::{evidence_digest, evidence_of};
use super::{crawlers::unknown_crawler, files::name_tallies, sandbox::access_rights::TcpUse};

/// Folders that are ready to be written.
#[derive(Debug)]
pub(crate) struct EvidenceRun {
    /// A report directory, or a tally.
    pub report: PathBuf,
    /// The name of the crawler that broke rules; without it, all that ignore robots.txt.
    pub crawler: Option<String>,
    /// The origin whose rules it broke; without it, each.
    pub origin: Option<Origin>,
    /// The file of violating requests; without it, the one in the report.
    pub requests_file: Option<PathBuf>,
    /// The directory of the keys of agents that sign requests.
    pub signature_keys: Option<PathBuf>,
    /// The name of the sender; without it, the host of the origin.
    pub organisation: Option<String>,
    /// The e-mail address for answers.
    pub contact: Option<String>,
    /// The directory to create.
    pub output: PathBuf,
    /// The memory that tallies may take.
    pub limits: TallyLimits,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl EvidenceRun {
    /// Writes the folders.
    ///
    /// # Errors
    /// If no crawler broke a rule there, the evidence is not that of the report, or the directory
    /// exists or cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let console = &*self.console;
        let within = || Some(self.report.join(evidence_of(&self.report)?));
        let evidence = self.requests_file.clone().or_else(within);
        self.check_files(evidence.as_ref())?;
        evidence.iter().try_for_each(|path| self.check_evidence(path))?;
        let (report, limits) = (std::slice::from_ref(&self.report), self.limits);
        let damaged = |err| name_damaged(err, report, limits);
        let tally = merge_files(report, limits).map_err(damaged)?;
        let identities = tally.header.identities.clone();
        let audit = ReportModel::new(tally).map_err(damaged)?;
        self.check_crawler(&audit.registry)?;
        let of = (&audit, &identities);
        let keys = self.signature_keys.as_deref().map(KeyArchive::open).transpose()?;
        let enclosed = Enclosed { requests: evidence.as_deref(), keys: keys.as_ref() };
        let (written, said) = match (&self.crawler, &self.origin) {
            (Some(crawler), Some(origin)) => self.one(of, (crawler, origin), enclosed)?,
            _ => self.all(of, enclosed)?,
        };
        written.iter().take(1).for_each(|first| self.advise(first));
        let path = visible(self.output.display().to_string().as_bytes());
        console.print(&format!("{path}: {said} before you send it\n"))?;
        Ok(RunOutcome::Done)
    }

    /// The folder about one crawler at one origin, and what to say of it.
    fn one(
        &self,
        (audit, identities): (&ReportModel, &IdentitySources),
        about: (&str, &Origin),
        enclosed: Enclosed<'_>,
    ) -> Result<(Vec<WrittenFolder>, String)> {
        let subject = Subject::new(audit, identities, about)?;
        let staging = Staging::open(&self.output)?;
        let reporter = self.reporter(about.1);
        let written = write_folder(staging.directory(), &subject, &reporter, enclosed)?;
        staging.prepare()?;
        staging.commit()?;
        let files = counted(written.files.len() as u64 + 1, "file");
        Ok((vec![written], format!("{files}; read letter.txt")))
    }

    /// The folders about all crawlers and origins, and what to say of them.
    fn all(
        &self,
        of: (&ReportModel, &IdentitySources),
        enclosed: Enclosed<'_>,
    ) -> Result<(Vec<WrittenFolder>, String)> {
        let subjects = Subjects::find(of.0, self.crawler.as_deref(), self.origin.as_ref());
        for (crawler, place) in &subjects.nowhere {
            let place = visible(place.as_bytes());
            self.console
                .note(&format!("no folder for {crawler} at '{place}', which is not an origin"));
        }
        if subjects.about.is_empty() {
            return Err(Error::usage(match &self.crawler {
                Some(crawler) => format!("the report has no violation by {crawler}"),
                None => "no crawler in this report ignores robots.txt; nothing was written; to \
                         write about others, name one with --crawler"
                    .to_owned(),
            }));
        }
        if subjects.left_out > 0 {
            self.console.warn(&format!(
                "{} of crawlers and origins with fewer violations are left out; select with \
                 --crawler or --origin",
                counted(subjects.left_out as u64, "pair")
            ));
        }
        let staging = Staging::open(&self.output)?;
        let reporter = |origin: &Origin| self.reporter(origin);
        let written = write_folders(staging.directory(), of, &subjects.about, &reporter, enclosed)?;
        staging.prepare()?;
        staging.commit()?;
        let folders = counted(written.len() as u64, "folder");
        Ok((written, format!("{folders}, listed in index.csv; read each letter.txt")))
    }

    fn reporter(&self, origin: &Origin) -> Reporter {
        let organisation = self.organisation.clone();
        Reporter {
            organisation: organisation.unwrap_or_else(|| origin.host().to_owned()),
            contact: self.contact.clone(),
        }
    }

    /// Says what the folder lacks, and why.
    fn advise(&self, written: &WrittenFolder) {
        if written.requests == 0 {
            self.console.note(
                "requests.csv has no requests; audit with --evidence FILE and add --requests-file FILE",
            );
        } else if !written.has_addresses {
            self.console.note(
                "there is no xarf.json, because the requests have no addresses: audit with --ip full",
            );
        } else if self.contact.is_none() {
            self.console.note("there is no xarf.json; it needs --contact EMAIL");
        }
    }

    /// Checks that `path` is the evidence of the audit that made the report. A run that is killed
    /// may leave new evidence beside an older report.
    fn check_evidence(&self, path: &Path) -> Result<()> {
        let cannot_read = |err| Error::io("cannot read --requests-file", path, err);
        let unlike = |why: &str| Err(Error::invalid_file(path, why));
        if is_ahead(path).map_err(cannot_read)? {
            return unlike(
                "is newer than its report, because a run was stopped between the two; audit the \
                 logs again with --evidence",
            );
        }
        let directory = match self.report.file_name().is_some_and(|name| name == TALLY) {
            true => self.report.parent(),
            false => Some(self.report.as_path()),
        };
        // Bytes of a pipe can be read only once.
        let Some(expected) = directory.and_then(evidence_digest).filter(|_| path.is_file()) else {
            return Ok(());
        };
        let mut file = fs::File::open(path).map_err(cannot_read)?;
        let mut sum = DigestWriter::new(io::sink());
        io::copy(&mut file, &mut sum).map_err(cannot_read)?;
        match sum.finish().1 == expected {
            true => Ok(()),
            false => unlike(
                "is not the evidence of this report (its SHA-256 is not that of run.json); name the \
                 file that was written with the report, or audit the logs again with --evidence",
            ),
        }
    }

    /// Checks that the crawler is known, to `counted` or to this version.
    fn check_crawler(&self, counted: &Registry) -> Result<()> {
        let Some(crawler) = &self.crawler else { return Ok(()) };
        let builtin = Registry::builtin();
        match [counted, &builtin].iter().any(|registry| registry.find(crawler).is_some()) {
            true => Ok(()),
            false => Err(unknown_crawler(
                crawler,
                &builtin,
                "to list all names, run: botaudit crawlers list",
            )),
        }
    }

    /// Checks that the output is new, and begins with the files of this run.
    fn check_files(&self, evidence: Option<&PathBuf>) -> Result<()> {
        let mut outputs = Outputs::new(Overwrite::Own);
        name_tallies(std::slice::from_ref(&self.report), &mut outputs);
        evidence.into_iter().for_each(|path| outputs.reads("--requests-file", path));
        let keys = self.signature_keys.iter();
        keys.for_each(|path| outputs.reads_files_of("--signature-keys", path));
        let is_new =
            fs::read_dir(&self.output).map_or(true, |mut entries| entries.next().is_none());
        if !is_new {
            let why = "already exists; use another directory for -o";
            return Err(Error::invalid_file(&self.output, why));
        }
        outputs.directory("-o", &self.output)?;
        self.console.begin_with(&outputs, TcpUse::None);
        Ok(())
    }
}
