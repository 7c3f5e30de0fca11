//! How one input ended, as its reader saw it.

use crate::error::Error;
use crate::input::chunks::{Chunks, Ending};
use crate::input::sketch::ContentSketch;
use crate::logs::detect::Detection;

use super::tally::header::{FormatUsed, InputSummary};

/// How one input ended.
#[derive(Clone, Debug)]
pub struct InputEnd {
    /// The log format; `None` if there was no line to detect it by.
    pub format: Option<FormatUsed>,
    /// Why its rest could not be read.
    pub failure: Option<String>,
    /// How its bytes ended.
    pub ending: Ending,
    /// A sketch of its content; `None` if it has none.
    pub sketch: Option<ContentSketch>,
    lines_tried: usize,
}

impl InputEnd {
    /// The end of an input that was read.
    pub(crate) fn new(detected: &Detection, chunks: &Chunks) -> InputEnd {
        let lines_tried = detected.lines_tried;
        let format = detected.format.as_ref().map(|format| FormatUsed {
            name: format.name().to_owned(),
            limitations: format.limitations().to_vec(),
        });
        let ending = chunks.ending();
        let failure = ending.damage.map(|damage| damage.to_string());
        InputEnd { format, lines_tried, failure, ending, sketch: chunks.sketch() }
    }

    /// The end of an input that could not be opened.
    pub(crate) fn unopened(err: &Error) -> InputEnd {
        let failure = Some(err.to_string());
        let ending = Ending::default();
        InputEnd { format: None, lines_tried: 0, failure, ending, sketch: None }
    }

    /// The summary for a tally.
    pub(crate) fn summary(self, name: String) -> InputSummary {
        // As the error of a file that could not be opened, that of the first byte names the file.
        let is_nameless = self.ending.damage.is_some() && self.ending.size_bytes == 0;
        let damage =
            self.failure.map(|why| if is_nameless { format!("{name}: {why}") } else { why });
        InputSummary {
            name,
            size_bytes: self.ending.size_bytes,
            decompressed_bytes: self.ending.bytes,
            format: self.format,
            lines_tried: self.lines_tried,
            damage,
            may_be_cut: self.ending.may_be_cut,
            sketch: self.sketch,
            cut_bytes: self.ending.cut_bytes,
        }
    }
}
