//! `botaudit merge`: merges tallies of parts of the logs into one tally.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::run::{console::RunOutcome, merge::MergeRun};
use crate::staged::is_stdout;

use super::console::{Show, console};
use super::help::short;
use super::shared::{ForceArg, MemoryArg, SummaryFlags};

const HELP: &str = include_str!("help/merge.txt");

/// Merge tallies of several machines into one.
///
/// Tallies come from `audit --partial` or from reports. Files of `audit --collect` are merged, too, but
/// not with tallies.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "merge"), after_long_help = HELP)]
pub(crate) struct MergeArgs {
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
    /// Merges the files.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let show = Show::unless(self.quiet).beside_data(is_stdout(&self.output));
        let run = MergeRun {
            tallies: self.tallies,
            output: self.output,
            overwrite: self.force.overwrite(),
            limits: self.memory.limits(),
            view: self.summary.view(show.stream()),
            console: console(show),
        };
        run.run()
    }
}
