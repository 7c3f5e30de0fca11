//! Tables that read well aloud, sort with the script and stand without it.

use maud::{Markup, Render, html};

use crate::time::UtcTime;

use super::super::format::{grouped, percent};
use super::chart::bar;
use super::markup::{code, cut, minute};

/// Rows beyond which a table scrolls in a frame of its own.
const ROWS_UNFRAMED: usize = 15;

/// What stands in a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Text, to the left.
    Text,
    /// Numbers, to the right.
    Number,
    /// Drawn, hidden from those who hear the page, as the numbers stand beside.
    Drawing,
}

/// What stands in a cell.
#[derive(Clone, Debug)]
pub enum Cell {
    /// A name.
    Text(String),
    /// What strangers wrote.
    Code(String),
    /// A count.
    Number(u64),
    /// A share of a whole.
    Share(u64, u64),
    /// A time, where it is known.
    Time(Option<UtcTime>),
    /// A word that stands out, in the class of that name.
    Badge(&'static str, &'static str),
    /// Parts of a whole bar, each with the class of its colour and what it is.
    Bar(Vec<(&'static str, &'static str, u64)>, u64),
    /// Nothing that could be told.
    Nothing,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    /// Unique in the page.
    pub id: &'a str,
    /// What it shows.
    pub caption: &'a str,
    /// Headings.
    pub columns: &'a [(&'a str, Kind)],
    /// In the order in which they are first shown; the first cell names the row.
    pub rows: Vec<Vec<Cell>>,
    /// Rows that there are, shown or not.
    pub total: u64,
    /// The file that has them all.
    pub file: &'a str,
}

impl Render for Table<'_> {
    fn render(&self) -> Markup {
        let Table { id, caption, columns, rows, total, file } = self;
        let is_long = rows.len() > ROWS_UNFRAMED;
        let frame = if is_long { "frame long" } else { "frame" };
        html! {
            div class=(frame) role="region" aria-labelledby={ (id) "-caption" } tabindex="0" { "\n"
                table id=(id) { "\n"
                    caption id={ (id) "-caption" } {
                        (caption) (cut_note(rows.len() as u64, *total, file))
                    } "\n"
                    thead {
                        tr {
                            @for (title, kind) in *columns {
                                @if *kind == Kind::Drawing {
                                    td aria-hidden="true" {}
                                } @else {
                                    th scope="col" class=[kind.class()] { (title) }
                                }
                            }
                        }
                    } "\n"
                    tbody { "\n" @for row in rows { (Row { cells: row, columns }) } } "\n"
                } "\n"
            } "\n"
        }
    }
}

impl Kind {
    fn class(self) -> Option<&'static str> {
        match self {
            Kind::Text => None,
            Kind::Number => Some("n"),
            Kind::Drawing => Some("bar"),
        }
    }
}

fn cut_note(shown: u64, total: u64, file: &str) -> Markup {
    html! {
        @if shown < total {
            " "
            span class="cut" {
                "The first " (grouped(shown)) " of " (grouped(total)) " rows; " (code(file)) " has all."
            }
        }
    }
}

/// A row; its first cell is its heading.
struct Row<'a> {
    cells: &'a [Cell],
    columns: &'a [(&'a str, Kind)],
}

impl Render for Row<'_> {
    fn render(&self) -> Markup {
        let kinds = self.columns.iter().map(|(_, kind)| *kind);
        html! {
            tr {
                @for (at, (cell, kind)) in self.cells.iter().zip(kinds).enumerate() {
                    @let hidden = (kind == Kind::Drawing).then_some("true");
                    @if at == 0 {
                        th scope="row" class=[kind.class()] aria-hidden=[hidden] data-v=[cell.value()] { (cell) }
                    } @else {
                        td class=[kind.class()] aria-hidden=[hidden] data-v=[cell.value()] { (cell) }
                    }
                }
            } "\n"
        }
    }
}

impl Cell {
    /// What the script sorts by, where it is not the text.
    fn value(&self) -> Option<String> {
        match self {
            Cell::Number(number) => Some(number.to_string()),
            Cell::Share(part, whole) => Some(millionths(*part, *whole)),
            Cell::Time(time) => Some(time.map_or_else(String::new, |time| time.to_string())),
            Cell::Nothing => Some("-1".to_owned()),
            Cell::Text(_) | Cell::Code(_) | Cell::Badge(..) | Cell::Bar(..) => None,
        }
    }
}

impl Render for Cell {
    fn render_to(&self, buffer: &mut String) {
        match self {
            Cell::Text(text) => cut(text).render_to(buffer),
            Cell::Code(text) => code(text).render_to(buffer),
            Cell::Number(number) => grouped(*number).render_to(buffer),
            Cell::Share(part, whole) => percent(*part, *whole).render_to(buffer),
            Cell::Time(None) => {}
            Cell::Time(Some(time)) => minute(&time.to_string()).render_to(buffer),
            Cell::Badge(class, text) => {
                html! { span class={ "badge " (class) } { (text) } }.render_to(buffer);
            }
            Cell::Bar(parts, whole) => bar(parts, *whole).render_to(buffer),
            Cell::Nothing => "–".render_to(buffer),
        }
    }
}

/// To sort by; nothing known stands below zero.
fn millionths(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-1".to_owned();
    }
    (u128::from(part) * 1_000_000 / u128::from(whole)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said() {
        let columns = &[("Who", Kind::Text), ("Requests", Kind::Number)];
        let row = vec![Cell::Code("<b>".to_owned()), Cell::Number(1_234)];
        let table = |total| Table {
            id: "t",
            caption: "C",
            columns,
            rows: vec![row.clone()],
            total,
            file: "t.csv",
        };
        let html = table(5_000).render().0;
        assert!(html.contains("The first 1 of 5,000 rows; <code>t.csv</code> has all."), "{html}");
        assert!(html.contains("<th scope=\"row\"><code>&lt;b&gt;</code></th>"), "{html}");
        assert!(html.contains("<td class=\"n\" data-v=\"1234\">1,234</td>"), "{html}");
        assert!(!table(1).render().0.contains("The first"));
    }
}
