//! Errors in the robots.txt files of an audit.

use std::collections::HashSet;
use std::path::Path;

use crate::audit::{model::ReportModel, quotes::UsedRobots};
use crate::digest::Digest;
use crate::files::read_up_to;
use crate::lint::{catalogue::Severity, known_tokens::KnownTokens, lint};
use crate::report::escape::visible;

use super::{setup::Setup, shared::warn};

/// The most errors that are printed.
const SHOWN_MAX: usize = 5;

/// The most versions of robots.txt files that are checked.
const VERSIONS_MAX: usize = 100;

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Prints the errors that lint finds in the robots.txt files of `audit`.
pub fn warn_of_robots_errors(audit: &ReportModel, setup: &Setup) {
    let names = KnownTokens::new(&setup.registry);
    let dialect = setup.config.dialect.unwrap_or_default();
    let mut seen = HashSet::new();
    // Files that are not robots.txt have a warning of their own.
    let versions = audit.robots.iter().filter(|(_, used)| used.version.foreign.is_none());
    let versions = versions.filter(|(_, used)| seen.insert(used.version.digest));
    let mut errors = Vec::new();
    for (name, used) in versions.take(VERSIONS_MAX) {
        let findings = body(name, used).map(|body| lint(&body, &names, dialect));
        for found in findings.iter().flat_map(|findings| findings.kept()) {
            let lint = found.code.lint();
            if lint.severity == Severity::Error {
                let message = visible(&found.message);
                let text = format!("{name}:{}: {message} [{}]", found.line, lint.name);
                errors.push((name, text));
            }
        }
    }
    errors.iter().take(SHOWN_MAX).for_each(|(_, text)| warn(text));
    if let Some((name, _)) = errors.get(SHOWN_MAX) {
        let file = if Path::new(name).is_file() { name } else { "FILE" };
        let more = errors.len() - SHOWN_MAX;
        warn(&format!("{more} more robots.txt errors; botaudit lint {file} shows all"));
    }
}

/// The bytes of a version: the whole file `name` if it is unchanged, or the part that was kept.
fn body(name: &str, used: &UsedRobots) -> Option<Vec<u8>> {
    let path = Path::new(name);
    let file = path.is_file().then(|| read_up_to(path, FILE_BYTES_MAX).ok().flatten()).flatten();
    file.filter(|body| Digest::of(body) == used.version.digest)
        .or_else(|| used.text().map(|text| text.body.to_vec()))
}
