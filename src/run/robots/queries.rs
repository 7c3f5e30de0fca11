//! What an archive knows about one origin, or about all. Bodies are shown unchanged for programs, escaped for people.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::archive::versions::{RulesChange, Stretch, stretches};
use crate::archive::{export::export, reader::Archive, snapshot::HistoryEntry};
use crate::error::Result;
use crate::judge::messages::age_text;
use crate::judge::timeline::{AllowAll, BeforeFirst, History, Ruling, RulingInForce};
use crate::numbers::counted;
use crate::report::{outputs::check_directory_name, unified_diff::unified_diff};
use crate::run::console::{Console, RunOutcome, SharedConsole, cannot_print, path_text};
use crate::table::escape::visible;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::named::{
    known_history, named_origin, named_time, newest, open_archive, open_archive_for,
};

/// An archive to ask. Its methods print the answers.
#[derive(Debug)]
pub(crate) struct ArchiveQuery {
    /// The archive.
    pub archive: PathBuf,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl ArchiveQuery {
    /// Prints all origins as they are read; `only_origins` leaves out what is known about them.
    ///
    /// # Errors
    /// If the archive cannot be read, or standard output cannot be written.
    pub(crate) fn list(&self, only_origins: bool) -> Result<RunOutcome> {
        let archive = self.open()?;
        let mut out = BufWriter::new(self.console.stdout()?);
        if !only_origins {
            let head = "snapshots  versions  first                 last                  outcome           origin\n";
            out.write_all(head.as_bytes()).map_err(cannot_print)?;
        }
        archive.each_origin(|summary| {
            let written = match only_origins {
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

    /// Prints the newest robots.txt of an origin, of those fetched until `at`.
    ///
    /// # Errors
    /// If a name is not valid, the archive has no such snapshot, or cannot be read.
    pub(crate) fn show(&self, origin: &str, at: Option<&str>) -> Result<RunOutcome> {
        let origin = named_origin(origin)?;
        let at = at.map(named_time).transpose()?;
        let archive = self.open()?;
        let entry = newest(&archive, &origin, at)?;
        self.console.say(&format!("{origin}, {}", described(&entry)));
        if let Some(key) = entry.body {
            print_body(&archive.body(key)?, &*self.console)?;
        }
        Ok(RunOutcome::Done)
    }

    /// Prints a paragraph for each version of the robots.txt of an origin, newest first.
    ///
    /// # Errors
    /// As [`ArchiveQuery::show`].
    pub(crate) fn log(&self, origin: &str) -> Result<RunOutcome> {
        let origin = named_origin(origin)?;
        let archive = self.open()?;
        let entries = known_history(&archive, &origin)?;
        let stretches = stretches(&archive, &entries)?;
        let texts: Vec<String> = stretches.iter().rev().map(stretch_text).collect();
        self.console.print(&texts.join("\n"))?;
        Ok(RunOutcome::Done)
    }

    /// Prints what changed between two times; nothing if nothing changed.
    ///
    /// # Errors
    /// As [`ArchiveQuery::show`].
    pub(crate) fn diff(&self, origin: &str, from: &str, to: Option<&str>) -> Result<RunOutcome> {
        let origin = named_origin(origin)?;
        let from = named_time(from)?;
        let to = to.map(named_time).transpose()?;
        let archive = self.open()?;
        let old = newest(&archive, &origin, Some(from))?;
        let new = newest(&archive, &origin, to)?;
        if old.fetch.outcome != new.fetch.outcome {
            self.console.note(&format!(
                "{origin} answered {} at {}, and {} at {}",
                old.fetch.outcome, old.fetch.fetched_at, new.fetch.outcome, new.fetch.fetched_at
            ));
        }
        print_body(&unified(&archive, &origin, &old, &new)?, &*self.console)?;
        Ok(RunOutcome::Done)
    }

    /// Prints the ruling that was in force at a time, and its reason.
    ///
    /// # Errors
    /// As [`ArchiveQuery::show`].
    pub(crate) fn at(&self, origin: &str, time: &str, before: BeforeFirst) -> Result<RunOutcome> {
        let origin = named_origin(origin)?;
        let time = named_time(time)?;
        let archive = self.open()?;
        let entries = known_history(&archive, &origin)?;
        let history = History::new(&entries);
        match history.timeline.at(time, before) {
            Some(in_force) => {
                // A ruling by damaged bytes is unknown.
                if let Ruling::Rules(version) = in_force.ruling {
                    archive.body(history.body(version))?;
                }
                self.console.print(&explained(&origin, time, &history, &entries, &in_force))?;
                Ok(RunOutcome::Done)
            }
            None => {
                let first = entries[0].fetch.fetched_at;
                self.console.print(&format!(
                    "{origin} at {time}\n  unknown: no snapshot at or before this time (the first is from {first})\n"
                ))?;
                Ok(RunOutcome::Undecided)
            }
        }
    }

    /// Writes all snapshots as files with a manifest to `directory`, which must be empty or not
    /// exist. The manifest gets its name when all files are written.
    ///
    /// # Errors
    /// If the archive cannot be read, or the directory cannot be written.
    pub(crate) fn export(&self, directory: &Path) -> Result<RunOutcome> {
        check_directory_name("DIRECTORY", directory)?;
        let archive = open_archive_for(directory, &self.archive, &*self.console)?;
        let snapshots = export(&archive, directory)?;
        let (written, place) = (counted(snapshots, "snapshot"), path_text(directory));
        self.console.show(&format!("{written} written to {place}\n"))?;
        Ok(RunOutcome::Done)
    }

    fn open(&self) -> Result<Archive> {
        open_archive(&self.archive, &*self.console)
    }
}

fn unified(
    archive: &Archive,
    origin: &Origin,
    old: &HistoryEntry,
    new: &HistoryEntry,
) -> Result<Vec<u8>> {
    if old.body == new.body {
        return Ok(Vec::new());
    }
    let body =
        |entry: &HistoryEntry| entry.body.map_or_else(|| Ok(Vec::new()), |key| archive.body(key));
    let (old_body, new_body) = (body(old)?, body(new)?);
    let name = |entry: &HistoryEntry| format!("{origin}/robots.txt\t{}", entry.fetch.fetched_at);
    Ok(unified_diff((&name(old), &old_body), (&name(new), &new_body)))
}

fn stretch_text(stretch: &Stretch) -> String {
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

/// A snapshot as one line.
pub(crate) fn described(entry: &HistoryEntry) -> String {
    let fetch = &entry.fetch;
    let mut text = format!("fetched {}: {}", fetch.fetched_at, fetch.outcome);
    for hop in &fetch.chain {
        text.push_str(&format!(", after {} to {}", hop.status, hop.location));
    }
    if let Some(seconds) = fetch.max_age_seconds {
        text.push_str(&format!(", max-age {seconds} s"));
    }
    if let Some(body) = entry.body {
        text.push_str(&format!(", {} bytes, {}", body.size_bytes, body.digest));
    }
    text.push_str(&format!(", from {}", entry.source));
    text
}

/// Writes `bytes` to standard output. On a terminal, control characters other than line ends are
/// escaped.
pub(crate) fn print_body(bytes: &[u8], console: &dyn Console) -> Result<()> {
    let mut stdout = console.stdout()?;
    let written = match stdout.is_terminal() {
        false => stdout.write_all(bytes),
        true => stdout.write_all(shown(bytes).as_bytes()),
    };
    written.map_err(cannot_print)
}

fn shown(bytes: &[u8]) -> String {
    let line = |line: &[u8]| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        line.split(|byte| *byte == b'\t').map(visible).collect::<Vec<_>>().join("\t")
    };
    let mut text = bytes.split(|byte| *byte == b'\n').map(line).collect::<Vec<_>>().join("\n");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_shown_text() {
        assert_eq!(shown(b"a\tb\r\n\x1b[2J\xff"), "a\tb\n\\x1B[2J\\xFF\n");
        assert_eq!(shown(b""), "");
        assert_eq!(shown(b"a\n"), "a\n");
    }
}
