//! A folder about one crawler at one origin, for a complaint.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::abuse_report::folder::{WrittenFolder, write_folder};
use crate::abuse_report::reporter::Reporter;
use crate::audit::damaged_file::name_damaged;
use crate::audit::model::ReportModel;
use crate::audit::tally::{counter::TallyLimits, file::TALLY, merge::merge_files};
use crate::crawlers::registry::Registry;
use crate::digest::DigestWriter;
use crate::error::{Error, Result};
use crate::numbers::counted;
use crate::report::directory::Staging;
use crate::report::outputs::{Outputs, Overwrite};
use crate::staged::pending::is_ahead;
use crate::table::escape::visible;
use crate::url::origin::Origin;

use super::console::{Console, SharedConsole};
use super::crawler_names::unknown_crawler;
use super::files::name_tallies;
use super::outcome::RunOutcome;
use super::report::{evidence_digest, evidence_of};
use super::sandbox::access_rights::TcpUse;

/// A folder that is ready to be written.
#[derive(Debug)]
pub(crate) struct EvidenceRun {
    /// A report directory, or a tally.
    pub report: PathBuf,
    /// The name of the crawler that broke rules.
    pub crawler: String,
    /// The origin whose rules it broke.
    pub origin: Origin,
    /// The file of violating requests; without it, the one in the report.
    pub requests_file: Option<PathBuf>,
    /// Who sends the folder.
    pub reporter: Reporter,
    /// The directory to create.
    pub output: PathBuf,
    /// The memory that tallies may take.
    pub limits: TallyLimits,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl EvidenceRun {
    /// Writes the folder.
    ///
    /// # Errors
    /// If the crawler broke no rule there, the evidence is not that of the report, or the folder
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
        let staging = Staging::open(&self.output)?;
        let (of, about) = ((&audit, &identities), (self.crawler.as_str(), &self.origin));
        let written = write_folder(&staging, of, about, &self.reporter, evidence.as_deref())?;
        staging.prepare()?;
        staging.commit()?;
        advise(&written, &self.reporter, console);
        let path = visible(self.output.display().to_string().as_bytes());
        let files = counted(written.files.len() as u64 + 1, "file");
        console.print(&format!("{path}: {files}; read letter.txt before you send it\n"))?;
        Ok(RunOutcome::Done)
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
        let builtin = Registry::builtin();
        match [counted, &builtin].iter().any(|registry| registry.find(&self.crawler).is_some()) {
            true => Ok(()),
            false => Err(unknown_crawler(
                &self.crawler,
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

/// Says what the folder lacks, and why.
fn advise(written: &WrittenFolder, reporter: &Reporter, console: &dyn Console) {
    if written.requests == 0 {
        console.note(
            "requests.csv has no requests; audit with --evidence FILE and add --requests-file FILE",
        );
    } else if !written.has_addresses {
        console.note(
            "there is no xarf.json, because the requests have no addresses: audit with --ip full",
        );
    } else if reporter.contact.is_none() {
        console.note("there is no xarf.json; it needs --contact EMAIL");
    }
}
