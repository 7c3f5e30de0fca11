//! A list of URLs to rows, with a robots.txt parsed once an origin.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// Who asks. No robots.txt names it, so that it follows `*`.
pub const ASKING: &str = "bench-of-peers";

/// Whether a path may be requested.
pub type Robot = Box<dyn Fn(&str) -> bool>;

/// Judges the URLs of `list`, each by the file `HOST.txt` of `robots`, which `parse` reads.
pub fn ask(robots: &Path, list: &Path, parse: impl Fn(&[u8]) -> Option<Robot>) -> io::Result<()> {
    let mut lines = BufReader::with_capacity(1 << 20, File::open(list)?);
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let mut cache: HashMap<String, Option<Robot>> = HashMap::new();
    let mut line = String::new();
    out.write_all(b"url,verdict\n")?;
    loop {
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            return out.flush();
        }
        let url = line.trim_end();
        let Some((_, rest)) = url.split_once("://") else { continue };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if !cache.contains_key(host) {
            let body = fs::read(robots.join(format!("{host}.txt")))?;
            cache.insert(host.to_owned(), parse(&body));
        }
        let verdict = match &cache[host] {
            None => "unknown",
            Some(robot) if robot(path) => "allowed",
            Some(_) => "disallowed",
        };
        out.write_all(url.as_bytes())?;
        out.write_all(b",")?;
        out.write_all(verdict.as_bytes())?;
        out.write_all(b"\n")?;
    }
}
