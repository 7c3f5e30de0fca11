//! Tallies of parts of the logs, merged into one.

use std::path::{Path, PathBuf};
use std::{fs::File, io::Read};

use crate::audit::collected_file::{is_collected, merge_collected};
use crate::audit::tally::counter::TallyLimits;
use crate::audit::tally::merge::{merge_files, name_damaged};
use crate::error::{Error, Result};
use crate::report::outputs::{OutputContent, Outputs, Overwrite};
use crate::report::summary_table::SummaryView;
use crate::staged::{replace, replace_private};

use super::console::{RunOutcome, SharedConsole};
use super::{crawlers::view_of_tally, files::name_tallies, notes::note_formats};
use super::{sandbox::access_rights::TcpUse, written::unwritten_report};

/// The bytes of a file that identify its kind.
const HEAD_BYTES: u64 = 64;

/// A merge that is ready to run.
#[derive(Debug)]
pub(crate) struct MergeRun {
    /// Tallies, report directories, or results of first passes.
    pub tallies: Vec<PathBuf>,
    /// The file to write; - is standard output.
    pub output: PathBuf,
    /// Which files may be replaced.
    pub overwrite: Overwrite,
    /// The memory that tallies may take.
    pub limits: TallyLimits,
    /// The display options of the summary.
    pub view: SummaryView,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl MergeRun {
    /// Runs it.
    ///
    /// # Errors
    /// If the files do not fit together, one is damaged, or the output cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let console = &*self.console;
        let mut outputs = Outputs::new(self.overwrite);
        name_tallies(&self.tallies, &mut outputs);
        if self.are_collected()? {
            outputs.file("-o", &self.output, OutputContent::Collected)?;
            console.begin_with(&outputs, TcpUse::None);
            let merged = merge_collected(&self.tallies, self.limits.memory_bytes)?;
            console.write(&self.output, &merged.to_bytes(), replace_private)?;
            return Ok(RunOutcome::Done);
        }
        outputs.file("-o", &self.output, OutputContent::Tally)?;
        console.begin_with(&outputs, TcpUse::None);
        let read = || merge_files(&self.tallies, self.limits);
        let damaged = |err| name_damaged(err, &self.tallies, self.limits);
        let tally = console.timed("tallies read", read).map_err(damaged)?;
        note_formats(&tally.header, console);
        let view = view_of_tally(self.view.clone(), &tally)?;
        let bytes = tally.to_bytes();
        let report = unwritten_report(tally, &view).map_err(damaged)?;
        console.write(&self.output, &bytes, replace)?;
        let outcome = report.outcome(console);
        console.show(&report.summary)?;
        Ok(outcome)
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
