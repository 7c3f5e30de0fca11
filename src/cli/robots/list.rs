//! `botaudit robots list`: the origins of an archive.

use std::io::{BufWriter, Write};

use clap::Args;

use crate::error::Result;
use crate::run::outcome::RunOutcome;
use crate::run::output::cannot_print;

use super::super::help::short;
use super::archive_arg::ArchiveArg;

const HELP: &str = include_str!("../help/robots-list.txt");

/// List the origins of an archive.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots list"), after_long_help = HELP)]
pub struct ListArgs {
    #[command(flatten)]
    archive: ArchiveArg,

    /// Print only origins.
    #[arg(short, long)]
    quiet: bool,
}

impl ListArgs {
    /// Prints origins as they are read.
    pub fn run(self) -> Result<RunOutcome> {
        let archive = self.archive.open()?;
        let mut out = BufWriter::new(std::io::stdout().lock());
        if !self.quiet {
            let head = "snapshots  versions  first                 last                  outcome           origin\n";
            out.write_all(head.as_bytes()).map_err(cannot_print)?;
        }
        archive.each_origin(|summary| {
            let written = match self.quiet {
                true => writeln!(out, "{}", summary.origin),
                false => writeln!(
                    out,
                    "{:>9}  {:>8}  {:<20}  {:<20}  {:<16}  {}",
                    summary.snapshots,
                    summary.bodies,
                    summary.first.to_string(),
                    summary.last.to_string(),
                    summary.outcome.to_string(),
                    summary.origin
                ),
            };
            written.map_err(cannot_print)
        })?;
        out.flush().map_err(cannot_print)?;
        Ok(RunOutcome::Done)
    }
}
