//! Whether a log was understood: the share of parsed lines, and of the bytes in them.
//!
//! Skipped lines do not count. The share is taken of all lines, of the lines of crawlers, and of a sample of the
//! others: most of these are read only up to the user agent, so that they say nothing about other fields. A log that
//! was not understood is named as if it were damaged, because what was not read may have had violations.

use memchr::memchr;

use crate::logs::reject::{Reject, Skip};
use crate::logs::time::{NUMERIC_TIME_BYTES, numeric_date};
use crate::logs::{json::own_names::proposal, own_format};
use crate::merge::sum;
use crate::numbers::{counted, grouped};

use super::input_tally::{Input, InputTally};
use super::reject_tally::{RejectTally, Rejects, SAMPLE_BYTES_MAX};
use super::tally::header::FormatUsed;

/// Fewer rejected lines are odd lines, if other lines of the log could be read.
const REJECTS_MIN: u64 = 5;

/// Fewer unread bytes are an odd line, if a file has records.
const UNREAD_BYTES_MIN: u64 = 4 << 10;

/// Files that one message describes.
const DESCRIBED_MAX: usize = 3;

/// Of which lines a rate is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RateOf {
    /// All.
    Lines,
    /// Those with the user agent of a crawler.
    Crawlers,
    /// The others that were read in full.
    Sample,
}

/// A share of lines that could be read.
#[derive(Clone, Copy, Debug)]
struct ParseRate<'a> {
    of: RateOf,
    read: u64,
    unread: u64,
    rejects: &'a Rejects,
}

impl<'a> ParseRate<'a> {
    /// The rates of a log, of which the lowest counts.
    fn all(tally: &'a InputTally) -> [ParseRate<'a>; 3] {
        let InputTally { rejected: rejects, sample, .. } = tally;
        let crawlers = sum(rejects.iter().map(|reject| reject.crawlers));
        let rate = |of, read, unread, rejects| ParseRate { of, read, unread, rejects };
        [
            rate(RateOf::Lines, tally.parsed_lines(), tally.rejected_lines(), rejects),
            rate(RateOf::Crawlers, tally.crawler, crawlers, rejects),
            rate(RateOf::Sample, sample.read, sample.unread, &sample.rejected),
        ]
    }

    /// The lowest rate, if it is below the minimum; `is_any_read` says whether lines of the log are known that could be
    /// read.
    fn too_low(
        tally: &'a InputTally,
        is_any_read: bool,
        percent_min: f64,
    ) -> Option<ParseRate<'a>> {
        let is_any_read = is_any_read || tally.crawler > 0 || tally.sample.read > 0;
        let is_low = |rate: &ParseRate<'_>| {
            let is_odd_line = is_any_read && rate.unread_lines() < REJECTS_MIN;
            rate.unread > 0 && rate.percent() < percent_min && !is_odd_line
        };
        let low = ParseRate::all(tally).into_iter().filter(is_low);
        low.min_by(|left, right| left.percent().total_cmp(&right.percent()))
    }

    fn percent(&self) -> f64 {
        self.read as f64 * 100.0 / self.read.saturating_add(self.unread).max(1) as f64
    }

    /// The lines that could not be read, each once.
    fn unread_lines(&self) -> u64 {
        match self.of {
            RateOf::Lines | RateOf::Crawlers => self.unread,
            RateOf::Sample => sum(self.rejects.iter().map(|reject| reject.lines)),
        }
    }

    /// The first line that could not be read.
    fn first(&self) -> Option<(u64, Reject, &'a [u8])> {
        let is_meant = |reject: &RejectTally| match self.of {
            RateOf::Lines | RateOf::Sample => reject.lines > 0,
            RateOf::Crawlers => reject.crawlers > 0,
        };
        let rejects = Reject::ALL.into_iter().zip(self.rejects);
        let meant = rejects.filter(|(_, reject)| is_meant(reject));
        let first = meant.filter_map(|(reason, reject)| {
            let (line, text) = reject.sample.as_ref()?;
            Some((*line, reason, &text[..]))
        });
        first.min()
    }

    /// The rate in words, with the first line that could not be read.
    fn described(&self) -> String {
        let lines = self.read.saturating_add(self.unread);
        let (read, percent) = (grouped(self.read), self.percent());
        let mut text = match self.of {
            RateOf::Lines => {
                format!("{read} of {} parsed ({percent:.1} %)", counted(lines, "line"))
            }
            RateOf::Crawlers => {
                format!("{read} of {} of crawlers parsed ({percent:.1} %)", counted(lines, "line"))
            }
            RateOf::Sample => format!(
                "{percent:.1} % of the lines that are not of crawlers parsed, by a sample that was \
                 read in full"
            ),
        };
        if let Some((line, reason, _)) = self.first() {
            text += &format!(", first unparsed line: {line} ({})", reason.as_str());
        }
        text
    }
}

/// The first line whose time is not valid, if it is a date in digits in another order than the file has: a file with
/// both orders has days that nobody knows.
fn in_other_order(tally: &InputTally) -> Option<u64> {
    let rejects = [&tally.rejected, &tally.sample.rejected];
    let samples = rejects.into_iter().filter_map(|of| of[Reject::BadTime as usize].sample.as_ref());
    let is_meant = |line: &[u8]| {
        let start = memchr(b'[', line)? + 1;
        let (first, second) = numeric_date(line.get(start..start + NUMERIC_TIME_BYTES)?)?;
        let (month, day) = (first.min(second), first.max(second));
        Some((1..=12).contains(&month) && (13..=31).contains(&day))
    };
    let lines = samples.filter(|(_, line)| is_meant(line) == Some(true));
    lines.map(|(number, _)| *number).min()
}

/// What reads the first line of a log of which no line could be read in full: an option with its value.
pub(crate) fn proposed_format(tally: &InputTally, has_json_fields: bool) -> Option<String> {
    if tally.crawler > 0 || tally.sample.read > 0 {
        return None;
    }
    let lines = ParseRate::all(tally).into_iter().filter_map(|rate| rate.first());
    let (_, _, line) = lines.min()?;
    match proposal(line).filter(|_| !has_json_fields) {
        Some(of_line) => {
            let is_cut = line.len() >= SAMPLE_BYTES_MAX;
            let more = if is_cut { " (formats detect lists all keys)" } else { "" };
            Some(format!("its JSON keys are {}{more}; {}", of_line.keys, of_line.advice()))
        }
        None => own_format::advice(line),
    }
}

/// Why the new lines of a log were not understood, and what to do, if they were not. `parsed_before` lines of it
/// were read before, and `format` is what they were read as.
pub(crate) fn not_understood(
    tally: &InputTally,
    (name, format): (&str, Option<&FormatUsed>),
    parsed_before: u64,
    percent_min: f64,
) -> Option<String> {
    let parsed = parsed_before.saturating_add(tally.parsed_lines());
    let low = ParseRate::too_low(tally, parsed_before > 0, percent_min);
    let is_something_else = is_something_else(parsed, tally.unread_bytes, percent_min);
    let other_order = in_other_order(tally).filter(|_| percent_min > 0.0);
    if low.is_none() && !is_something_else && other_order.is_none() {
        return None;
    }
    let rate = low.unwrap_or(ParseRate::all(tally)[0]);
    let described = other_order.map_or_else(|| rate.described(), two_orders);
    let format = format.map_or("unknown", |format| &format.name);
    let advice = proposed_format(tally, false);
    let advice = advice.unwrap_or_else(|| "to set the format, use log_format".to_owned());
    Some(format!(
        "{name}: read as {format}: {described}; its new lines were not counted. To see why, run: \
         botaudit formats detect '{name}'; {advice}; to accept the file, use min_parse_rate"
    ))
}

fn two_orders(line: u64) -> String {
    format!("some dates have the day first, and others the month, as line {line} shows")
}

/// Whether a file without records holds something else.
fn is_something_else(parsed: u64, unread_bytes: u64, percent_min: f64) -> bool {
    parsed == 0 && unread_bytes > UNREAD_BYTES_MIN && percent_min > 0.0
}

/// Logs that were not understood: one of their parse rates is too low, or more than half of the bytes are in no
/// record.
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
        let named = || logs.iter().take(DESCRIBED_MAX);
        let mut names = named().map(|log| log.name()).collect::<Vec<_>>().join(", ");
        let mut message = named().map(|log| log.described() + "; ").collect::<String>();
        if logs.len() > DESCRIBED_MAX {
            let more = logs.len() - DESCRIBED_MAX;
            names += &format!(" (and {more} more)");
            message += &format!("and {}; ", counted(more as u64, "more file"));
        }
        let accepted = logs.iter().map(UnreadLog::percent_read).fold(100.0, f64::min).floor();
        let advice = first.input.summary.proposal.as_deref();
        message += &format!(
            "the minimum is {percent_min} % (--min-parse-rate). To see why, run: botaudit formats \
             detect '{}'; {}; to accept this, use --min-parse-rate {accepted}",
            first.name(),
            advice.unwrap_or("to set the format, use --log-format"),
        );
        Some(UnreadLogs { names, message })
    }
}

struct UnreadLog<'a> {
    input: &'a Input,
    /// The lowest rate, if it is too low.
    rate: Option<ParseRate<'a>>,
    /// A line that shows that dates have two orders.
    other_order: Option<u64>,
    unread_bytes: u64,
    bytes: u64,
}

impl<'a> UnreadLog<'a> {
    fn of(input: &'a Input, percent_min: f64) -> Option<UnreadLog<'a>> {
        let Input { summary, tally } = input;
        let unread_bytes = tally.unread_bytes.saturating_add(summary.cut_bytes);
        // Text in UTF-16 has another length on disk.
        let bytes = summary.sketch.as_ref().map_or(summary.decompressed_bytes, |text| text.bytes);
        let rate = ParseRate::too_low(tally, false, percent_min);
        let other_order = in_other_order(tally).filter(|_| percent_min > 0.0);
        let bytes = bytes.max(unread_bytes);
        let log = UnreadLog { input, rate, other_order, unread_bytes, bytes };
        let records = [Skip::OutsideTime, Skip::Subrequest].map(|why| tally.skipped[why as usize]);
        let has_records = tally.parsed_lines() > 0 || records.iter().any(|lines| *lines > 0);
        let is_odd_line = has_records && unread_bytes <= UNREAD_BYTES_MIN;
        let is_unread = unread_bytes > log.bytes / 2 && log.percent_of_bytes() < percent_min;
        let is_named = rate.is_some() || other_order.is_some();
        (is_named || is_unread && !is_odd_line).then_some(log)
    }

    fn name(&self) -> &'a str {
        &self.input.summary.name
    }

    fn described(&self) -> String {
        let rate = match (self.other_order, &self.rate) {
            (Some(line), _) => two_orders(line),
            (None, Some(rate)) => rate.described(),
            (None, None) => {
                return format!(
                    "{}: more than half of the bytes are in no line that could be parsed ({} of {})",
                    self.name(),
                    grouped(self.unread_bytes),
                    grouped(self.bytes),
                );
            }
        };
        let tried = match &self.input.summary.format {
            Some(format) => format!("read as {}", format.name),
            None => "format not recognised".to_owned(),
        };
        format!("{}: {tried}: {rate}", self.name())
    }

    /// The lowest of all shares.
    fn percent_read(&self) -> f64 {
        let rates = ParseRate::all(&self.input.tally).map(|rate| match rate.unread {
            0 => 100.0,
            _ => rate.percent(),
        });
        // A file with two orders of dates is not accepted by any minimum but 0.
        let least = if self.other_order.is_some() { 0.0 } else { self.percent_of_bytes() };
        rates.into_iter().fold(least, f64::min)
    }

    fn percent_of_bytes(&self) -> f64 {
        (self.bytes - self.unread_bytes) as f64 * 100.0 / self.bytes.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::sample_tally::SampledLine;

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
        let part = |name: &str| {
            format!(
                "{name}: more than half of the bytes are in no line that could be parsed (300,000 \
                 of 400,000); "
            )
        };
        let expected = part("a")
            + &part("b")
            + &part("c")
            + "the minimum is 25.1 % (--min-parse-rate). To see why, run: botaudit formats detect \
               'a'; to set the format, use --log-format; to accept this, use --min-parse-rate 25";
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
        let advice = proposed_format(&tally, false).unwrap();
        let expected = "--log-format '$time_iso8601;$remote_addr;$request_method;$request_uri;\
                        $status;$body_bytes_sent' (replace";
        assert!(advice.contains(expected), "{advice}");
        tally.crawler = 1;
        assert_eq!(proposed_format(&tally, false), None, "the format reads lines");
    }

    /// So many lines of crawlers and of the sample of others, read and unread.
    fn tally((crawlers, crawlers_unread): (u64, u64), (read, unread): (u64, u64)) -> InputTally {
        let mut tally = InputTally { crawler: crawlers, other: 9_000, ..InputTally::default() };
        for line in 0..crawlers_unread {
            tally.reject_crawler(Reject::BadTime, 10 + line, b"x");
        }
        for number in 0..read + unread {
            let line = SampledLine { number, text: b"y", weight: 1, has_user_agent: true };
            let read = if number < read { Ok(()) } else { Err(Reject::BadStatus) };
            tally.sample.count(line, read);
        }
        tally
    }

    #[test]
    fn the_lowest_of_three_rates_counts() {
        let low = |crawlers, sample| {
            let tally = tally(crawlers, sample);
            ParseRate::too_low(&tally, false, 90.0).map(|rate| (rate.of, rate.described()))
        };
        assert_eq!(low((90, 10), (90, 10)), None);
        let of_crawlers =
            "40 of 46 lines of crawlers parsed (87.0 %), first unparsed line: 10 (bad-time)";
        assert_eq!(low((40, 6), (90, 10)), Some((RateOf::Crawlers, of_crawlers.to_owned())));
        let of_sample = "80.0 % of the lines that are not of crawlers parsed, by a sample that was \
                         read in full, first unparsed line: 80 (bad-status)";
        assert_eq!(low((40, 6), (80, 20)), Some((RateOf::Sample, of_sample.to_owned())));
    }

    /// A few lines that could not be read are odd lines, if it is known that others can be read.
    #[test]
    fn few_lines_matter_if_they_are_all_that_is_known() {
        let is_low = |crawlers, sample, is_any_read| {
            ParseRate::too_low(&tally(crawlers, sample), is_any_read, 90.0).is_some()
        };
        assert!(is_low((0, 2), (0, 0), false) && is_low((0, 0), (0, 2), false));
        assert!(!is_low((0, 2), (0, 0), true) && !is_low((0, 2), (1, 0), false));
        assert!(!is_low((1, 4), (0, 4), false));
        assert!(is_low((1, 5), (0, 0), true) && is_low((1, 0), (0, 5), true));
    }
}
