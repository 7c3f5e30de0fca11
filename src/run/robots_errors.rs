//! Errors in the robots.txt files of an audit.

use std::{collections::HashSet, path::Path};

use bytes::Bytes;

use crate::audit::{model::ReportModel, quotes::UsedRobots};
use crate::digest::Digest;
use crate::files::read_up_to;
use crate::lint::line_errors;
use crate::robots::parse::cut;
use crate::table::escape::visible;

use super::console::Console;

/// The most errors that are printed.
const SHOWN_MAX: usize = 5;

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Prints the errors that lint finds in the lines of the robots.txt files of `audit`.
pub(crate) fn warn_of_robots_errors(audit: &ReportModel, console: &dyn Console) {
    let mut seen = HashSet::new();
    // Files that are not robots.txt have a warning of their own.
    let versions = audit.robots.iter().filter(|(_, used)| used.version.foreign.is_none());
    let versions = versions.filter(|(_, used)| seen.insert(used.version.digest));
    let mut errors = Vec::new();
    for (name, used) in versions {
        let body = used.text().map(|text| text.body.clone());
        let Some(body) = body.or_else(|| unchanged(name, used)) else { continue };
        for found in line_errors(cut(&body)).kept() {
            let message = visible(&found.message);
            errors.push((
                name,
                format!("{name}:{}: {message} [{}]", found.line, found.code.lint().name),
            ));
        }
    }
    errors.iter().take(SHOWN_MAX).for_each(|(_, text)| console.warn(text));
    if let Some((name, _)) = errors.get(SHOWN_MAX) {
        let more = errors.len() - SHOWN_MAX;
        console.warn(&format!("{more} more robots.txt errors; botaudit lint {name} shows all"));
    }
}

/// The file `name` as it was audited. A report keeps only those of which a rule was broken.
fn unchanged(name: &str, used: &UsedRobots) -> Option<Bytes> {
    let body = read_up_to(Path::new(name), FILE_BYTES_MAX).ok().flatten()?;
    (Digest::of(&body) == used.version.digest).then(|| body.into())
}
