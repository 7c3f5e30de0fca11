//! The log formats, and the detected format of a log, as text.

use crate::audit::probe::Probe;
use crate::logs::{json::own_names::proposal, own_format, registry::ENTRIES};
use crate::numbers::{grouped, percent};
use crate::table::escape::{spelled_out, visible};

use super::privacy::{Addresses, Privacy, Queries};
use super::terminal_text::cut;

/// The most characters shown of an unparsed line.
const LINE_CHARS_MAX: usize = 200;

/// Client addresses do not help to recognise a format, and users share this text.
const PRIVACY: Privacy = Privacy { addresses: Addresses::Mask, queries: Queries::Keep };

/// All formats: their writers, samples and limitations.
pub(crate) fn formats_text() -> String {
    let mut text = String::new();
    for entry in ENTRIES {
        text += &format!("{}: {}\n", entry.name, entry.about);
        for line in entry.sample.lines() {
            text += &format!("    {}\n", visible(line.as_bytes()));
        }
        for limitation in entry.limitations {
            text += &format!("  It {}.\n", limitation.as_str());
        }
        text.push('\n');
    }
    text.push_str(
        "Formats are detected from the first lines of a file. For your own format, use --log-format\nwith the format string of nginx's log_format or Apache's LogFormat.\n",
    );
    text
}

/// The result of examining the log `name`.
pub(crate) fn examined_text(name: &str, examined: &Probe) -> String {
    let Probe { detection, lines, records, .. } = examined;
    let rejected = examined.rejected_lines();
    let mut text = format!("{}\n", visible(name.as_bytes()));
    let mut row = |title: &str, what: &str| {
        text += &format!("  {title:<8}  {}\n", spelled_out(what));
    };
    let format = detection.format.as_ref().map_or("unknown", |format| format.name());
    row("format", format);
    row("why", &detection.why);
    let rate = match records + rejected {
        0 => "all are comments or blank".to_owned(),
        meant => format!(
            "{} of {} parsed ({})",
            grouped(*records),
            grouped(meant),
            percent(*records, meant)
        ),
    };
    row("lines", &format!("first {}: {rate}", grouped(*lines)));
    if !examined.skipped.is_empty() {
        let skipped = examined.skipped.iter().map(|(reason, n)| (reason.as_str(), *n));
        row("skipped", &counts(skipped));
    }
    if rejected > 0 {
        let reasons = examined.rejected.iter().map(|(reason, n)| (reason.as_str(), *n));
        row("rejected", &counts(reasons));
    }
    for (line, reason, bytes) in &examined.shown {
        row("", &format!("line {line} ({}): {}", reason.as_str(), shown(bytes)));
    }
    if let Some(format) = &detection.format {
        for limitation in format.limitations().iter() {
            row("caveat", &format!("it {}", limitation.as_str()));
        }
    } else if rejected > 0 {
        let of_json = examined.sample.as_deref().and_then(proposal);
        if let Some(proposal) = &of_json {
            row("keys", &proposal.keys);
        }
        let advice = of_json.map(|proposal| proposal.advice());
        let of_text = "use --log-format with the format string of your server; botaudit formats \
                       lists the names";
        row("try", advice.or_else(|| line_advice(examined)).as_deref().unwrap_or(of_text));
    }
    // A format that reads the start of lines may be a chance.
    if detection.format.is_some()
        && *records == 0
        && let Some(advice) = line_advice(examined)
    {
        row("try", &advice);
    }
    if let Some(damage) = &examined.damage {
        row("damage", damage);
    }
    text
}

/// What would have the first line read that was not understood.
fn line_advice(examined: &Probe) -> Option<String> {
    own_format::advice(examined.sample.as_deref()?)
}

fn counts<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> String {
    counts.map(|(reason, n)| format!("{reason} {n}")).collect::<Vec<_>>().join(", ")
}

fn shown(bytes: &[u8]) -> String {
    cut(visible(&PRIVACY.line(bytes)), LINE_CHARS_MAX)
}
