//! `botaudit robots import`: imports histories in other formats into an archive.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;

use crate::archive::import::files::{FetchedAt, import_directory, import_file};
use crate::archive::import::history_kind::{HistoryKind, kind_of};
use crate::archive::import::warc::{self, import_warc};
use crate::archive::import::{Import, ImportProgress, redirects};
use crate::archive::import::{git::import_git, manifest::import_manifest, warc_memory::WarcMemory};
use crate::archive::reader::Archive;
use crate::archive::writer::{Added, Writer};
use crate::error::{Error, Result};
use crate::url::origin::Origin;

use super::super::confinement::confine;
use super::super::help::short;
use super::super::progress::{Show, follow};
use super::super::shared::{error, note, warn};
use super::super::signals;
use super::archive_arg::{ArchiveArg, named_origin, named_time};
use crate::numbers::{counted, grouped};
use crate::run::outcome::RunOutcome;
use crate::run::sandbox::access_rights::TcpUse;

/// The most problems that are listed; the others are counted.
const PROBLEMS_SHOWN_MAX: usize = 20;

const HELP: &str = include_str!("../help/robots-import.txt");

/// Import robots.txt versions into an archive.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots import"), after_long_help = HELP)]
pub struct ImportArgs {
    /// Files or directories to import.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Origin of files that name none.
    #[arg(long, value_name = "URL", help_heading = "Input")]
    origin: Option<String>,

    /// Time of files without one; `modified` is that of the file system.
    #[arg(long, value_name = "TIME", help_heading = "Input")]
    at: Option<String>,

    /// Import each file's history from git (the current branch).
    #[arg(long, requires = "origin", help_heading = "Input")]
    git: bool,

    /// Print only problems.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl ImportArgs {
    /// Imports all paths; an error in one does not stop the others.
    pub fn run(self) -> Result<RunOutcome> {
        let origin = self.origin.as_deref().map(named_origin).transpose()?;
        let at = match self.at.as_deref() {
            None => FetchedAt::Unsaid,
            Some("modified") => FetchedAt::Modified,
            Some(time) => FetchedAt::At(named_time(time)?),
        };
        let files = self.archive.check(&self.paths)?;
        // git is a program of its own.
        if self.git {
            signals::handle();
        } else {
            confine(&files, TcpUse::None);
        }
        let kinds = self.kinds(origin.as_ref(), at)?;
        let mut writer = Archive::writer(&self.archive.path)?;
        let progress = ImportProgress::default();
        let mut problems = 0;
        let sizes =
            self.paths.iter().map(|path| path.metadata().ok().filter(|data| data.is_file()));
        let bytes_total = sizes.map(|data| data.map(|data| data.len())).sum::<Option<u64>>();
        let origins: Vec<Origin> = origin.into_iter().collect();
        let imported = follow(
            Show::unless(self.quiet),
            bytes_total.filter(|_| !self.git),
            || progress.bytes_read.load(Ordering::Relaxed),
            || counted(progress.snapshots.load(Ordering::Relaxed), "snapshot"),
            || {
                let mut import = Import {
                    writer: &mut writer,
                    progress: &progress,
                    problems: &mut |problem| {
                        problems += 1;
                        if problems <= PROBLEMS_SHOWN_MAX {
                            warn(&problem.to_string());
                        }
                    },
                };
                self.import(&kinds, &origins, at, &mut import)
            },
        );
        problems += usize::from(stopped(imported, &writer)?);
        self.report(&writer, problems)
    }

    /// The kind of each path. A path that cannot be imported at all is an error before anything is
    /// written.
    fn kinds(&self, origin: Option<&Origin>, at: FetchedAt) -> Result<Vec<Option<HistoryKind>>> {
        if self.git {
            return Ok(vec![None; self.paths.len()]);
        }
        let kind = |path: &PathBuf| {
            let kind = kind_of(path)?;
            match (kind, origin, at) {
                (HistoryKind::RobotsTxt, None, _) => {
                    Err(unsaid(path, "--origin https://example.com"))
                }
                (HistoryKind::RobotsTxt, _, FetchedAt::Unsaid) => {
                    Err(unsaid(path, "--at 2025-01-31T12:00:00Z, or --at modified"))
                }
                _ => Ok(Some(kind)),
            }
        };
        self.paths.iter().map(kind).collect()
    }

    fn import(
        &self,
        kinds: &[Option<HistoryKind>],
        origins: &[Origin],
        at: FetchedAt,
        import: &mut Import<'_>,
    ) -> Result<()> {
        let mut memory = WarcMemory::default();
        for (path, kind) in self.paths.iter().zip(kinds) {
            match kind {
                None => import_git(path, origins, import)?,
                Some(HistoryKind::RobotsTxt) => import_file(path, origins, at, import)?,
                Some(HistoryKind::Directory) => import_directory(path, at, import)?,
                Some(HistoryKind::Manifest) => import_manifest(path, import)?,
                Some(HistoryKind::Warc) => import_warc(path, &mut memory, import)?,
            }
        }
        warc::finish(&mut memory, import)?;
        import.writer.flush()?;
        redirects::follow(import.writer)
    }

    fn report(&self, writer: &Writer, problems: usize) -> Result<RunOutcome> {
        if problems > PROBLEMS_SHOWN_MAX {
            note(&format!(
                "{} not shown",
                counted((problems - PROBLEMS_SHOWN_MAX) as u64, "more problem")
            ));
        }
        let Added { snapshots, known, bodies } = writer.added();
        let printed = Show::unless(self.quiet).print(&format!(
            "{} added ({}); {} in the archive before\n",
            counted(snapshots, "snapshot"),
            counted(bodies, "new version"),
            grouped(known),
        ));
        let is_whole = problems == 0 && !stopped(printed, writer)?;
        Ok(if is_whole { RunOutcome::Done } else { RunOutcome::Incomplete })
    }
}

/// Whether `result` is an error. What was written before it stays in the archive, so the command has
/// not failed.
fn stopped(result: Result<()>, writer: &Writer) -> Result<bool> {
    match result {
        Err(err) if writer.added() != Added::default() && !err.is_broken_pipe() => {
            error(&err.to_string());
            Ok(true)
        }
        result => result.map(|()| false),
    }
}

fn unsaid(path: &Path, flag: &str) -> Error {
    Error::invalid_file(path, format!("looks like a robots.txt; add {flag}"))
}
