//! Whether a log was understood: the share of parsed lines.
//!
//! Skipped lines do not count. There is no report on a log that was not understood, because it
//! would show no requests.

use crate::logs::{json::proposal::proposal, reject::Reject};
use crate::merge::sum;
use crate::numbers::counted;

use super::input_tally::{Input, RejectTally};
use super::tally::Tally;

/// Fewer rejected lines never fail a file: a short log may have an odd line.
const REJECTS_MIN: u64 = 5;

/// Files that one message describes.
const DESCRIBED_MAX: usize = 3;

/// Why the logs of `tally` were not understood, if so: less than `percent_min` percent of the lines
/// of a file, or no line of any file, was parsed.
pub fn not_understood(tally: &Tally, percent_min: f64) -> Option<String> {
    let inputs = tally.inputs();
    let is_low = |input: &&Input| is_low(input, percent_min);
    let mut low: Vec<&Input> = inputs.iter().filter(is_low).collect();
    if low.is_empty() && percent_min > 0.0 {
        let parsed: u64 = sum(inputs.iter().map(|input| input.tally.parsed_lines()));
        let is_rejected = |input: &&Input| parsed == 0 && input.tally.rejected_lines() > 0;
        low.extend(inputs.iter().filter(is_rejected));
    }
    let first = low.first()?;
    let mut text = String::new();
    for input in low.iter().take(DESCRIBED_MAX) {
        text.push_str(&described(input));
        text.push_str("; ");
    }
    if low.len() > DESCRIBED_MAX {
        text.push_str(&format!(
            "and {}; ",
            counted((low.len() - DESCRIBED_MAX) as u64, "more file")
        ));
    }
    let own_names = tally.header.options.get("json_fields");
    if let Some(proposal) = json_proposal(first).filter(|_| own_names.is_null()) {
        return Some(text + &proposal);
    }
    let percent = percent(first).floor();
    text.push_str(&format!(
        "the minimum is {percent_min} % (--min-parse-rate). To see why, run: botaudit formats \
         detect '{}'; to set the format, use --log-format; to accept the file, use \
         --min-parse-rate {percent}",
        first.summary.name
    ));
    Some(text)
}

/// Whether a file with these numbers of parsed and rejected lines was not understood.
pub fn falls_short(parsed: u64, rejected: u64, percent_min: f64) -> bool {
    rejected >= REJECTS_MIN && percent_of(parsed, rejected) < percent_min
}

fn is_low(input: &Input, percent_min: f64) -> bool {
    falls_short(input.tally.parsed_lines(), input.tally.rejected_lines(), percent_min)
}

fn percent(input: &Input) -> f64 {
    percent_of(input.tally.parsed_lines(), input.tally.rejected_lines())
}

fn percent_of(parsed: u64, rejected: u64) -> f64 {
    parsed as f64 * 100.0 / (parsed + rejected).max(1) as f64
}

fn described(input: &Input) -> String {
    let (parsed, rejected) = (input.tally.parsed_lines(), input.tally.rejected_lines());
    let tried = match &input.summary.format {
        Some(format) => format!("read as {}", format.name),
        None => "format not recognised".to_owned(),
    };
    let mut text = format!(
        "{}: {tried}: {parsed} of {} lines parsed ({:.1} %)",
        input.summary.name,
        parsed + rejected,
        percent(input)
    );
    let first = input.rejects().filter_map(first_line).min();
    if let Some((line, reason)) = first {
        text.push_str(&format!(", first unparsed line: {line} ({})", reason.as_str()));
    }
    text
}

/// A proposal for the keys of a JSON log that was not understood.
fn json_proposal(input: &Input) -> Option<String> {
    let samples = input.rejects().filter_map(|(_, rejects)| rejects.sample.as_ref());
    samples.min().and_then(|(_, line)| proposal(line))
}

fn first_line((reason, tally): (Reject, &RejectTally)) -> Option<(u64, Reject)> {
    tally.sample.as_ref().map(|&(line, _)| (line, reason))
}
