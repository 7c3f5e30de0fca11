//! The versions of files, kept in an archive, because a disk has only the present one.
//!
//! Of each version, the first and the last sight are snapshots. If a file changed between two
//! sights, and its time of modification lies there, that is when the new version came; a second
//! before it is then the last sight of the old one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use jiff::Timestamp;

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::Store;
use super::reader::Archive;
use super::snapshot::{BodyKey, Fetch, HistoryEntry, SnapshotOutcome, read_body};
use super::writer::{Body, KEPT_BYTES_MAX, NewSnapshot, Writer};

/// The most versions of a file that are kept: the last ones.
const VERSIONS_MAX: usize = 100;

/// Under which origin the versions of a single file are kept, if the user names none.
const ANY_ORIGIN: &str = "https://any.invalid";

/// The versions of files.
#[derive(Debug)]
pub(crate) struct KeptFiles {
    archive: Archive,
    /// The origin of each file in the archive, by the name of the file.
    origins: HashMap<String, Origin>,
}

impl KeptFiles {
    /// Notes in the archive at `path` what the files of `store` are `now`, and forgets what was
    /// replaced before `first_kept`. Does nothing for a store with a history of its own. `named` is the
    /// origin of a single file. Returns the files that were seen for the first time, with the times of their last change.
    ///
    /// # Errors
    /// If the archive cannot be written.
    pub(crate) fn see(
        store: &Store,
        named: Option<&Origin>,
        path: &Path,
        now: UtcTime,
        first_kept: Option<UtcTime>,
    ) -> Result<Vec<(PathBuf, UtcTime)>> {
        let files = files(store, named);
        let mut first_seen = Vec::new();
        if files.is_empty() {
            return Ok(first_seen);
        }
        if let Some(parent) = path.parent() {
            let made = std::fs::create_dir_all(parent);
            made.map_err(|err| Error::io("cannot create", parent, err))?;
        }
        let mut writer = Writer::open(path)?;
        let archive = Archive::open(path)?;
        let mut removed = Vec::new();
        for (file, origin) in files {
            // Who judges by it says why it cannot be read.
            let Ok(mut body) = read_body(&file) else { continue };
            body.truncate(KEPT_BYTES_MAX);
            let digest = Digest::of(&body);
            let known = archive.history(&origin)?;
            let sight = Sight { digest, modified: modified(&file), now, first_kept };
            if known.is_empty() {
                first_seen.extend(sight.modified.map(|time| (file.clone(), time)));
            }
            let Change { added, removed: old } = sight.change(&known);
            for (seen, fetched_at) in &added {
                let body = match *seen == digest {
                    true => Body::Bytes(body.clone()),
                    false => Body::Known(*seen),
                };
                writer.push(snapshot(&origin, *fetched_at, &file, body))?;
            }
            let is_added = |time: &UtcTime| added.iter().any(|(_, at)| at == time);
            removed.extend(
                old.into_iter().filter(|time| !is_added(time)).map(|time| (origin.clone(), time)),
            );
        }
        writer.flush()?;
        writer.remove(&removed)?;
        Ok(first_seen)
    }

    /// The versions in the archive at `path` of the files of `store`; `None` for a store with a history
    /// of its own, and if there is no archive.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub(crate) fn open(
        store: &Store,
        named: Option<&Origin>,
        path: &Path,
    ) -> Result<Option<KeptFiles>> {
        let files = files(store, named);
        if files.is_empty() || !path.exists() {
            return Ok(None);
        }
        let archive = Archive::open(path)?;
        let origins = files.into_iter().map(|(file, origin)| (file.display().to_string(), origin));
        Ok(Some(KeptFiles { archive, origins: origins.collect() }))
    }

    /// The snapshots of the file with the name `source`, the earliest first.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub(crate) fn history(&self, source: &str) -> Result<Vec<HistoryEntry>> {
        self.origins.get(source).map_or(Ok(Vec::new()), |origin| self.archive.history(origin))
    }

    /// The bytes of a version.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub(crate) fn body(&self, key: BodyKey) -> Result<Bytes> {
        self.archive.body(key).map(Bytes::from)
    }
}

/// The files of `store`, each with its origin in the archive.
fn files(store: &Store, named: Option<&Origin>) -> Vec<(PathBuf, Origin)> {
    match store {
        // A pipe can be read only once.
        Store::File(path) if path.is_file() => {
            let any = || Origin::parse(ANY_ORIGIN.as_bytes());
            let origin = named.cloned().or_else(any);
            origin.map(|origin| (path.clone(), origin)).into_iter().collect()
        }
        Store::Directory(directory) => directory.files_by_origin(),
        Store::File(_) | Store::Archive(_) | Store::Memory(_) => Vec::new(),
    }
}

fn modified(file: &Path) -> Option<UtcTime> {
    let modified = file.metadata().and_then(|metadata| metadata.modified()).ok()?;
    Timestamp::try_from(modified).ok().map(UtcTime::from)
}

fn snapshot(origin: &Origin, fetched_at: UtcTime, file: &Path, body: Body) -> NewSnapshot {
    let outcome = SnapshotOutcome::Status(200);
    NewSnapshot {
        origin: origin.clone(),
        fetch: Fetch { fetched_at, outcome, max_age_seconds: None, chain: Vec::new() },
        source: file.display().to_string(),
        body,
    }
}

/// A sight of a file.
#[derive(Clone, Copy, Debug)]
struct Sight {
    digest: Digest,
    /// When the file says it was changed.
    modified: Option<UtcTime>,
    now: UtcTime,
    /// What was replaced before this time is forgotten.
    first_kept: Option<UtcTime>,
}

/// What a sight changes in an archive.
#[derive(Debug, Default, Eq, PartialEq)]
struct Change {
    added: Vec<(Digest, UtcTime)>,
    removed: Vec<UtcTime>,
}

impl Sight {
    /// What it changes in the `known` snapshots.
    fn change(&self, known: &[HistoryEntry]) -> Change {
        let Sight { digest, modified, now, first_kept } = *self;
        // The clock was wrong when those after it were seen.
        let (past, future) =
            known.split_at(known.partition_point(|entry| entry.fetch.fetched_at <= now));
        let times = |entries: &[HistoryEntry]| -> Vec<UtcTime> {
            entries.iter().map(|entry| entry.fetch.fetched_at).collect()
        };
        let mut change = Change { added: Vec::new(), removed: times(future) };
        let versions: Vec<&[HistoryEntry]> =
            past.chunk_by(|left, right| left.body == right.body).collect();
        for (at, version) in versions.iter().enumerate() {
            let replaced = versions.get(at + 1).map(|next| next[0].fetch.fetched_at);
            let is_old = replaced.zip(first_kept).is_some_and(|(at, first)| at < first);
            if is_old || at + VERSIONS_MAX < versions.len() {
                change.removed.extend(times(version));
            }
        }
        let last_version = versions.last().copied().and_then(|of| Some((of, of.last()?)));
        let Some((version, last)) = last_version else {
            let first = modified.filter(|modified| *modified < now).unwrap_or(now);
            change.added = vec![(digest, first), (digest, now)];
            return change;
        };
        let seen = last.fetch.fetched_at;
        let is_moved = version.len() > 1;
        match last.body.map(|body| body.digest) {
            Some(known) if known != digest => {
                match modified.filter(|modified| seen < *modified && *modified <= now) {
                    Some(modified) => {
                        let until = before(modified);
                        change.removed.extend((is_moved && until > seen).then_some(seen));
                        change.added = vec![(known, until), (digest, modified), (digest, now)];
                    }
                    None => change.added = vec![(digest, now.max(after(seen)))],
                }
            }
            _ => {
                change.removed.extend(is_moved.then_some(seen));
                change.added = vec![(digest, now)];
            }
        }
        change
    }
}

/// A second earlier.
fn before(time: UtcTime) -> UtcTime {
    UtcTime::from_unix_seconds(time.unix_seconds() - 1).unwrap_or(time)
}

/// A second later.
fn after(time: UtcTime) -> UtcTime {
    UtcTime::from_unix_seconds(time.unix_seconds() + 1).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: i64) -> UtcTime {
        UtcTime::from_unix_seconds(1_000_000 + seconds).unwrap()
    }

    /// A file that has `text` since `modified`, seen at each of `sights`; the texts and times that are kept.
    struct World {
        dir: tempfile::TempDir,
        first_kept: Option<UtcTime>,
    }

    impl World {
        fn new() -> World {
            World { dir: tempfile::tempdir().unwrap(), first_kept: None }
        }

        fn origin() -> Origin {
            Origin::parse(b"https://a.example").unwrap()
        }

        fn archive(&self) -> PathBuf {
            self.dir.path().join("robots/shop.db")
        }

        fn see(&self, text: &str, modified: i64, now: i64) -> &World {
            let path = self.dir.path().join("robots.txt");
            std::fs::write(&path, text).unwrap();
            let modified: std::time::SystemTime =
                Timestamp::from_second(time(modified).unix_seconds()).unwrap().into();
            let file = std::fs::File::options().append(true).open(&path).unwrap();
            file.set_modified(modified).unwrap();
            let store = Store::open(&path).unwrap();
            let (named, first_kept) = (World::origin(), self.first_kept);
            let archive = self.archive();
            KeptFiles::see(&store, Some(&named), &archive, time(now), first_kept).unwrap();
            self
        }

        fn kept(&self) -> Vec<(String, i64)> {
            let archive = Archive::open(&self.archive()).unwrap();
            let entries = archive.history(&World::origin()).unwrap();
            let kept = entries.iter().map(|entry| {
                let body = archive.body(entry.body.unwrap()).unwrap();
                let at = entry.fetch.fetched_at.unix_seconds() - 1_000_000;
                (String::from_utf8(body).unwrap(), at)
            });
            kept.collect()
        }

        #[track_caller]
        fn keeps(&self, expected: &[(&str, i64)]) -> &World {
            let expected: Vec<(String, i64)> =
                expected.iter().map(|(text, at)| ((*text).to_owned(), *at)).collect();
            assert_eq!(self.kept(), expected);
            self
        }
    }

    #[test]
    fn of_each_version_the_first_and_the_last_sight_are_kept() {
        let world = World::new();
        world.see("a", -50, 0).keeps(&[("a", -50), ("a", 0)]);
        world.see("a", -50, 100).keeps(&[("a", -50), ("a", 100)]);
        world.see("a", -50, 200).keeps(&[("a", -50), ("a", 200)]);
        // The file says when it was changed.
        world.see("b", 250, 300).keeps(&[("a", -50), ("a", 249), ("b", 250), ("b", 300)]);
        world.see("b", 250, 400);
        // It says nothing about the time between both sights.
        world.see("c", -70, 500);
        world.keeps(&[("a", -50), ("a", 249), ("b", 250), ("b", 400), ("c", 500)]);
        world.see("a", 900, 600).see("a", 650, 600);
        let kept = [("b", 250), ("b", 400), ("c", 500), ("a", 600)];
        world.keeps(&[&[("a", -50), ("a", 249)][..], &kept].concat());
    }

    #[test]
    fn two_versions_of_one_second_are_kept_and_sights_in_the_future_are_not() {
        let world = World::new();
        world.see("a", 0, 0).see("a", 0, 0).keeps(&[("a", 0)]);
        world.see("b", 0, 0).keeps(&[("a", 0), ("b", 1)]);
        world.see("b", 0, 1).keeps(&[("a", 0), ("b", 1)]);
        // The clock was wrong once.
        world.see("b", 0, 9_000).see("c", 0, 10).see("c", 0, 20);
        world.keeps(&[("a", 0), ("b", 1), ("c", 10), ("c", 20)]);
    }

    #[test]
    fn versions_that_were_replaced_long_ago_are_forgotten() {
        let mut world = World::new();
        for number in 0..150 {
            world.see(&number.to_string(), 0, 10 * number);
        }
        let kept = world.kept();
        assert_eq!((kept.len(), &*kept[0].0), (VERSIONS_MAX + 1, "49"));
        world.first_kept = Some(time(1_475));
        world.see("149", 0, 1_500).keeps(&[
            ("147", 1_470),
            ("148", 1_480),
            ("149", 1_490),
            ("149", 1_500),
        ]);
    }

    /// The file of a host is kept under https, unless another file is for exactly that.
    #[test]
    fn each_file_of_a_directory_has_an_origin() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.example.txt", "b.example.txt", "https_b.example_443.txt", "README"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        let mut files: Vec<(String, String)> = files(&Store::open(dir.path()).unwrap(), None)
            .into_iter()
            .map(|(file, origin)| {
                (origin.to_string(), file.file_name().unwrap().to_str().unwrap().to_owned())
            })
            .collect();
        files.sort();
        let expected = [
            ("http://b.example", "b.example.txt"),
            ("https://a.example", "a.example.txt"),
            ("https://b.example", "https_b.example_443.txt"),
        ];
        assert_eq!(files, expected.map(|(origin, file)| (origin.to_owned(), file.to_owned())));
    }
}
