//! A first configuration, from files in the usual places.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::input::source::{Location, expand, lasting_name};
use crate::logs::format::Hints;
use crate::table::escape::{has_hidden, visible};
use crate::url::origin::Origin;

use super::log_identity::LogHosts;

/// The usual paths of logs, each with a site name for logs with a general name.
pub(crate) const LOGS: [(&str, &str); 7] = [
    ("var/log/nginx/*access*log*", "nginx"),
    ("var/log/apache2/*access*log*", "apache"),
    ("var/log/httpd/*access*log*", "apache"),
    ("var/log/caddy/*.log*", "caddy"),
    ("var/log/lighttpd/*access*log*", "lighttpd"),
    ("usr/local/var/log/nginx/*access*log*", "nginx"),
    ("var/www/*/logs/*access*log*", "web"),
];

/// The usual paths of robots.txt files.
pub(crate) const ROBOTS: [&str; 7] = [
    "var/www/robots.txt",
    "var/www/*/robots.txt",
    "var/www/*/*/robots.txt",
    "srv/www/*/robots.txt",
    "srv/http/robots.txt",
    "usr/share/nginx/html/robots.txt",
    "usr/share/caddy/robots.txt",
];

/// Parts of the names of logs that are not the name of a site.
const NO_NAMES: [&str; 8] = ["access", "log", "json", "ssl", "other", "vhosts", "default", "logs"];

/// The files that were found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct DetectedFiles {
    /// The pattern of a log and its rotated files, by the name of a site.
    pub logs: BTreeMap<String, PathBuf>,
    /// Each robots.txt.
    pub robots: Vec<PathBuf>,
    /// The sites whose requests have no robots.txt until the user writes their origin: it is not
    /// known, the log names no host, and there is no single file for all requests.
    pub without_origin: BTreeSet<String>,
}

impl DetectedFiles {
    /// Searches the usual places below `root`.
    pub(crate) fn below(root: &Path) -> DetectedFiles {
        let mut found = DetectedFiles::default();
        let mut known = BTreeSet::new();
        for (pattern, server) in LOGS {
            for path in files(root, pattern) {
                let name = lasting_name(&path.to_string_lossy());
                if !name.contains("error") && known.insert(name.clone()) {
                    let path = PathBuf::from(name);
                    let site = found.free_name(&site_name(&path, server));
                    found.logs.insert(site, path);
                }
            }
        }
        let robots = ROBOTS.iter().flat_map(|pattern| files(root, pattern));
        found.robots = robots.collect::<BTreeSet<_>>().into_iter().collect();
        let needs_origin = |site: &&String| {
            !is_host(site) && found.robots_of(site).is_none() && names_no_host(&found.logs[*site])
        };
        found.without_origin = found.logs.keys().filter(needs_origin).cloned().collect();
        found
    }

    fn free_name(&self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|name| !self.logs.contains_key(name)).expect("there are numbers enough")
    }

    /// The robots.txt of a site: the one whose path contains its name, or the only one.
    fn robots_of(&self, site: &str) -> Option<&PathBuf> {
        let names = |path: &&PathBuf| path.iter().any(|part| part == site);
        let only = || self.robots.first().filter(|_| self.robots.len() == 1);
        self.robots.iter().find(names).or_else(only)
    }

    /// The configuration.
    pub(crate) fn config(&self) -> String {
        let mut text = HEAD.to_owned();
        for (site, log) in &self.logs {
            let pattern = quoted(&pattern_of(log));
            text += &format!("\n[sites.{}]\nlogs = [{pattern}]\n", key(site));
            text += &match self.robots_of(site) {
                Some(path) => format!("robots = {}\n", quoted(&path.display().to_string())),
                None => UNKNOWN_ROBOTS.to_owned(),
            };
            text += &match is_host(site) {
                true => format!("origin = \"https://{site}\"\n"),
                false if self.without_origin.contains(site) => NEEDED_ORIGIN.to_owned(),
                false => UNKNOWN_ORIGIN.to_owned(),
            };
        }
        let unused = self
            .robots
            .iter()
            .filter(|path| !self.logs.keys().any(|site| self.robots_of(site) == Some(path)));
        for path in unused {
            let path = visible(path.as_os_str().as_encoded_bytes());
            text += &format!("\n# Found, but not assigned to a site: {path}");
        }
        text.trim_end().to_owned() + "\n"
    }
}

/// The text before the sites, for the user to check.
const HEAD: &str = include_str!("init.toml");

const UNKNOWN_ROBOTS: &str = "\
# No robots.txt file was found for this site, so it is fetched, and its versions are kept.
# robots = \"/var/www/html/robots.txt\"
robots = \"robots.db\"
fetch = true
";

const UNKNOWN_ORIGIN: &str = "\
# The origin of requests, where the log names no host:
# origin = \"https://www.example.com\"
";

const NEEDED_ORIGIN: &str = "\
# The log names no host, so this line is needed, with the origin of its requests:
# origin = \"https://www.example.com\"
";

/// The pattern of the log at `path` and its rotated files.
fn pattern_of(path: &Path) -> String {
    glob::Pattern::escape(&path.to_string_lossy()) + "*"
}

/// Whether the log at `path` and its rotated files name no host, as far as their first lines show.
fn names_no_host(path: &Path) -> bool {
    let pattern = pattern_of(path);
    let hosts = LogHosts::of(&expand(&[OsString::from(pattern)]), &Hints::default());
    !hosts.unnamed.is_empty() && !hosts.is_any_named
}

fn files(root: &Path, pattern: &str) -> Vec<PathBuf> {
    let pattern = root.join(pattern);
    // A pattern without wildcards may name a missing file.
    let sources = expand(&[OsString::from(pattern)]);
    let path = sources.into_iter().filter_map(|source| match source.location {
        Location::File(path) => Some(path),
        Location::Stdin | Location::Nowhere(_) => None,
    });
    path.filter(|path| path.is_file()).collect()
}

/// `shop.example.com` of `shop.example.com-access.log`; `server` where nothing is left.
fn site_name(log: &Path, server: &str) -> String {
    let name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let words: Vec<&str> = name.split(|c: char| !is_of_name(c)).collect();
    let of_word = |word: &&str| {
        let parts: Vec<&str> = word.split('.').filter(|part| !NO_NAMES.contains(part)).collect();
        let name = parts.join(".");
        let mut name = name.trim_matches(['-', '.']);
        for no_name in NO_NAMES {
            name =
                name.strip_suffix(no_name).and_then(|name| name.strip_suffix('-')).unwrap_or(name);
        }
        (!name.is_empty() && !NO_NAMES.contains(&name)).then(|| name.to_owned())
    };
    words.iter().find_map(of_word).unwrap_or_else(|| server.to_owned())
}

fn is_host(name: &str) -> bool {
    name.contains('.') && Origin::parse(format!("https://{name}").as_bytes()).is_some()
}

/// A key of TOML: a name with dots is quoted.
fn key(name: &str) -> String {
    if name.contains('.') { quoted(name) } else { name.to_owned() }
}

/// A string of TOML on one line, without characters that a terminal or an editor acts on.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if has_hidden(character.encode_utf8(&mut [0; 4])) => {
                quoted += &format!("\\U{:08X}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_as_they_were() {
        for text in
            ["a", "", "a\"b\\n", "a\nb\r\t\u{1b}[2J\0\u{7f}", "\u{202e}\u{e9}\u{1f600}\u{e0041}"]
        {
            let line = format!("logs = {}", quoted(text));
            assert!(!has_hidden(&line), "{line}");
            let table: toml::Table = line.parse().unwrap();
            assert_eq!(table["logs"].as_str(), Some(text));
        }
    }

    #[test]
    fn logs_name_sites() {
        let check = |log: &str, expected: &str| {
            assert_eq!(site_name(Path::new(log), "server"), expected, "{log}");
        };
        check("/var/log/nginx/access.log", "server");
        check("/var/log/nginx/shop.access.log", "shop");
        check("/var/log/nginx/shop.example.com.access.log", "shop.example.com");
        check("/var/log/apache2/shop.example.com-access.log", "shop.example.com");
        check("/var/log/apache2/shop.example.com_ssl_access.log", "shop.example.com");
        check("/var/log/apache2/other_vhosts_access.log", "server");
        check("/var/log/httpd/ssl_access_log", "server");
        check("/var/log/httpd/access_log", "server");
        check("/var/log/nginx/access_json.log", "server");
    }
}
