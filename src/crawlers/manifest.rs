//! `manifest.json` of a directory of range lists: which file holds which list, and of which times.
//!
//! `crawlers fetch-ranges` writes it. Without it, file names are derived from the URLs.

use crate::error::{Error, Result};
use crate::time::UtcTime;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Its name in the directory.
pub(crate) const MANIFEST: &str = "manifest.json";

/// Grows by one when a field changes its meaning or goes away.
const SCHEMA_VERSION: u32 = 1;

/// A list that was downloaded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ManifestEntry {
    /// The URL.
    pub url: String,
    /// Its file, in the directory itself.
    pub file: String,
    /// When.
    pub fetched_at: UtcTime,
    /// The size in bytes. A file of another size is truncated, or was changed.
    pub size_bytes: u64,
    /// When the list was the current one, in order; empty if that is not known.
    pub seen: Vec<UtcTime>,
    /// The crawlers whose pages named it; none for a list of the registry.
    pub crawlers: Vec<String>,
}

impl ManifestEntry {
    /// When the list was the current one, as far as that is known.
    pub(crate) fn times(&self) -> impl Iterator<Item = UtcTime> {
        let fetched_at = self.seen.is_empty().then_some(self.fetched_at);
        self.seen.iter().copied().chain(fetched_at)
    }

    /// The last of these times.
    pub(crate) fn last_seen(&self) -> Option<UtcTime> {
        self.times().last()
    }
}

#[derive(Deserialize, Serialize)]
struct WireManifest {
    schema_version: u32,
    lists: Vec<WireEntry>,
}

#[derive(Deserialize, Serialize)]
struct WireEntry {
    url: String,
    file: String,
    fetched_at_utc: String,
    size_bytes: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seen_utc: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    crawlers: Vec<String>,
}

/// Reads the text of a manifest; `path` is for errors.
///
/// # Errors
/// If it is not a manifest of botaudit, or names a file outside the directory.
pub fn read(path: &Path, text: &[u8]) -> Result<Vec<ManifestEntry>> {
    let wrong = |why: String| {
        Error::invalid_file(
            path,
            format!("{why}; delete this file, so that the lists are recognised by their names"),
        )
    };
    let manifest: WireManifest =
        serde_json::from_slice(text).map_err(|err| wrong(err.to_string()))?;
    if manifest.schema_version != SCHEMA_VERSION {
        let version = manifest.schema_version;
        return Err(wrong(format!(
            "schema_version is {version}, but this version reads \
                                  {SCHEMA_VERSION}"
        )));
    }
    let entry = |wire: WireEntry| {
        let WireEntry { url, file, fetched_at_utc, size_bytes, seen_utc, crawlers } = wire;
        if file.is_empty() || file == "." || file == ".." || file.contains(['/', '\\', '\0']) {
            return Err(wrong(format!("'{file}' is not a valid file name")));
        }
        let time = |text: &String| {
            let parsed: Timestamp = text.parse().map_err(|_| {
                wrong(format!("'{text}' is not a valid time such as 2026-03-01T00:00:00Z"))
            })?;
            Ok(UtcTime::from(parsed))
        };
        let fetched_at = time(&fetched_at_utc)?;
        let mut seen: Vec<UtcTime> = seen_utc.iter().map(time).collect::<Result<_>>()?;
        seen.sort_unstable();
        Ok(ManifestEntry { url, file, fetched_at, size_bytes, seen, crawlers })
    };
    manifest.lists.into_iter().map(entry).collect()
}

/// The text of a manifest.
pub fn write(entries: &[ManifestEntry]) -> String {
    let wire = |entry: &ManifestEntry| WireEntry {
        url: entry.url.clone(),
        file: entry.file.clone(),
        fetched_at_utc: entry.fetched_at.to_string(),
        size_bytes: entry.size_bytes,
        seen_utc: entry.seen.iter().map(UtcTime::to_string).collect(),
        crawlers: entry.crawlers.clone(),
    };
    let manifest =
        WireManifest { schema_version: SCHEMA_VERSION, lists: entries.iter().map(wire).collect() };
    serde_json::to_string_pretty(&manifest).expect("strings and numbers are JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let entry = ManifestEntry {
            url: "https://example.com/x.json".to_owned(),
            file: "x.json".to_owned(),
            fetched_at: UtcTime::from_unix_seconds(1_772_323_200).unwrap(),
            size_bytes: 7,
            seen: [1_772_323_200, 1_772_409_600]
                .map(|at| UtcTime::from_unix_seconds(at).unwrap())
                .into(),
            crawlers: vec!["GPTBot".to_owned()],
        };
        let text = write(std::slice::from_ref(&entry));
        assert!(text.contains(r#""fetched_at_utc": "2026-03-01T00:00:00Z""#), "{text}");
        assert_eq!(read(Path::new(MANIFEST), text.as_bytes()).unwrap(), [entry]);
    }

    #[test]
    fn errors_say_what_to_do() {
        let good = r#"{"schema_version": 1, "lists": [{"url": "u", "file": "F", "fetched_at_utc": "T", "size_bytes": 1}]}"#;
        let time = "2026-03-01T00:00:00Z";
        for (text, expected) in [
            ("[", "manifest.json: EOF while parsing"),
            (
                r#"{"schema_version": 2, "lists": []}"#,
                "manifest.json: schema_version is 2, but this version reads 1",
            ),
            (
                &good.replace('F', "../x").replace('T', time),
                "manifest.json: '../x' is not a valid file name",
            ),
            (
                &good.replace('F', "x"),
                "manifest.json: 'T' is not a valid time such as 2026-03-01T00:00:00Z; delete \
                 this file",
            ),
        ] {
            let error = read(Path::new(MANIFEST), text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
