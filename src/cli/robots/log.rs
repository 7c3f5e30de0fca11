//! `botaudit robots log`: the versions of one robots.txt.

use clap::Args;

use crate::archive::versions::{RulesChange, Stretch, stretches};
use crate::error::Result;
use crate::run::outcome::RunOutcome;
use crate::table::escape::visible;

use super::super::help::short;
use super::super::shared::print;
use super::archive_arg::{ArchiveArg, known_history, named_origin};

const HELP: &str = include_str!("../help/robots-log.txt");

/// List the snapshots of an origin and their changes, newest first.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots log"), after_long_help = HELP)]
pub struct LogArgs {
    /// Origin, such as https://example.com.
    origin: String,

    #[command(flatten)]
    archive: ArchiveArg,
}

impl LogArgs {
    /// Prints a paragraph for each version.
    pub fn run(self) -> Result<RunOutcome> {
        let origin = named_origin(&self.origin)?;
        let archive = self.archive.open()?;
        let entries = known_history(&archive, &origin)?;
        let stretches = stretches(&archive, &entries)?;
        let texts: Vec<String> = stretches.iter().rev().map(text).collect();
        print(&texts.join("\n"))?;
        Ok(RunOutcome::Done)
    }
}

fn text(stretch: &Stretch) -> String {
    let mut text = format!("{}  {}", stretch.first, stretch.outcome);
    if let Some(body) = stretch.body {
        text += &format!("  {} bytes  {}", body.size_bytes, body.digest);
    }
    text.push('\n');
    if let Some(RulesChange { added, removed, kept }) = stretch.rules {
        text += &format!("  rules   {added} added, {removed} removed, {kept} as before\n");
    }
    if stretch.snapshots > 1 {
        text += &format!("  seen    {} times until {}\n", stretch.snapshots, stretch.last);
    }
    text + &format!("  source  {}\n", visible(stretch.source.as_bytes()))
}
