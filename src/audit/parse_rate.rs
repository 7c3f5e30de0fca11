//! Whether a log was understood: the share of parsed lines, and of the bytes in them; and a look at its beginning.
//!
//! Skipped lines do not count. There is no report on a log that was not understood, because it
//! would show no requests. Beside logs that were, one of which less than half was read is named
//! instead: it is as if it were damaged.

use std::{collections::BTreeMap, sync::Arc};

use crate::error::Result;
use crate::input::chunks::{Chunks, HEAD_BYTES_MAX};
use crate::input::source::{FileId, Source};
use crate::input::{lines::lines, open::open};
use crate::logs::detect::{Detection, detect};
use crate::logs::format::{Format, Hints};
use crate::logs::reject::{Reject, Skip};
use crate::logs::{LineContent, json::own_names::proposal, own_format, record::Scratch};
use crate::merge::sum;
use crate::numbers::{counted, grouped};

use super::input_tally::{Input, RejectTally, SAMPLE_BYTES_MAX};
use super::tally::Tally;

/// Fewer rejected lines never fail a file: a short log may have an odd line.
const REJECTS_MIN: u64 = 5;

/// Fewer unread bytes are an odd line, if a file has records.
const UNREAD_BYTES_MIN: u64 = 4 << 10;

/// Files that one message describes.
const DESCRIBED_MAX: usize = 3;

/// Why the logs of `tally` were not understood, if so: less than `percent_min` percent of the lines
/// of a file, or no line of any file, was parsed.
pub(crate) fn not_understood(tally: &Tally, percent_min: f64) -> Option<String> {
    let inputs = tally.inputs();
    let is_low = |input: &&Input| is_low(input, percent_min);
    let mut low: Vec<&Input> = inputs.iter().filter(is_low).collect();
    let is_unread = |input: &Input| UnreadLog::of(input, percent_min).is_some();
    if inputs
        .iter()
        .any(|input| input.tally.parsed_lines() > 0 && !is_low(&input) && !is_unread(input))
    {
        low.retain(|input| !is_unread(input));
    }
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
         detect '{}'; {}; to accept the file, use --min-parse-rate {percent}",
        first.summary.name,
        line_advice(first)
            .filter(|_| first.tally.parsed_lines() == 0)
            .unwrap_or_else(|| "to set the format, use --log-format".to_owned())
    ));
    Some(text)
}

/// Whether a file with these numbers of parsed and rejected lines was not understood.
pub(crate) fn falls_short(parsed: u64, rejected: u64, percent_min: f64) -> bool {
    rejected >= REJECTS_MIN && percent_of(parsed, rejected) < percent_min
}

/// Whether a file without records holds something else.
pub(crate) fn is_something_else(parsed: u64, unread_bytes: u64, percent_min: f64) -> bool {
    parsed == 0 && unread_bytes > UNREAD_BYTES_MIN && percent_min > 0.0
}

/// Logs of which more than half of the bytes are in no record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnreadLogs {
    /// Their names, as far as one names them.
    pub names: String,
    /// A sentence about them.
    pub message: String,
}

impl UnreadLogs {
    /// Those of `inputs`; `None` if there are none. A file of which `percent_min` percent were read
    /// is accepted.
    pub(crate) fn of(inputs: &[Input], percent_min: f64) -> Option<UnreadLogs> {
        let logs = inputs.iter().filter_map(|input| UnreadLog::of(input, percent_min));
        let logs: Vec<UnreadLog<'_>> = logs.collect();
        let first = logs.first()?;
        let mut names =
            logs.iter().take(DESCRIBED_MAX).map(|log| log.name).collect::<Vec<_>>().join(", ");
        if logs.len() > DESCRIBED_MAX {
            names += &format!(" (and {} more)", logs.len() - DESCRIBED_MAX);
        }
        let accepted = logs.iter().map(UnreadLog::percent_read).fold(100.0, f64::min).floor();
        let message = format!(
            "{names}: more than half of the bytes are in no line that could be parsed ({} of {} \
             in {name}); to see why, run: botaudit formats detect '{name}'; to set the format, use \
             --log-format; to accept this, use --min-parse-rate {accepted}",
            grouped(first.unread_bytes),
            grouped(first.bytes),
            name = first.name,
        );
        Some(UnreadLogs { names, message })
    }
}

struct UnreadLog<'a> {
    name: &'a str,
    unread_bytes: u64,
    bytes: u64,
}

impl<'a> UnreadLog<'a> {
    fn of(input: &'a Input, percent_min: f64) -> Option<UnreadLog<'a>> {
        let Input { summary, tally } = input;
        let unread_bytes = tally.unread_bytes.saturating_add(summary.cut_bytes);
        // Text in UTF-16 has another length on disk.
        let bytes = summary.sketch.as_ref().map_or(summary.decompressed_bytes, |text| text.bytes);
        let log = UnreadLog { name: &summary.name, unread_bytes, bytes: bytes.max(unread_bytes) };
        let records = [Skip::OutsideTime, Skip::Subrequest].map(|why| tally.skipped[why as usize]);
        let has_records = tally.parsed_lines() > 0 || records.iter().any(|lines| *lines > 0);
        let is_odd_line = has_records && unread_bytes <= UNREAD_BYTES_MIN;
        let is_unread = unread_bytes > log.bytes / 2 && log.percent_read() < percent_min;
        (is_unread && !is_odd_line).then_some(log)
    }

    fn percent_read(&self) -> f64 {
        (self.bytes - self.unread_bytes) as f64 * 100.0 / self.bytes.max(1) as f64
    }
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

/// What would have the first line read that was not understood.
fn line_advice(input: &Input) -> Option<String> {
    let samples = input.rejects().filter_map(|(_, rejects)| rejects.sample.as_ref());
    let (_, line) = samples.min()?;
    own_format::advice(line)
}

/// A proposal for the keys of a JSON log that was not understood.
fn json_proposal(input: &Input) -> Option<String> {
    let samples = input.rejects().filter_map(|(_, rejects)| rejects.sample.as_ref());
    let (_, line) = samples.min()?;
    let of_line = proposal(line)?;
    let more = match line.len() < SAMPLE_BYTES_MAX {
        true => String::new(),
        false => format!("; for all keys, run: botaudit formats detect '{}'", input.summary.name),
    };
    Some(format!("its JSON keys are {}; {}{more}", of_line.keys, of_line.advice()))
}

fn first_line((reason, tally): (Reject, &RejectTally)) -> Option<(u64, Reject)> {
    tally.sample.as_ref().map(|&(line, _)| (line, reason))
}

/// The most rejected lines that are shown.
const SHOWN_MAX: usize = 3;

/// The most bytes that are shown of each.
const SHOWN_BYTES_MAX: usize = 512;

/// The most bytes of the first rejected line that are kept.
const PROBED_BYTES_MAX: usize = 64 << 10;

/// The result of examining the beginning of a log.
#[derive(Debug)]
pub(crate) struct Probe {
    /// The detected format, with the reason.
    pub detection: Detection,
    /// The lines in the first `HEAD_BYTES_MAX` bytes.
    pub lines: u64,
    /// Parsed lines; each was parsed in full, as a crawler's line is. An audit does not parse the
    /// request of a line without a user agent, such as a TLS probe.
    pub records: u64,
    /// Those of them that name a host.
    pub records_with_host: u64,
    /// Skipped lines, by reason.
    pub skipped: BTreeMap<Skip, u64>,
    /// Rejected lines, by reason.
    pub rejected: BTreeMap<Reject, u64>,
    /// The first rejected lines: number, reason, beginning.
    pub shown: Vec<(u64, Reject, Box<[u8]>)>,
    /// The first of them, for its keys if it is JSON.
    pub sample: Option<Box<[u8]>>,
    /// The damage that ended the read, if any.
    pub damage: Option<String>,
}

/// Examines the beginning of `source`.
///
/// # Errors
/// If it cannot be opened.
pub(crate) fn examine(source: &Source, hints: &Hints) -> Result<Probe> {
    let opened = open(source, &Arc::default())?;
    let mut chunks = Chunks::of_log(FileId::from_index(0), opened, HEAD_BYTES_MAX);
    let head = chunks.head();
    let detection = detect(lines(head), hints);
    let mut examined = Probe {
        lines: 0,
        records: 0,
        records_with_host: 0,
        skipped: BTreeMap::new(),
        rejected: BTreeMap::new(),
        shown: Vec::new(),
        sample: None,
        damage: None,
        detection,
    };
    let format = examined.detection.format.clone().unwrap_or_else(Format::combined);
    let (mut reader, mut scratch) = (format.reader(), Scratch::default());
    let joined = format.pieces().map(|pieces| pieces.join_all(head.to_vec()));
    for line in lines(joined.as_deref().unwrap_or(head)) {
        examined.lines += 1;
        let read = match reader.line(line) {
            LineContent::Skip(reason) => {
                *examined.skipped.entry(reason).or_default() += 1;
                continue;
            }
            LineContent::Reject(reason) => Err(reason),
            LineContent::Fields(fields) => {
                let has_user_agent = fields.user_agent(&mut scratch) != b"-";
                let read = fields.record(&mut scratch).map(|record| record.host.is_some());
                read.or_else(|why| match why {
                    Reject::BadRequest if !has_user_agent => Ok(false),
                    why => Err(why),
                })
            }
        };
        match read {
            Ok(has_host) => {
                examined.records += 1;
                examined.records_with_host += u64::from(has_host);
            }
            Err(reason) => examined.reject(reason, line),
        }
    }
    examined.damage = chunks.ending().damage.map(|damage| damage.to_string());
    Ok(examined)
}

impl Probe {
    /// All rejected lines.
    pub(crate) fn rejected_lines(&self) -> u64 {
        self.rejected.values().sum()
    }

    fn reject(&mut self, reason: Reject, line: &[u8]) {
        *self.rejected.entry(reason).or_default() += 1;
        let sample = || line[..line.len().min(PROBED_BYTES_MAX)].into();
        self.sample.get_or_insert_with(sample);
        if self.shown.len() < SHOWN_MAX {
            let shown = line[..line.len().min(SHOWN_BYTES_MAX)].into();
            self.shown.push((self.lines, reason, shown));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::input_tally::InputTally;
    use crate::audit::tally::{counts::Counts, header::Header};
    use crate::input::source::expand;

    fn input(name: &str, bytes: u64, tally: InputTally) -> Input {
        let summary = serde_json::from_value(serde_json::json!({
            "name": name, "size_bytes": bytes, "decompressed_bytes": bytes, "format": null,
            "lines_tried": 1, "damage": null,
        }));
        Input { summary: summary.unwrap(), tally }
    }

    #[test]
    fn a_file_without_records_is_something_else_unless_it_is_small_or_accepted() {
        assert!(is_something_else(0, UNREAD_BYTES_MIN + 1, 0.1));
        assert!(!is_something_else(0, UNREAD_BYTES_MIN + 1, 0.0));
        assert!(!is_something_else(0, UNREAD_BYTES_MIN, 0.1));
        assert!(!is_something_else(1, UNREAD_BYTES_MIN + 1, 0.1));
    }

    /// Of each of the logs, a quarter was read.
    #[test]
    fn logs_that_were_read_in_part_are_named_with_what_accepts_them() {
        let log = |name: &str, unread_bytes| {
            input(name, 400_000, InputTally { other: 9, unread_bytes, ..InputTally::default() })
        };
        let names = ["a", "b", "c", "d", "e"];
        let of = |count: usize, percent_min| {
            let logs: Vec<Input> =
                names.iter().take(count).map(|name| log(name, 300_000)).collect();
            UnreadLogs::of(&logs, percent_min)
        };
        assert_eq!(of(3, 25.0), None, "this is accepted");
        let found = of(3, 25.1).unwrap();
        assert_eq!(found.names, "a, b, c");
        let expected = "a, b, c: more than half of the bytes are in no line that could be parsed \
                        (300,000 of 400,000 in a); to see why, run: botaudit formats detect 'a'; to \
                        set the format, use --log-format; to accept this, use --min-parse-rate 25";
        assert_eq!(found.message, expected);
        assert_eq!(of(5, 90.0).unwrap().names, "a, b, c (and 2 more)");
        assert_eq!(UnreadLogs::of(&[log("a", 200_000)], 90.0), None, "half was read");
        assert!(UnreadLogs::of(&[log("a", 200_001)], 90.0).is_some());
    }

    #[test]
    fn a_few_unread_bytes_beside_records_are_an_odd_line() {
        let is_named = |other, unread_bytes| {
            let tally = InputTally { other, unread_bytes, ..InputTally::default() };
            UnreadLog::of(&input("a", 5_000, tally), 90.0).is_some()
        };
        assert!(!is_named(1, UNREAD_BYTES_MIN) && is_named(1, UNREAD_BYTES_MIN + 1));
        assert!(is_named(0, UNREAD_BYTES_MIN));
    }

    #[test]
    fn the_first_line_that_was_not_understood_gives_the_format() {
        let mut tally = InputTally::default();
        tally.reject(Reject::BadTime, 7, b"what is no log");
        tally.reject(Reject::NoTime, 2, b"2025-04-17T05:10:56Z;192.0.2.7;GET;/form;302;5");
        let advice = line_advice(&input("a", 99, tally)).unwrap();
        let expected = "--log-format '$time_iso8601;$remote_addr;$request_method;$request_uri;$status;\
                        $body_bytes_sent' (replace";
        assert!(advice.contains(expected), "{advice}");
    }

    #[test]
    fn an_empty_log_is_none_that_was_understood() {
        let mut tally = InputTally { other: 1, ..InputTally::default() };
        (1..=99).for_each(|line| tally.reject(Reject::NoTime, line, &[b'x'; 99]));
        let inputs = [input("a", 9_900, tally), input("b", 0, InputTally::default())];
        let (summaries, tallies) =
            inputs.into_iter().map(|input| (input.summary, input.tally)).unzip();
        let counts = Counts { inputs: tallies, ..Counts::default() };
        let tally = Tally { header: Header::of_inputs(summaries), counts };
        assert!(not_understood(&tally, 50.0).is_some_and(|text| text.starts_with("a: ")));
    }

    fn examined(log: &str) -> Probe {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("access.log");
        std::fs::write(&path, log).unwrap();
        examine(&expand(&[path.into()])[0], &Hints::default()).unwrap()
    }

    /// An audit does not look at the request of a line without a user agent.
    #[test]
    fn a_request_that_cannot_be_read_matters_only_with_a_user_agent() {
        let line = |request: &str, user_agent: &str| {
            format!(
                "192.0.2.1 - - [01/Mar/2026:12:00:00 +0000] \"{request}\" 400 5 \"-\" \"{user_agent}\"\n"
            )
        };
        let log = line("GET / HTTP/1.1", "curl/8")
            + &line("\\x16\\x03\\x01", "-")
            + &line("\\x16\\x03\\x01", "curl/8");
        let probe = examined(&log);
        assert_eq!((probe.lines, probe.records, probe.rejected_lines()), (3, 2, 1));
        assert_eq!(probe.rejected, BTreeMap::from([(Reject::BadRequest, 1)]));
        assert_eq!(probe.shown.iter().map(|(line, ..)| *line).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn all_rejected_lines_are_counted_and_the_first_three_shown() {
        let record = "192.0.2.1 - - [01/Mar/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n";
        let probe = examined(&format!("{record}a\nb\n\nc\nd\ne\n{record}"));
        assert_eq!((probe.lines, probe.records, probe.rejected_lines()), (8, 2, 5));
        assert_eq!(probe.skipped.into_values().collect::<Vec<_>>(), [1]);
        let shown = |(line, _, text): &(u64, Reject, Box<[u8]>)| (*line, text[0]);
        let shown: Vec<_> = probe.shown.iter().map(shown).collect();
        assert_eq!(shown, [(2, b'a'), (3, b'b'), (5, b'c')]);
    }
}
