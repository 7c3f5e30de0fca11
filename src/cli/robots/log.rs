//! `botaudit robots log`: the versions of one robots.txt.

use std::fmt::Write;

use clap::Args;

use crate::archive::versions::{RulesChange, Stretch, stretches};
use crate::error::Result;
use crate::report::escape::visible;

use super::super::exit_status::ExitStatus;
use super::super::shared::print;
use super::archive_arg::{ArchiveArg, named_origin, unknown};

/// Tell what an origin gave over time, and what changed between the versions; the newest first.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  botaudit robots log --archive robots.db https://example.com")]
pub struct LogArgs {
    /// The origin, as https://example.com.
    origin: String,

    #[command(flatten)]
    archive: ArchiveArg,
}

impl LogArgs {
    /// Prints a paragraph a version.
    pub fn run(self) -> Result<ExitStatus> {
        let origin = named_origin(&self.origin)?;
        let archive = self.archive.open()?;
        let entries = archive.history(&origin)?;
        if entries.is_empty() {
            return Err(unknown(&archive, &origin));
        }
        let stretches = stretches(&archive, &entries)?;
        let texts: Vec<String> = stretches.iter().rev().map(text).collect();
        print(&texts.join("\n"))?;
        Ok(ExitStatus::Done)
    }
}

fn text(stretch: &Stretch) -> String {
    let mut text = format!("{}  {}", stretch.first, stretch.outcome);
    if let Some(body) = stretch.body {
        write!(text, "  {} bytes  {}", body.size_bytes, body.digest).expect(INFALLIBLE);
    }
    text.push('\n');
    if let Some(RulesChange { added, removed, kept }) = stretch.rules {
        writeln!(text, "  rules   {added} added, {removed} removed, {kept} as before")
            .expect(INFALLIBLE);
    }
    if stretch.snapshots > 1 {
        writeln!(text, "  seen    {} times until {}", stretch.snapshots, stretch.last)
            .expect(INFALLIBLE);
    }
    writeln!(text, "  source  {}", visible(stretch.source.as_bytes())).expect(INFALLIBLE);
    text
}

const INFALLIBLE: &str = "writing to a string cannot fail";
