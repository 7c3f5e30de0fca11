//! What a draft of a robots.txt would change.

use super::super::facts::Facts;
use super::super::figures::{counted, grouped};
use super::markup::code;
use super::table::{Cell, Kind, Table};

const COLUMNS: &[(&str, Kind)] = &[
    ("Crawler", Kind::Text),
    ("Identity", Kind::Text),
    ("Origin", Kind::Text),
    ("Change", Kind::Text),
    ("Line of the draft", Kind::Number),
    ("Rule of the draft", Kind::Text),
    ("Rule that decided", Kind::Text),
    ("Requests", Kind::Number),
    ("Example", Kind::Text),
];

/// The section, as HTML; nothing where no draft was tried.
pub fn simulation(facts: &Facts) -> Option<String> {
    let run = facts.run.simulation.as_ref()?;
    let total = &run.not_spoofed;
    let said = format!(
        "<p>Had {} been in force, {} would have been newly disallowed and {} newly \
         allowed; {} of {} would have been judged as they were. Whoever only says that he is a \
         crawler is left out of these numbers.</p>\n",
        code(&run.draft.source),
        counted(total.newly_disallowed, "request"),
        grouped(total.newly_allowed),
        grouped(total.unchanged),
        counted(total.judged, "request"),
    );
    if facts.changes.kept.rows.is_empty() {
        return Some(said);
    }
    let rows = facts.changes.kept.rows.iter().map(|kept| {
        let line = kept.line();
        let identity = line.identity().as_str();
        let rule = |directive: &str, pattern: &str| match line.text(directive) {
            directive if directive.is_empty() => Cell::Nothing,
            directive => Cell::Code(format!("{directive}: {}", line.text(pattern))),
        };
        let draft_line = match line.raw("draft_line") {
            "" => Cell::Nothing,
            _ => Cell::Number(line.count("draft_line")),
        };
        vec![
            Cell::Text(line.text("crawler")),
            Cell::Badge(identity, identity.to_owned()),
            Cell::Code(line.text("origin")),
            Cell::Text(line.text("change")),
            draft_line,
            rule("draft_directive", "draft_pattern"),
            rule("present_directive", "present_pattern"),
            Cell::Number(line.count("requests")),
            Cell::Code(line.text("example_target")),
        ]
    });
    let (rows, total) = (rows.collect(), facts.changes.kept.total);
    let (id, caption, file) =
        ("by-change", "Requests that the draft would judge otherwise", "simulation.csv");
    Some(said + &Table { id, caption, columns: COLUMNS, rows, total, file }.html())
}
