//! Imports the histories of all address lists in a git repository: each commit that changed one is a
//! version of the time of the commit.
//!
//! As for the history of a robots.txt, only first parents are followed, and git neither fetches nor
//! writes. Folders that a commit did not change are not read again.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::crawlers::range_files::LIST_BYTES_MAX;
use crate::error::{Error, Result};
use crate::time::UtcTime;

use super::git::{Commits, Objects, Trouble};
use super::lists::{ListImport, both, place_in};

/// The deepest folder that is read, and the most files and folders of one commit.
const DEPTH_MAX: usize = 16;
const ENTRIES_MAX: usize = 100_000;

/// The most commits that are read.
const COMMITS_MAX: usize = 1_000_000;

/// The history of a repository while it is read.
struct Walk<'a, 'b> {
    repository: &'a Path,
    import: &'a mut ListImport<'b>,
    objects: Objects,
    /// The last content of each file, and the last of each folder.
    seen: HashMap<Vec<u8>, String>,
    /// What the commit at hand still has of them.
    entries_left: usize,
    commit: String,
    time: UtcTime,
    /// The time of the version before of each list.
    before: HashMap<String, UtcTime>,
}

/// Imports the lists in the folder `path` of a repository, or the list in that file.
///
/// # Errors
/// If the archive cannot be written. Errors of git are problems.
pub(crate) fn import_git_lists(path: &Path, import: &mut ListImport<'_>) -> Result<()> {
    let (folder, file) = match path.is_dir() {
        true => (path, None),
        false => (path.parent().unwrap_or(path), path.file_name()),
    };
    let opened = import.read(Commits::open(path, folder, file, &["--reverse"]));
    let Some((mut commits, objects, prefix)) = opened else { return Ok(()) };
    let mut walk = Walk {
        repository: path,
        import,
        objects,
        seen: HashMap::new(),
        entries_left: 0,
        commit: String::new(),
        time: UtcTime::from_unix_seconds(0).expect("the epoch is a time"),
        before: HashMap::new(),
    };
    for _ in 0..COMMITS_MAX {
        let Some(Some(commit)) = walk.import.read(commits.next()) else { return Ok(()) };
        match walk.commit(&commit, &prefix) {
            Ok(()) => {}
            Err(Stop::Object(why)) => {
                (walk.import.problems)(commits.not_imported(&commit, &why));
            }
            Err(Stop::Git(err)) => {
                (walk.import.problems)(commits.cannot_ask(err));
                return Ok(());
            }
            Err(Stop::Archive(err)) => return Err(err),
        }
    }
    let why = format!("has more than {COMMITS_MAX} commits; the others are not imported");
    (walk.import.problems)(Error::invalid_file(path, why));
    Ok(())
}

/// Why a commit is not read to its end.
enum Stop {
    /// Something is wrong with it.
    Object(String),
    /// git does not answer.
    Git(std::io::Error),
    /// The archive cannot be written.
    Archive(Error),
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Stop {
        match trouble {
            Trouble::Object(why) => Stop::Object(why),
            Trouble::All(err) => Stop::Git(err),
        }
    }
}

impl Walk<'_, '_> {
    fn commit(&mut self, id: &str, prefix: &[u8]) -> std::result::Result<(), Stop> {
        let commit = self.objects.commit(id)?;
        (self.commit, self.time) = (id.to_owned(), commit.time);
        self.entries_left = ENTRIES_MAX;
        self.folder(&commit.tree, b"", prefix, DEPTH_MAX)
    }

    /// Imports what is new in a folder. `path` ends with a slash, unless it is empty; only what is on
    /// the way to `prefix` or below it counts.
    fn folder(
        &mut self,
        tree: &str,
        path: &[u8],
        prefix: &[u8],
        depth: usize,
    ) -> std::result::Result<(), Stop> {
        if self.seen.get(path).is_some_and(|known| known == tree) {
            return Ok(());
        }
        let entries = self.objects.entries(tree)?;
        let mut present: HashSet<Vec<u8>> = HashSet::new();
        for entry in entries {
            let of_file = [path, &entry.name].concat();
            let of_folder = [&of_file[..], b"/"].concat();
            let is_on_the_way = of_folder.starts_with(prefix) || prefix.starts_with(&of_folder);
            if entry.is_folder && depth > 0 && is_on_the_way {
                self.count(tree)?;
                self.folder(&entry.id, &of_folder, prefix, depth - 1)?;
                present.insert(of_folder);
            } else if entry.is_file && is_wanted(&of_file, prefix) {
                self.count(tree)?;
                if self.seen.get(&of_file) != Some(&entry.id) {
                    self.file(&of_file, &entry.id)?;
                    self.seen.insert(of_file.clone(), entry.id);
                }
                present.insert(of_file);
            }
        }
        // A file that is gone may come back as it was.
        self.seen.retain(|known, _| {
            let is_within = known.len() > path.len() && known.starts_with(path);
            let rest = known.get(path.len()..).unwrap_or_default();
            let end = memchr::memchr(b'/', rest).map_or(rest.len(), |at| at + 1);
            !is_within || present.contains(&known[..path.len() + end])
        });
        self.seen.insert(path.to_owned(), tree.to_owned());
        Ok(())
    }

    fn count(&mut self, tree: &str) -> std::result::Result<(), Stop> {
        let left = self.entries_left.checked_sub(1);
        let why = || Stop::Object(format!("directory {tree} has too many files and folders"));
        self.entries_left = left.ok_or_else(why)?;
        Ok(())
    }

    /// Imports a version of a file, if it is a list.
    fn file(&mut self, path: &[u8], id: &str) -> std::result::Result<(), Stop> {
        let name = String::from_utf8_lossy(path).into_owned();
        let url = self.import.url.or_else(|| self.import.names.url_of(Path::new(&name)));
        let Some(url) = url.map(str::to_owned) else {
            self.import.imported.others += 1;
            return Ok(());
        };
        let bytes_max = usize::try_from(LIST_BYTES_MAX).unwrap_or(usize::MAX);
        let text = self.objects.content(id, bytes_max)?;
        let place = place_in(self.repository, path, &self.commit);
        if text.len() >= bytes_max {
            let why = format!("larger than {} MiB", LIST_BYTES_MAX >> 20);
            (self.import.problems)(Error::invalid_file(&place, why));
            return Ok(());
        }
        let Some(created) = self.import.checked(&place, &text) else { return Ok(()) };
        // A time that an earlier version contradicts is not that of this one.
        let before = self.before.insert(url.clone(), self.time);
        let created = created.filter(|&created| {
            created <= self.time && before.is_none_or(|before| created > before)
        });
        let times = created.map_or_else(|| vec![self.time], |created| both(created, self.time));
        times.into_iter().try_for_each(|at| self.import.add(&url, &text, at)).map_err(Stop::Archive)
    }
}

/// Whether the file at `path` is the one that was named, or in that folder.
fn is_wanted(path: &[u8], prefix: &[u8]) -> bool {
    match prefix {
        [] | [.., b'/'] => path.starts_with(prefix),
        _ => path == prefix,
    }
}
