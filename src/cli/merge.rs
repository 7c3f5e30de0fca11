//! `botaudit merge`: merges tallies of parts of the logs into one tally.

use std::path::{Path, PathBuf};
use std::{fs::File, io::Read};

use clap::Args;

use crate::audit::collected_file::{is_collected, merge_collected};
use crate::audit::damaged_file::name_damaged;
use crate::audit::tally::merge::merge_files;
use crate::error::{Error, Result};
use crate::report::outputs::{OutputContent, Outputs};
use crate::run::notes::note_formats;
use crate::run::outcome::RunOutcome;
use crate::run::output::write_output;
use crate::run::sandbox::access_rights::TcpUse;
use crate::run::written::unwritten_report;
use crate::staged::{is_stdout, replace, replace_private};

use super::confinement::confine;
use super::console::console;
use super::help::short;
use super::progress::Show;
use super::shared::{ForceArg, MemoryArg, name_tallies, timed};
use super::summary_flags::SummaryFlags;

/// The bytes of a file that identify its kind.
const HEAD_BYTES: u64 = 64;

const HELP: &str = include_str!("help/merge.txt");

/// Merge tallies of several machines into one.
///
/// Tallies come from `audit --partial` or from reports. Files of `audit --collect` are merged, too, but
/// not with tallies.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "merge"), after_long_help = HELP)]
pub struct MergeArgs {
    /// Tallies, report directories, or files of `audit --collect`.
    #[arg(required = true, value_name = "TALLY")]
    tallies: Vec<PathBuf>,

    /// File to write; - is standard output.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,

    #[command(flatten)]
    summary: SummaryFlags,

    #[command(flatten)]
    memory: MemoryArg,

    #[command(flatten)]
    force: ForceArg,

    /// Print only warnings and errors.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl MergeArgs {
    /// Runs it.
    pub fn run(self) -> Result<RunOutcome> {
        let mut outputs = Outputs::new(self.force.overwrite());
        name_tallies(&self.tallies, &mut outputs);
        let limits = self.memory.limits();
        let show = Show::unless(self.quiet).beside_data(is_stdout(&self.output));
        let console = console(show);
        if self.are_collected()? {
            outputs.file("-o", &self.output, OutputContent::Collected)?;
            confine(&outputs, TcpUse::None);
            let merged = merge_collected(&self.tallies, limits.memory_bytes)?;
            write_output(&self.output, &merged.to_bytes(), replace_private, &*console)?;
        } else {
            outputs.file("-o", &self.output, OutputContent::Tally)?;
            confine(&outputs, TcpUse::None);
            let read = || merge_files(&self.tallies, limits);
            let damaged = |err| name_damaged(err, &self.tallies, limits);
            let tally = timed("tallies read", read).map_err(damaged)?;
            note_formats(&tally.header, &*console);
            let view = self.summary.view_of_tally(&tally, show.stream())?;
            let bytes = tally.to_bytes();
            let report = (!self.quiet).then(|| unwritten_report(tally, &view)).transpose();
            let report = report.map_err(damaged)?;
            write_output(&self.output, &bytes, replace, &*console)?;
            if let Some(report) = report {
                console.show(&report.summary)?;
            }
        }
        Ok(RunOutcome::Done)
    }

    /// Whether the files are results of first passes; otherwise they should be tallies.
    fn are_collected(&self) -> Result<bool> {
        let kinds = self.tallies.iter().map(|path| is_collected_file(path));
        let kinds: Vec<bool> = kinds.collect::<Result<_>>()?;
        let first = |is_collected| {
            let at = kinds.iter().position(|kind| *kind == is_collected)?;
            Some(self.tallies[at].display())
        };
        match (first(true), first(false)) {
            (Some(collected), Some(tally)) => Err(Error::usage(format!(
                "{collected} is a file of audit --collect, and {tally} is not; merge tallies \
                 with tallies, and files of --collect with each other"
            ))),
            (collected, _) => Ok(collected.is_some()),
        }
    }
}

/// Decided by the beginning of the file. An unreadable file fails when it is merged.
fn is_collected_file(path: &Path) -> Result<bool> {
    let mut head = Vec::new();
    if path.is_file() {
        let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
        read.map_err(|err| Error::io("cannot read", path, err))?;
    }
    Ok(is_collected(&head))
}
