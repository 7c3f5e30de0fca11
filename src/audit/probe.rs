//! A look at the beginning of a log: its format, and the lines that the format reads.

use std::{collections::BTreeMap, sync::Arc};

use crate::error::Result;
use crate::input::chunks::{Chunks, HEAD_BYTES_MAX};
use crate::input::source::{FileId, Source};
use crate::input::{lines::lines, open::open};
use crate::logs::detect::{Detection, detect};
use crate::logs::format::Hints;
use crate::logs::reject::{Reject, Skip};
use crate::logs::{LineContent, record::Scratch};

/// So many bytes of a log are looked at if the first ones say nothing.
const LONG_HEAD_BYTES_MAX: usize = 4 << 20;

/// The format of a log from its first lines.
pub(crate) fn detected_format(chunks: &mut Chunks, hints: &Hints) -> Detection {
    let head = chunks.head(HEAD_BYTES_MAX);
    let (detection, looked_at) = (detect(lines(head), hints), head.len());
    if detection.lines_parsed > 0 {
        return detection;
    }
    let head = chunks.head(LONG_HEAD_BYTES_MAX);
    if head.len() > looked_at { detect(lines(head), hints) } else { detection }
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
    let detection = detected_format(&mut chunks, hints);
    let head = chunks.head(HEAD_BYTES_MAX);
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
    let format = examined.detection.reading_format();
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
    use crate::input::source::expand;

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
