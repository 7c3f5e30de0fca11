//! The directories of a site's reports: `2026-11-20/`, the link `latest` to the last one and the page of the site beside
//! them; and a lock on them: one run at a time.
//!
//! The system holds the lock and drops it when the process ends, however it ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::visible_entries;
use crate::report::directory::remove_report;
use crate::report::html::nights::INDEX;
use crate::time::{Day, UtcTime};

/// The symbolic link to the report of the last day.
const LATEST: &str = "latest";

/// The directory of `day` below `reports`.
pub(crate) fn day_directory(reports: &Path, day: Day) -> PathBuf {
    reports.join(day.to_string())
}

/// Checks that a site may have its reports in `reports`: it lies below `all`, which is for reports,
/// or contains nothing but reports of days.
///
/// # Errors
/// If it contains anything else.
pub(crate) fn check_reports(reports: &Path, all: &Path) -> Result<()> {
    if reports.starts_with(all) && reports != all {
        return Ok(());
    }
    for entry in visible_entries(reports).unwrap_or_default() {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        if Day::parse(&name).is_none() && name != LATEST && name != INDEX {
            let why = format!(
                "contains files that are not reports of days, such as {}; use an empty \
                 directory, or one in {}, as output",
                name.escape_debug(),
                all.display()
            );
            return Err(Error::refused(reports, why));
        }
    }
    Ok(())
}

/// Points `latest` to the last day below `reports` up to `today`, atomically; does nothing if there
/// is none.
///
/// # Errors
/// If the link cannot be written.
pub(crate) fn point_to_latest(reports: &Path, today: Day) -> Result<()> {
    let cannot = |err| Error::io("cannot write", &reports.join(LATEST), err);
    let mut days = days(reports).map_err(cannot)?;
    days.retain(|day| *day <= today);
    let Some(last) = days.pop() else { return Ok(()) };
    let staged = reports.join(format!(".{LATEST}"));
    match fs::remove_file(&staged) {
        Err(err) if err.kind() != ErrorKind::NotFound => return Err(cannot(err)),
        _ => {}
    }
    symlink(&last.to_string(), &staged).map_err(cannot)?;
    let renamed = fs::rename(&staged, reports.join(LATEST));
    renamed.inspect_err(|_| drop(fs::remove_file(&staged))).map_err(cannot)
}

/// Removes the reports of days before `first_kept`. Directories that are not reports, or contain
/// other files, stay and are reported.
///
/// # Errors
/// If the directory cannot be listed.
pub(crate) fn tidy(reports: &Path, first_kept: Day) -> Result<Vec<String>> {
    let days = days(reports).map_err(|err| Error::io("cannot list", reports, err))?;
    let old = days.into_iter().filter(|&day| day < first_kept);
    let removed = old.map(|day| remove_report(&day_directory(reports, day)));
    Ok(removed.filter_map(|removed| removed.err().map(|err| err.to_string())).collect())
}

/// The days with reports below `reports`, in order.
pub(crate) fn days(reports: &Path) -> io::Result<Vec<Day>> {
    let mut days = Vec::new();
    for entry in fs::read_dir(reports)? {
        let entry = entry?;
        let name = entry.file_name();
        if let Some(day) = name.to_str().and_then(Day::parse)
            && entry.file_type()?.is_dir()
        {
            days.push(day);
        }
    }
    days.sort_unstable();
    Ok(days)
}

#[cfg(unix)]
fn symlink(target: &str, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn symlink(_: &str, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// The file that is locked, in the directory of a site's reports.
const LOCK: &str = ".lock";

/// The most bytes that are read of the holder of a lock.
const HOLDER_BYTES_MAX: u64 = 200;

/// The result of taking a lock.
#[derive(Debug)]
pub(crate) enum Locked {
    /// It is ours until the file is dropped.
    Ours(File),
    /// Another run holds it, with its description.
    Theirs(String),
}

/// Locks `directory`, which is created if it does not exist.
///
/// # Errors
/// If locking is not possible.
pub(crate) fn lock(directory: &Path, now: UtcTime) -> Result<Locked> {
    lock_by(&directory.join(LOCK), now)
}

/// Locks the file `path`, which is created if it does not exist.
///
/// # Errors
/// If locking is not possible.
pub(crate) fn lock_by(path: &Path, now: UtcTime) -> Result<Locked> {
    let cannot = |err| Error::io("cannot lock", path, err);
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(cannot)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(path).map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::Error(err)) => return Err(cannot(err)),
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // It may be writing just now.
            let _ = file.take(HOLDER_BYTES_MAX).read_to_string(&mut holder);
            let holder = match holder.trim() {
                "" => "another run",
                holder => holder,
            };
            return Ok(Locked::Theirs(format!("{} is locked by {holder}", path.display())));
        }
    }
    let holder = format!("process {} since {now}\n", std::process::id());
    let written = file
        .set_len(0)
        .and_then(|()| file.seek(SeekFrom::Start(0)))
        .and_then(|_| file.write_all(holder.as_bytes()));
    written.map_err(cannot)?;
    Ok(Locked::Ours(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(reports: &Path, day: &str) {
        let directory = reports.join(day);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("summary.csv"), "").unwrap();
        let marker = r#"{"program":"botaudit","files":["summary.csv"]}"#;
        fs::write(directory.join("run.json"), marker).unwrap();
    }

    #[test]
    fn latest_leads_to_the_last_day_whichever_was_made_last() {
        let dir = tempfile::tempdir().unwrap();
        let today = Day::parse("2026-11-21").unwrap();
        point_to_latest(dir.path(), today).unwrap();
        for day in ["2026-11-20", "2026-11-19", "2026-11-9x", "2027-01-01"] {
            report(dir.path(), day);
            point_to_latest(dir.path(), today).unwrap();
            let latest = fs::read_link(dir.path().join(LATEST)).unwrap();
            assert_eq!(latest, Path::new("2026-11-20"));
        }
    }

    #[test]
    fn a_directory_of_other_files_is_not_for_reports() {
        let dir = tempfile::tempdir().unwrap();
        let all = dir.path().join("reports");
        let (below, own) = (all.join("shop"), dir.path().join("own"));
        for reports in [&below, &own] {
            assert!(check_reports(reports, &all).is_ok());
            report(reports, "2026-11-20");
            fs::write(reports.join(LATEST), "").unwrap();
            assert!(check_reports(reports, &all).is_ok());
            fs::write(reports.join("photo.jpg"), "").unwrap();
        }
        assert!(check_reports(&below, &all).is_ok());
        for reports in [&own, dir.path()] {
            assert!(check_reports(reports, &all).is_err(), "{}", reports.display());
        }
    }

    #[test]
    fn old_reports_go_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        for day in ["2026-11-18", "2026-11-19", "2026-11-20"] {
            report(dir.path(), day);
        }
        fs::create_dir(dir.path().join("2026-11-01")).unwrap();
        fs::write(dir.path().join("2026-11-01/photo.jpg"), "").unwrap();
        fs::create_dir(dir.path().join("other")).unwrap();
        let stays = tidy(dir.path(), Day::parse("2026-11-20").unwrap()).unwrap();
        assert!(stays.len() == 1 && stays[0].contains("2026-11-01"), "{stays:?}");
        let mut left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["2026-11-01", "2026-11-20", "other"]);
    }

    #[test]
    fn the_second_run_learns_which_run_holds_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let reports = dir.path().join("a/b");
        let now = UtcTime::from_unix_seconds(0).unwrap();
        let Locked::Ours(first) = lock(&reports, now).unwrap() else { panic!("nobody was first") };
        let Locked::Theirs(who) = lock(&reports, now).unwrap() else { panic!("both have it") };
        let expected = format!("process {} since 1970-01-01T00:00:00Z", std::process::id());
        assert!(who.ends_with(&expected), "{who}");
        drop(first);
        assert!(matches!(lock(&reports, now).unwrap(), Locked::Ours(_)));
    }
}
