//! `botaudit merge`: tallies of parts of the logs to one tally.

use std::path::PathBuf;

use clap::Args;

use crate::audit::tally::counter::TallyLimits;
use crate::audit::tally::merge::merge_files;
use crate::error::Result;
use crate::report::outputs::{OutputContent, Outputs};
use crate::staged::replace;

use super::Outcome;
use super::shared::ForceArg;

const EXAMPLES: &str = "\
Examples:
  Add up what several machines counted, and draw the report:
    botaudit merge part-*.tally -o all.tally
    botaudit report all.tally -o report/

  In a tree, where there are very many:
    botaudit merge part-0*.tally -o 0.tally
    botaudit merge part-1*.tally -o 1.tally
    botaudit merge 0.tally 1.tally -o all.tally

Tallies fit together if the same version of botaudit made them, with the same registry of crawlers
and the same options. An input that stands in two tallies is an error, unless the two are copies of
each other, which count once.

Exit codes:
  0 done   2 could not run, nothing written";

/// Add up tallies that `audit --partial` wrote; any order and grouping gives the same.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit merge --help")]
pub struct MergeArgs {
    /// Tallies, or directories of reports, which hold one each.
    #[arg(required = true, value_name = "TALLY")]
    tallies: Vec<PathBuf>,

    /// The file of the sum.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    #[command(flatten)]
    force: ForceArg,
}

impl MergeArgs {
    /// Runs it.
    pub fn run(self) -> Result<Outcome> {
        let mut outputs = Outputs::new(self.force.overwrite());
        for path in &self.tallies {
            match path.is_dir() {
                true => outputs.reads_files_of("a report", path, None),
                false => outputs.reads("a tally", path),
            }
        }
        outputs.file("-o", &self.output, OutputContent::Tally)?;
        let tally = merge_files(&self.tallies, TallyLimits::default())?;
        replace(&self.output, &tally.to_bytes())?;
        Ok(Outcome::Done)
    }
}
