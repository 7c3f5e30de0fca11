//! `botaudit robots at`: shows the ruling in force at a time, and why.

use clap::Args;

use crate::archive::entry::HistoryEntry;
use crate::error::Result;
use crate::judge::history::History;
use crate::judge::timeline::{AllowAll, BeforeFirst, Ruling, RulingInForce};
use crate::report::age::age_text;
use crate::run::outcome::RunOutcome;
use crate::table::escape::visible;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::super::help::short;
use super::super::shared::print;
use super::archive_arg::{ArchiveArg, known_history, named_origin, named_time};
use super::show::described;

const HELP: &str = include_str!("../help/robots-at.txt");

/// Show what was in force at a time, and why.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots at"), after_long_help = HELP)]
pub struct AtArgs {
    /// Origin, such as https://example.com.
    origin: String,

    /// Time, such as 2025-01-31T12:00:00Z.
    time: String,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Answer "unknown" for times before the first snapshot.
    #[arg(long)]
    unknown_before_first_snapshot: bool,
}

impl AtArgs {
    /// Prints the ruling and its reason.
    pub fn run(self) -> Result<RunOutcome> {
        let origin = named_origin(&self.origin)?;
        let time = named_time(&self.time)?;
        let archive = self.archive.open()?;
        let entries = known_history(&archive, &origin)?;
        let before = match self.unknown_before_first_snapshot {
            true => BeforeFirst::Unknown,
            false => BeforeFirst::AsFirst,
        };
        let history = History::new(&entries);
        match history.timeline.at(time, before) {
            Some(in_force) => {
                // A ruling by damaged bytes is unknown.
                if let Ruling::Rules(version) = in_force.ruling {
                    archive.body(history.body(version))?;
                }
                print(&explained(&origin, time, &history, &entries, &in_force))?;
                Ok(RunOutcome::Done)
            }
            None => {
                let first = entries[0].fetch.fetched_at;
                print(&format!(
                    "{origin} at {time}\n  unknown: no snapshot at or before this time (the first is from {first})\n"
                ))?;
                Ok(RunOutcome::Undecided)
            }
        }
    }
}

fn explained(
    origin: &Origin,
    time: UtcTime,
    history: &History,
    entries: &[HistoryEntry],
    in_force: &RulingInForce,
) -> String {
    let decided_by = &entries[in_force.decided_by];
    let age = in_force.age_seconds.unwrap_or_default();
    let mut text = format!("{origin} at {time}\n");
    let mut line = |name: &str, words: &str| {
        text += &format!("  {name:<9} {}\n", visible(words.as_bytes()));
    };
    line("ruling", &ruling_text(in_force.ruling, history));
    line("snapshot", &described(decided_by));
    line("age", &age_text(age));
    if let Some(since) = in_force.unreachable_since {
        let days = (time.unix_seconds() - since.unix_seconds()) / 86_400;
        let what = match in_force.ruling {
            Ruling::Unreachable => "everything is disallowed for up to 30 days",
            _ => "after 30 days the last copy is in force again, if there is one",
        };
        line("failing", &format!("since {since}, {days} days: {what}"));
    }
    let mut seen = vec![in_force.ruling];
    for held in history.timeline.held(in_force, time) {
        if !seen.contains(&held) {
            line("held", &format!("crawlers may still use: {}", ruling_text(held, history)));
            seen.push(held);
        }
    }
    text
}

fn ruling_text(ruling: Ruling, history: &History) -> String {
    let text = match ruling {
        Ruling::Rules(version) => {
            let body = history.body(version);
            return format!("the rules of {} ({} bytes)", body.digest, body.size_bytes);
        }
        Ruling::AllowAll(AllowAll::NoFile) => "everything allowed: there is no robots.txt",
        Ruling::AllowAll(AllowAll::Redirects) => "everything allowed: too many redirects",
        Ruling::AllowAll(AllowAll::UnreachableWithoutCopy) => {
            "everything allowed: unreachable for more than 30 days, without an older copy"
        }
        Ruling::Unreachable => "unreachable: everything disallowed for now",
    };
    text.to_owned()
}
