//! Reasons for unparsed lines.

use crate::audit::input_tally::RejectTally;
use crate::audit::model::ReportModel;
use crate::logs::reject::Reject;
use crate::report::table::table;
use crate::table::schema::{column, count, line_number};

table! {
    /// Reasons for unparsed lines.
    pub(crate) const REJECTS = "rejects.csv", "each log file and reason why lines could not be parsed";
    rows of => rejects(of.audit);
    (input, reason, reject) => {
        let sample = reject.sample.as_ref();
    }
    cells row => {
        column("file", "path", "log file") => row.text(input),
        column("reason", "text", "why the lines could not be parsed") => row.word(reason.as_str()),
        count("lines", "number of these lines") => row.counts([reject.lines]),
        line_number("example_line", "line number of the first one") => row.counts([sample.map_or(0, |(line, _)| *line)]),
        column("example", "text", "beginning of that line, cut to 512 bytes") => row.bytes(sample.map_or(b"", |(_, bytes)| bytes)),
    }
}

fn rejects(audit: &ReportModel) -> impl Iterator<Item = (&str, Reject, &RejectTally)> {
    audit.inputs.iter().flat_map(|input| {
        input.rejects().map(move |(reason, reject)| (&*input.summary.name, reason, reject))
    })
}
