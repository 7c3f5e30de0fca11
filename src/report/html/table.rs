//! Tables that read well aloud, sort with the script and stand without it.

use std::fmt::Write;

use crate::time::UtcTime;

use super::super::format::{grouped, percent};
use super::chart::bar;
use super::markup::{code, cut, escape, minute};

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
    Badge(&'static str, String),
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

impl Table<'_> {
    /// As HTML.
    pub fn html(&self) -> String {
        let Table { id, caption, columns, rows, total, file } = self;
        let mut html = String::new();
        let is_long = rows.len() > ROWS_UNFRAMED;
        let frame = if is_long { "frame long" } else { "frame" };
        write!(
            html,
            "<div class=\"{frame}\" role=\"region\" aria-labelledby=\"{id}-caption\" tabindex=\"0\">\n\
             <table id=\"{id}\">\n<caption id=\"{id}-caption\">{}{}</caption>\n<thead><tr>",
            escape(caption),
            cut_note(rows.len() as u64, *total, file),
        )
        .expect("writing to a string cannot fail");
        for (title, kind) in *columns {
            let class = class(*kind);
            match kind {
                Kind::Drawing => html.push_str("<td aria-hidden=\"true\"></td>"),
                _ => {
                    write!(html, "<th scope=\"col\"{class}>{}</th>", escape(title))
                        .expect("writing to a string cannot fail");
                }
            }
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            html.push_str("<tr>");
            for (at, (cell, (_, kind))) in row.iter().zip(*columns).enumerate() {
                cell.write(at == 0, *kind, &mut html);
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody>\n</table>\n</div>\n");
        html
    }
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "",
        Kind::Number => " class=\"n\"",
        Kind::Drawing => " class=\"bar\" aria-hidden=\"true\"",
    }
}

fn cut_note(shown: u64, total: u64, file: &str) -> String {
    if shown >= total {
        return String::new();
    }
    format!(
        " <span class=\"cut\">The first {} of {} rows; {} has all.</span>",
        grouped(shown),
        grouped(total),
        code(file)
    )
}

impl Cell {
    fn write(&self, is_heading: bool, kind: Kind, html: &mut String) {
        let tag = if is_heading { "th scope=\"row\"" } else { "td" };
        let end = if is_heading { "th" } else { "td" };
        let class = class(kind);
        let (value, text) = match self {
            Cell::Text(text) => (None, escape(&cut(text))),
            Cell::Code(text) => (None, code(text)),
            Cell::Number(number) => (Some(number.to_string()), grouped(*number)),
            Cell::Share(part, whole) => (Some(millionths(*part, *whole)), percent(*part, *whole)),
            Cell::Time(time) => {
                let time = time.map_or_else(String::new, |time| time.to_string());
                (Some(escape(&time)), escape(&minute(&time)))
            }
            Cell::Badge(class, text) => {
                (None, format!("<span class=\"badge {class}\">{}</span>", escape(text)))
            }
            Cell::Bar(parts, whole) => (None, bar(parts, *whole)),
            Cell::Nothing => (Some("-1".to_owned()), "–".to_owned()),
        };
        let value = value.map_or_else(String::new, |value| format!(" data-v=\"{value}\""));
        write!(html, "<{tag}{class}{value}>{text}</{end}>")
            .expect("writing to a string cannot fail");
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
        let html = table(5_000).html();
        assert!(html.contains("The first 1 of 5,000 rows; <code>t.csv</code> has all."), "{html}");
        assert!(html.contains("<th scope=\"row\"><code>&lt;b&gt;</code></th>"), "{html}");
        assert!(html.contains("<td class=\"n\" data-v=\"1234\">1,234</td>"), "{html}");
        assert!(!table(1).html().contains("The first"));
    }
}
