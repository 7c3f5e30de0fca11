//! Notes on an audit: formats of logs and rules of origins with `--verbose`, logs that repeat others, and errors in its
//! robots.txt files.

use std::{collections::HashSet, path::Path};

use bytes::Bytes;

use crate::audit::tally::{Tally, header::Header};
use crate::audit::{model::ReportModel, origin_key::OriginKey, quotes::UsedRobots};
use crate::digest::Digest;
use crate::files::read_up_to;
use crate::input::copies::Repeats;
use crate::judge::Judge;
use crate::lint::line_errors;
use crate::measures::sums::Sums;
use crate::merge::sum;
use crate::robots::parse::cut;
use crate::table::escape::visible;

use super::console::Console;

/// The most origins whose rules are named.
const ORIGINS_MAX: usize = 100;

/// With `--verbose`, names the format of each log.
pub(crate) fn note_formats(header: &Header, console: &dyn Console) {
    let inputs = header.inputs.iter().filter(|_| console.is_verbose());
    for input in inputs {
        match &input.format {
            Some(format) => console.note(&format!("{}: format {}", input.name, format.name)),
            None => console.note(&format!(
                "{}: format not detected, because the file has no lines",
                input.name
            )),
        }
    }
}

/// Names the logs that repeat others, where no summary does.
pub(crate) fn note_repeats(repeats: &Repeats, console: &dyn Console) {
    repeats.notes().for_each(|text| console.note(&text));
    repeats.warnings().for_each(|text| console.warn(&text));
}

/// With `--verbose`, names the robots.txt that applied to each origin, and what was compiled.
pub(crate) fn note_rules(tally: &Tally, judge: &Judge, console: &dyn Console) {
    let origins = tally.counts.origins.iter().filter(|_| console.is_verbose());
    for of_origin in origins.clone().take(ORIGINS_MAX) {
        let sums: Sums = sum(of_origin.rows.iter().map(|(_, tally)| tally.total()));
        let source = match &of_origin.origin_key {
            OriginKey::Origin(origin) => judge.source(Some(origin)),
            _ => judge.source(None),
        };
        // A single file does not apply to foreign hosts; their requests are all unknown.
        let is_judged = sums.requests > sums.unknown + sums.no_path + sums.robots_txt_requests;
        let source = source.filter(|_| is_judged || !judge.has_single_file());
        let source = source.as_deref().unwrap_or("no robots.txt");
        console.note(&format!("{}: judged by {source}", of_origin.origin_key));
    }
    let more = origins.count().saturating_sub(ORIGINS_MAX);
    if more > 0 {
        console.note(&format!("{more} more origins; summary.csv names all"));
    }
    if console.is_verbose() {
        console.note(&judge.compiled_message());
    }
}

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
    if let Some((first, _)) = errors.get(SHOWN_MAX) {
        let more = errors.len() - SHOWN_MAX;
        // The files of an archive are not files of the user.
        let robots = audit.options.get("robots").as_str();
        let name = robots.filter(|path| Path::new(path).is_dir()).unwrap_or(first);
        console.warn(&format!("{more} more robots.txt errors; botaudit lint {name} shows all"));
    }
}

/// The file `name` as it was audited. A report keeps only those of which a rule was broken.
fn unchanged(name: &str, used: &UsedRobots) -> Option<Bytes> {
    let body = read_up_to(Path::new(name), FILE_BYTES_MAX).ok().flatten()?;
    (Digest::of(&body) == used.version.digest).then(|| body.into())
}
