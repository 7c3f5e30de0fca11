//! A directory with one robots.txt for each origin, named by file name.
//!
//! `host`, `host.txt` and `host/robots.txt` apply to the host under any scheme on its default port;
//! `scheme_host_port.txt` applies to exactly that origin and takes precedence. The names are listed
//! once, so that no text of a log ever becomes a path.

use std::path::{Path, PathBuf};
use std::{collections::HashMap, fs::FileType, io};

use crate::error::{Error, Result};
use crate::files::visible_entries_and_kinds;
use crate::url::origin::{Origin, canonical_host, default_port};

use super::snapshot::read_body;

/// The schemes that a file name may begin with.
const SCHEMES: [&str; 3] = ["http", "https", "ftp"];

/// The index of a directory: names only; a file is read when it is needed.
#[derive(Debug, Default)]
pub struct Directory {
    exact: HashMap<Origin, PathBuf>,
    by_host: HashMap<String, PathBuf>,
    /// Entries whose name is not a host, in alphabetical order.
    pub ignored: Vec<PathBuf>,
}

impl Directory {
    /// Lists `path`. Hidden entries are skipped.
    ///
    /// # Errors
    /// If it cannot be listed, two different files apply to one origin, a name has a scheme but no
    /// port, or no file applies to any origin.
    pub(crate) fn open(path: &Path) -> Result<Directory> {
        let entries = visible_entries_and_kinds(path);
        let entries = entries.map_err(|err| Error::io("cannot list --robots", path, err))?;
        let mut directory = Directory::default();
        let faults: Vec<String> = entries
            .into_iter()
            .filter_map(|(path, kind)| directory.add(path, kind).err())
            .collect();
        if !faults.is_empty() {
            return Err(Error::input(faults.join("; ")));
        }
        if directory.exact.is_empty() && directory.by_host.is_empty() {
            let why = "contains no robots.txt; name the files example.com, example.com.txt, \
                       example.com/robots.txt or https_example.com_8443.txt";
            return Err(Error::invalid_file(path, why));
        }
        Ok(directory)
    }

    /// The file for `origin`.
    pub(crate) fn path_of(&self, origin: &Origin) -> Option<&Path> {
        let by_host = || match origin.port() {
            None => self.by_host.get(origin.host()),
            Some(_) => None,
        };
        self.exact.get(origin).or_else(by_host).map(PathBuf::as_path)
    }

    /// The files of all origins with the origin, or the host, that each is for; ordered by it.
    pub(crate) fn named_files(&self) -> Vec<(String, PathBuf)> {
        let exact = self.exact.iter().map(|(origin, path)| (origin.to_string(), path.clone()));
        let by_host = self.by_host.iter().map(|(host, path)| (host.clone(), path.clone()));
        let mut files: Vec<(String, PathBuf)> = exact.chain(by_host).collect();
        files.sort();
        files
    }

    /// The files of all origins, each with one of the origins that it is for: https, unless another
    /// file is for exactly that.
    pub(crate) fn files_by_origin(&self) -> Vec<(PathBuf, Origin)> {
        let exact = self.exact.iter().map(|(origin, path)| (path.clone(), origin.clone()));
        let by_host = self.by_host.iter().filter_map(|(host, path)| {
            let of = |scheme: &[u8]| Origin::new(scheme, host.as_bytes(), None);
            let https = of(b"https").filter(|https| !self.exact.contains_key(https));
            https.or_else(|| of(b"http")).map(|origin| (path.clone(), origin))
        });
        let by_host = by_host.filter(|(_, origin)| !self.exact.contains_key(origin));
        exact.chain(by_host).collect()
    }

    /// The files of all origins, unordered.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.exact.values().chain(self.by_host.values()).map(PathBuf::as_path)
    }

    fn add(&mut self, path: PathBuf, kind: Option<FileType>) -> std::result::Result<(), String> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            self.ignored.push(path);
            return Ok(());
        };
        let kind = match kind.filter(|kind| kind.is_file()) {
            Some(file) => Ok(file),
            None => path.metadata().map(|data| data.file_type()),
        };
        let is_dir = kind.as_ref().is_ok_and(FileType::is_dir);
        let stem = if is_dir { name } else { name.strip_suffix(".txt").unwrap_or(name) };
        let is_txt = !is_dir && stem.len() < name.len();
        if is_txt && let Some(origin) = exact_origin(stem) {
            let governed = origin.to_string();
            return only_one(self.exact.insert(origin, path.clone()), &path, &governed);
        }
        let file = if is_dir { path.join("robots.txt") } else { path.clone() };
        let is_file = match is_dir {
            true => is_file(&file, file.metadata().map(|data| data.file_type())),
            false => is_file(&file, kind),
        };
        if let Some(right) = with_port(stem).filter(|_| is_file) {
            return Err(format!("{} applies to no origin; rename it to {right}", path.display()));
        }
        match canonical_host(stem.as_bytes()) {
            Some(host) if looks_like_host(&host) && is_file => {
                only_one(self.by_host.insert(host.clone(), file.clone()), &file, &host)
            }
            _ => {
                self.ignored.push(path);
                Ok(())
            }
        }
    }
}

/// The robots.txt files in the directory `path`, by name: those for hosts, and `robots.txt` itself.
pub(crate) fn files_in(path: &Path) -> Vec<PathBuf> {
    let mut files = vec![path.join("robots.txt")];
    files.retain(|file| file.is_file());
    for (path, kind) in visible_entries_and_kinds(path).unwrap_or_default() {
        // Each entry alone, so that two files for one host are no error.
        let mut alone = Directory::default();
        let _ = alone.add(path, kind);
        files.extend(alone.files().map(Path::to_owned));
    }
    files.sort();
    files.dedup();
    files
}

/// Whether the path of this kind is a file, or something that gives an error when it is read.
fn is_file(path: &Path, kind: io::Result<FileType>) -> bool {
    let is_broken = |err: io::Error| err.kind() != io::ErrorKind::NotFound || path.is_symlink();
    kind.map_or_else(is_broken, |kind| kind.is_file())
}

/// `https_example.com_8443`: exactly that origin.
pub(super) fn exact_origin(name: &str) -> Option<Origin> {
    let (scheme, rest) = name.split_once('_')?;
    let (host, port) = rest.rsplit_once('_')?;
    if !SCHEMES.contains(&scheme) {
        return None;
    }
    Origin::new(scheme.as_bytes(), host.as_bytes(), Some(port.parse().ok()?))
}

/// Whether it is a name with a dot, an address, or `localhost`. `README`, `Makefile` and
/// `https_example.com` are not hosts.
pub(super) fn looks_like_host(host: &str) -> bool {
    (host.contains(['.', ':']) || host == "localhost") && with_port(host).is_none()
}

/// The correct name for `https_example.com`, which lacks a port, and for `https_example.com_443`
/// without `.txt`.
fn with_port(stem: &str) -> Option<String> {
    let (scheme, host) = stem.split_once('_').filter(|(scheme, _)| SCHEMES.contains(scheme))?;
    if exact_origin(stem).is_some() {
        return Some(format!("{stem}.txt"));
    }
    let port = default_port(scheme)?;
    Some(format!("{stem}_{port}.txt, or to {host}.txt for any scheme"))
}

/// Two files for the same `governed` must be equal.
fn only_one(
    earlier: Option<PathBuf>,
    path: &Path,
    governed: &str,
) -> std::result::Result<(), String> {
    let is_equal =
        |earlier: &Path| matches!((read_body(earlier), read_body(path)), (Ok(a), Ok(b)) if a == b);
    match earlier.filter(|earlier| !is_equal(earlier)) {
        None => Ok(()),
        Some(earlier) => Err(format!(
            "{} and {} differ, and both are for {governed}; remove one of them",
            earlier.display(),
            path.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn directory_of(names: &[&str]) -> (tempfile::TempDir, Result<Directory>) {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("# {}\n", path.display())).unwrap();
        }
        let directory = Directory::open(dir.path());
        (dir, directory)
    }

    #[track_caller]
    fn check(names: &[&str], url: &str, expected: Option<&str>) {
        let (dir, directory) = directory_of(names);
        let origin = Origin::parse(url.as_bytes()).unwrap();
        let directory = directory.unwrap();
        let found = directory.path_of(&origin).map(|path| path.strip_prefix(dir.path()).unwrap());
        assert_eq!(found, expected.map(Path::new), "{names:?} {url}");
    }

    #[test]
    fn a_host_governs_any_scheme_on_its_default_port() {
        for name in ["example.com", "example.com.txt", "example.com/robots.txt"] {
            check(&[name], "https://example.com/", Some(name));
            check(&[name], "http://EXAMPLE.com:80/", Some(name));
            check(&[name], "http://example.com:81/", None);
            check(&[name], "http://www.example.com/", None);
        }
        check(&["exämple.com.txt"], "http://xn--exmple-cua.com/", Some("exämple.com.txt"));
    }

    #[test]
    fn an_exact_origin_wins() {
        let names = ["example.com.txt", "https_example.com_443.txt", "http_example.com_8080.txt"];
        check(&names, "https://example.com/", Some("https_example.com_443.txt"));
        check(&names, "http://example.com/", Some("example.com.txt"));
        check(&names, "http://example.com:8080/", Some("http_example.com_8080.txt"));
    }

    #[test]
    fn other_names_are_skipped() {
        let (_dir, directory) = directory_of(&["README", "example.com", ".hidden.com"]);
        assert_eq!(directory.unwrap().ignored.len(), 1);
        let (_dir, directory) = directory_of(&["README"]);
        assert!(directory.unwrap_err().to_string().contains(
            "contains no robots.txt; name the \
             files example.com, example.com.txt, example.com/robots.txt or \
             https_example.com_8443.txt"
        ));
    }
}
