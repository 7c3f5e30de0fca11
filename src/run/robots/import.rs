//! Imports of histories in other formats into an archive.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::archive::import::files::{
    FetchedAt, HistoryKind, import_directory, import_file, kind_of,
};
use crate::archive::import::warc::{self, import_warc};
use crate::archive::import::warc_memory::{self, WarcMemory};
use crate::archive::import::{Import, ImportProgress, git::import_git, manifest::import_manifest};
use crate::archive::reader::Archive;
use crate::archive::writer::{Added, Writer};
use crate::error::{Error, Result};
use crate::numbers::counted;
use crate::run::console::{Access, Console, RunOutcome, SharedConsole, Watched};
use crate::run::sandbox::access_rights::TcpUse;
use crate::url::origin::Origin;

use super::named::{check_archive, named_origin, named_time};

/// The most problems that are listed; the others are counted.
const PROBLEMS_SHOWN_MAX: usize = 20;

/// An import that is ready to run.
#[derive(Debug)]
pub(crate) struct ImportRun {
    /// Files or directories to import.
    pub paths: Vec<PathBuf>,
    /// The archive; it is created if it does not exist.
    pub archive: PathBuf,
    /// The origin of files that name none.
    pub origin: Option<String>,
    /// The time of files without one, or `modified`.
    pub at: Option<String>,
    /// Whether the history of each file is taken from git.
    pub is_git: bool,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl ImportRun {
    /// Imports all paths; an error in one does not stop the others.
    ///
    /// # Errors
    /// If a setting is not valid, or nothing could be imported.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let origin = self.origin.as_deref().map(named_origin).transpose()?;
        let at = match self.at.as_deref() {
            None => FetchedAt::Unsaid,
            Some("modified") => FetchedAt::Modified,
            Some(time) => FetchedAt::At(named_time(time)?),
        };
        let files = check_archive(&self.archive, &self.paths)?;
        // git is a program of its own.
        if self.is_git {
            self.console.begin(Access::Any);
        } else {
            self.console.begin_with(&files, TcpUse::None);
        }
        let kinds = self.kinds(origin.as_ref(), at)?;
        let mut writer = Archive::writer(&self.archive)?;
        let progress = ImportProgress::default();
        let mut problems = 0;
        let sizes =
            self.paths.iter().map(|path| path.metadata().ok().filter(|data| data.is_file()));
        let bytes_total = sizes.map(|data| data.map(|data| data.len())).sum::<Option<u64>>();
        let origins: Vec<Origin> = origin.into_iter().collect();
        let watched = Watched::Bytes {
            total: bytes_total.filter(|_| !self.is_git),
            done: &|| progress.bytes_read.load(Ordering::Relaxed),
            text: &|| counted(progress.snapshots.load(Ordering::Relaxed), "snapshot"),
        };
        let imported = self.console.follow(&watched, || {
            let mut import = Import {
                writer: &mut writer,
                progress: &progress,
                problems: &mut |problem| {
                    problems += 1;
                    if problems <= PROBLEMS_SHOWN_MAX {
                        self.console.warn(&problem.to_string());
                    }
                },
            };
            self.import(&kinds, &origins, at, &mut import)
        });
        problems += usize::from(stopped(imported, &writer, &*self.console)?);
        self.report(&writer, problems)
    }

    /// The kind of each path. A path that cannot be imported at all is an error before anything is
    /// written.
    fn kinds(&self, origin: Option<&Origin>, at: FetchedAt) -> Result<Vec<Option<HistoryKind>>> {
        if self.is_git {
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
        warc_memory::follow(import.writer)
    }

    fn report(&self, writer: &Writer, problems: usize) -> Result<RunOutcome> {
        if problems > PROBLEMS_SHOWN_MAX {
            self.console.note(&format!(
                "{} not shown",
                counted((problems - PROBLEMS_SHOWN_MAX) as u64, "more problem")
            ));
        }
        let Added { snapshots, known, bodies } = writer.added();
        let printed = self.console.show(&format!(
            "{} added ({}); {} skipped\n",
            counted(snapshots, "snapshot"),
            counted(bodies, "new version"),
            counted(known, "duplicate"),
        ));
        let is_whole = problems == 0 && !stopped(printed, writer, &*self.console)?;
        Ok(if is_whole { RunOutcome::Done } else { RunOutcome::Incomplete })
    }
}

/// Whether `result` is an error. What was written before it stays in the archive, so the command has
/// not failed.
fn stopped(result: Result<()>, writer: &Writer, console: &dyn Console) -> Result<bool> {
    match result {
        Err(err) if writer.added() != Added::default() && !err.is_broken_pipe() => {
            console.error(&err.to_string());
            Ok(true)
        }
        result => result.map(|()| false),
    }
}

fn unsaid(path: &Path, flag: &str) -> Error {
    Error::invalid_file(path, format!("looks like a robots.txt; add {flag}"))
}
