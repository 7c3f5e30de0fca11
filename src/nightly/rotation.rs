//! Whether logs were rotated while they were read.
//!
//! A name is resolved twice: when the logs are listed and when they are opened. If it points to
//! another file in between, the lines of the first file are missing from the report. A log may grow
//! in between, because the new lines belong to a later day.

use std::fs::{self, Metadata};

use crate::input::source::{Location, Source};

/// The files behind the names of some sources at one time.
#[derive(Clone, Debug)]
pub(crate) struct LogFiles(Vec<Option<Metadata>>);

impl LogFiles {
    /// As they are now.
    pub(crate) fn of(sources: &[Source]) -> LogFiles {
        let metadata = |source: &Source| match &source.location {
            Location::File(path) => fs::metadata(path).ok(),
            _ => None,
        };
        LogFiles(sources.iter().map(metadata).collect())
    }

    /// Whether a name points to another file or to none since then, or a file was truncated. `now`
    /// has the same sources.
    pub(crate) fn is_rotated(&self, now: &LogFiles) -> bool {
        self.0.iter().zip(&now.0).any(|(before, now)| match (before, now) {
            (Some(before), Some(now)) => {
                is_other_file(before, now) || (now.is_file() && now.len() < before.len())
            }
            (Some(_), None) => true,
            (None, _) => false,
        })
    }
}

#[cfg(unix)]
fn is_other_file(before: &Metadata, now: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (before.dev(), before.ino()) != (now.dev(), now.ino())
}

#[cfg(not(unix))]
fn is_other_file(before: &Metadata, now: &Metadata) -> bool {
    before.created().ok() != now.created().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::input::source::expand;

    #[track_caller]
    fn check(change: fn(&Path), expected: bool) {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("access.log");
        fs::write(&log, "one\n").unwrap();
        let sources = expand(&[log.as_os_str().to_owned(), dir.path().join("gone").into()]);
        let before = LogFiles::of(&sources);
        change(&log);
        assert_eq!(before.is_rotated(&LogFiles::of(&sources)), expected);
    }

    #[test]
    fn a_log_may_grow_but_not_go() {
        check(|_| {}, false);
        check(|log| fs::write(log, "one\ntwo\n").unwrap(), false);
        check(|log| fs::write(log, "").unwrap(), true);
        check(|log| fs::remove_file(log).unwrap(), true);
        let rotate = |log: &Path| {
            fs::rename(log, log.with_extension("1")).unwrap();
            fs::write(log, "three\nfour\n").unwrap();
        };
        check(rotate, true);
    }
}
