//! Notes on an audit: formats of logs and rules of origins with `--verbose`, logs that repeat others.

use crate::audit::origin_key::OriginKey;
use crate::audit::tally::{Tally, header::Header};
use crate::input::copies::Repeats;
use crate::judge::Judge;
use crate::measures::sums::Sums;
use crate::merge::sum;

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

/// With `--verbose`, names the robots.txt that applied to each origin.
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
}
