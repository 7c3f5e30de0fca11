//! `botaudit evidence`: writes a folder about one crawler at one origin, to be sent.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;

use crate::abuse_report::folder::{WrittenFolder, write_folder};
use crate::abuse_report::reporter::Reporter;
use crate::audit::damaged_file::name_damaged;
use crate::audit::model::ReportModel;
use crate::audit::tally::{file::TALLY, merge::merge_files};
use crate::digest::DigestWriter;
use crate::error::{Error, Result};
use crate::numbers::counted;
use crate::report::directory::Staging;
use crate::report::{outputs::Outputs, outputs::Overwrite};
use crate::run::outcome::RunOutcome;
use crate::run::sandbox::access_rights::TcpUse;
use crate::staged::pending::is_ahead;
use crate::table::escape::visible;

use super::confinement::confine;
use super::help::short;
use super::report::{evidence_digest, evidence_of};
use super::shared::{MemoryArg, name_tallies, note, origin, print};

const HELP: &str = include_str!("help/evidence.txt");

/// Write a folder about one crawler at one origin, to be sent.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "evidence"), after_long_help = HELP,
    override_usage = "botaudit evidence --crawler NAME --origin URL -o DIR [REPORT]")]
pub struct EvidenceArgs {
    /// Report directory, or tally.
    #[arg(value_name = "REPORT", default_value = "botaudit-report")]
    report: PathBuf,

    /// Crawler that broke rules.
    #[arg(long, value_name = "NAME", help_heading = "Subject")]
    crawler: String,

    /// Origin whose rules it broke.
    #[arg(long, value_name = "URL", help_heading = "Subject")]
    origin: String,

    /// File of `audit --evidence` [default: the one in the report directory]
    #[arg(long, value_name = "FILE", help_heading = "Subject")]
    requests_file: Option<PathBuf>,

    /// E-mail address for answers.
    #[arg(long, value_name = "EMAIL", help_heading = "Sender", value_parser = email)]
    contact: Option<String>,

    /// Name of the sender [default: the host of --origin]
    #[arg(long, value_name = "NAME", help_heading = "Sender")]
    organisation: Option<String>,

    /// Directory to create.
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: PathBuf,

    #[command(flatten)]
    memory: MemoryArg,
}

impl EvidenceArgs {
    /// Writes the folder.
    pub fn run(self) -> Result<RunOutcome> {
        let origin = origin(&self.origin)?;
        let within = || Some(self.report.join(evidence_of(&self.report)?));
        let evidence = self.requests_file.clone().or_else(within);
        self.check_files(evidence.as_ref())?;
        evidence.iter().try_for_each(|path| self.check_evidence(path))?;
        let (report, limits) = (std::slice::from_ref(&self.report), self.memory.limits());
        let damaged = |err| name_damaged(err, report, limits);
        let tally = merge_files(report, limits).map_err(damaged)?;
        let identities = tally.header.identities.clone();
        let audit = ReportModel::new(tally).map_err(damaged)?;
        let organisation = self.organisation.unwrap_or_else(|| origin.host().to_owned());
        let reporter = Reporter { organisation, contact: self.contact };
        let staging = Staging::open(&self.output)?;
        let (of, about) = ((&audit, &identities), (self.crawler.as_str(), &origin));
        let written = write_folder(&staging, of, about, &reporter, evidence.as_deref())?;
        staging.prepare()?;
        staging.commit()?;
        advise(&written, &reporter);
        let path = visible(self.output.display().to_string().as_bytes());
        let files = counted(written.files.len() as u64 + 1, "file");
        print(&format!("{path}: {files}; read letter.txt before you send it\n"))?;
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

    /// Checks that the output is new, and confines the process to the files of this run.
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
        confine(&outputs, TcpUse::None);
        Ok(())
    }
}

/// Says what the folder lacks, and why.
fn advise(written: &WrittenFolder, reporter: &Reporter) {
    if written.requests == 0 {
        note(
            "requests.csv has no requests; audit with --evidence FILE and add --requests-file FILE",
        );
    } else if !written.has_addresses {
        note("there is no xarf.json, because the requests have no addresses: audit with --ip full");
    } else if reporter.contact.is_none() {
        note("there is no xarf.json; it needs --contact EMAIL");
    }
}

fn email(text: &str) -> std::result::Result<String, String> {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-_".contains(&byte))
    };
    match text.split_once('@') {
        Some((name, host)) if is_plain(name) && is_plain(host) => Ok(text.to_owned()),
        _ => Err("write an address such as abuse@example.com".to_owned()),
    }
}
