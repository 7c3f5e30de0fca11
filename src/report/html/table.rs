//! Tables that work with screen readers, can be sorted by the script, and are readable without it.

use maud::{Markup, Render, html};

use crate::audit::sums::Span;
use crate::audit::tally::crawler_tally::Actor;
use crate::crawlers::identity::Identity;
use crate::time::UtcTime;

use super::super::page_model::heaviest::Heaviest;
use super::super::page_model::{PageModel, ROWS_MAX};
use super::chart::{LegendEntry, bar};
use super::markup::{Badge, code, cut, minute};
use crate::numbers::{grouped, percent, push_grouped};

/// Longer tables scroll in a frame of their own.
const ROWS_UNFRAMED: usize = 15;

/// The usual size of a row in bytes.
const ROW_BYTES_USUAL: usize = 1024;

/// The kind of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Left-aligned text.
    Text,
    /// Right-aligned numbers.
    Number,
    /// A drawing, hidden from screen readers because the numbers are beside it.
    Drawing,
}

/// The content of a cell.
#[derive(Clone, Debug)]
pub struct HtmlCell {
    shown: Markup,
    /// The sort key, if it differs from the text.
    sorted_by: Option<String>,
}

impl HtmlCell {
    fn of(shown: Markup) -> HtmlCell {
        HtmlCell { shown, sorted_by: None }
    }

    /// Foreign text.
    pub fn code(text: &str) -> HtmlCell {
        HtmlCell::of(code(text).render())
    }

    /// A word as a badge with the CSS class of that name.
    pub fn badge(class: &'static str, text: &'static str) -> HtmlCell {
        HtmlCell::of(Badge(class, text).render())
    }

    /// A bar of several parts, each with the CSS class of its color and its name.
    pub fn bar(parts: &[(&'static str, &'static str, u64)], whole: u64) -> HtmlCell {
        HtmlCell::of(bar(parts, whole))
    }

    /// A cell for an unknown value.
    pub fn nothing() -> HtmlCell {
        HtmlCell { shown: Known(None).render(), sorted_by: Some(SortedBy(None).render().0) }
    }
}

/// The cut beginning of a name.
struct Cut(String);

impl Render for Cut {
    fn render_to(&self, buffer: &mut String) {
        cut(&self.0).render_to(buffer);
    }
}

/// A count as shown; it may be unknown.
struct Known(Option<u64>);

impl Render for Known {
    fn render_to(&self, buffer: &mut String) {
        match self.0 {
            // Digits and commas need no escaping.
            Some(number) => push_grouped(number, buffer),
            None => "–".render_to(buffer),
        }
    }
}

/// The sort key of a count. An unknown count sorts below zero.
struct SortedBy(Option<u64>);

impl Render for SortedBy {
    fn render_to(&self, buffer: &mut String) {
        match self.0 {
            Some(number) => buffer.push_str(itoa::Buffer::new().format(number)),
            None => buffer.push_str("-1"),
        }
    }
}

/// A table that is built column by column.
#[derive(Clone, Debug)]
pub struct HtmlTable<'a, T> {
    /// A unique id in the page.
    id: &'a str,
    /// The caption.
    caption: &'a str,
    /// The CSV file with all rows.
    file: &'a str,
    /// The items of the rows, in their initial order.
    of: Vec<T>,
    /// The number of all rows, shown or not.
    total: u64,
    columns: Vec<(&'static str, Kind)>,
    /// The cells of each row; the first one is its heading.
    rows: Vec<Markup>,
}

impl<'a, T> HtmlTable<'a, T> {
    /// A table with one row for each of `rows`, without columns.
    pub fn new(id: &'a str, caption: &'a str, file: &'a str, rows: Vec<T>) -> HtmlTable<'a, T> {
        let total = rows.len() as u64;
        HtmlTable::cut(id, caption, file, Heaviest { rows, total })
    }

    /// A table of the first of many rows.
    pub fn cut(id: &'a str, caption: &'a str, file: &'a str, rows: Heaviest<T>) -> Self {
        let Heaviest { rows: mut of, total } = rows;
        of.truncate(ROWS_MAX);
        let empty = || {
            let mut row = html! {};
            row.0.reserve(ROW_BYTES_USUAL);
            row
        };
        let rows = of.iter().map(|_| empty()).collect();
        HtmlTable { id, caption, file, of, total, columns: Vec::new(), rows }
    }

    /// Adds a column. `cell` returns the content for a row, and the sort key if it differs from the
    /// text.
    fn cells<S: Render, B: Render>(
        mut self,
        title: &'static str,
        kind: Kind,
        cell: impl Fn(&T) -> (S, Option<B>),
    ) -> Self {
        let is_heading = self.columns.is_empty();
        self.columns.push((title, kind));
        let (before, after) = kind.tags(is_heading);
        for (of, row) in self.of.iter().zip(&mut self.rows) {
            let row = &mut row.0;
            let (shown, by) = cell(of);
            row.push_str(before);
            if let Some(by) = by {
                row.push_str(" data-v=\"");
                by.render_to(row);
                row.push('"');
            }
            row.push('>');
            shown.render_to(row);
            row.push_str(after);
        }
        self
    }

    /// Adds a column with the cells that `cell` returns.
    pub fn column(self, title: &'static str, kind: Kind, cell: impl Fn(&T) -> HtmlCell) -> Self {
        self.cells(title, kind, |of| {
            let HtmlCell { shown, sorted_by } = cell(of);
            (shown, sorted_by)
        })
    }

    /// Adds a column of names.
    pub fn text(self, title: &'static str, text: impl Fn(&T) -> String) -> Self {
        self.cells(title, Kind::Text, |of| (Cut(text(of)), None::<u64>))
    }

    /// Adds a column of foreign text.
    pub fn code(self, title: &'static str, text: impl Fn(&T) -> String) -> Self {
        self.cells(title, Kind::Text, |of| (code(text(of)), None::<u64>))
    }

    /// Adds a column of identities.
    pub fn identity(self, identity: impl Fn(&T) -> Identity) -> Self {
        self.cells("Identity", Kind::Text, |of| {
            let word = identity(of).as_str();
            (Badge(word, word), None::<u64>)
        })
    }

    /// Adds the columns of the crawler and its identity.
    pub fn actor(self, model: &PageModel<'_>, actor: impl Fn(&T) -> Actor) -> Self {
        self.text("Crawler", |of| model.name(actor(of).0)).identity(|of| actor(of).1)
    }

    /// Adds a column of counts.
    pub fn number(self, title: &'static str, number: impl Fn(&T) -> u64) -> Self {
        self.known(title, |of| Some(number(of)))
    }

    /// Adds a column of counts that may be unknown.
    pub fn known(self, title: &'static str, number: impl Fn(&T) -> Option<u64>) -> Self {
        self.cells(title, Kind::Number, |of| {
            let number = number(of);
            (Known(number), Some(SortedBy(number)))
        })
    }

    /// Adds a column of shares; an unknown share sorts below zero.
    pub fn share(self, title: &'static str, share: impl Fn(&T) -> (u64, u64)) -> Self {
        self.cells(title, Kind::Number, |of| {
            let (part, whole) = share(of);
            let millionths = (u128::from(part) * 1_000_000).checked_div(u128::from(whole));
            let millionths = millionths.map(|share| u64::try_from(share).unwrap_or(u64::MAX));
            (percent(part, whole), Some(SortedBy(millionths)))
        })
    }

    /// Adds a column of times that may be unknown.
    pub fn time(self, title: &'static str, time: impl Fn(&T) -> Option<UtcTime>) -> Self {
        self.cells(title, Kind::Number, |of| {
            let text = time(of).map_or_else(String::new, |time| time.to_string());
            (minute(&text), Some(text))
        })
    }

    /// Adds the columns of the first and last request.
    pub fn seen(self, seen: impl Fn(&T) -> Option<Span>) -> Self {
        self.time("First seen, UTC", |of| seen(of).map(|seen| seen.first))
            .time("Last seen, UTC", |of| seen(of).map(|seen| seen.last))
    }

    /// Adds a column of bars and columns of their numbers; the bars are parts of `whole`.
    pub fn bar<const N: usize>(
        self,
        legend: &[LegendEntry; N],
        numbers: impl Fn(&T) -> [u64; N],
        whole: impl Fn(&T) -> u64,
    ) -> Self {
        self.column("", Kind::Drawing, |of| {
            let parts = legend.iter().zip(numbers(of));
            let parts = parts.map(|(&(class, what), number)| (class, what, number));
            HtmlCell::bar(&parts.collect::<Vec<_>>(), whole(of))
        })
    }

    /// Adds a column of counts for each of `titles`.
    pub fn numbers<const N: usize>(
        self,
        titles: [&'static str; N],
        numbers: impl Fn(&T) -> [u64; N],
    ) -> Self {
        let columns = titles.into_iter().enumerate();
        columns.fold(self, |table, (at, title)| table.number(title, |of| numbers(of)[at]))
    }
}

impl<T> HtmlTable<'_, T> {
    /// The table; empty if it has no rows.
    pub fn unless_empty(&self) -> Markup {
        if self.of.is_empty() {
            html! {}
        } else {
            self.render()
        }
    }
}

impl<T> Render for HtmlTable<'_, T> {
    fn render(&self) -> Markup {
        let HtmlTable { id, caption, file, total, columns, rows, .. } = self;
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
                            @for (title, kind) in columns {
                                @if *kind == Kind::Drawing {
                                    td aria-hidden="true" {}
                                } @else {
                                    th scope="col" class=[kind.class()] { (title) }
                                }
                            }
                        }
                    } "\n"
                    tbody { "\n" @for row in rows { tr { (row) } "\n" } } "\n"
                } "\n"
            } "\n"
        }
    }
}

impl Kind {
    /// The tags around a cell. `html!` would allocate a text for each cell, and a page has
    /// thousands.
    fn tags(self, is_heading: bool) -> (&'static str, &'static str) {
        match (self, is_heading) {
            (Kind::Text, true) => ("<th scope=\"row\"", "</th>"),
            (Kind::Number, true) => ("<th scope=\"row\" class=\"n\"", "</th>"),
            (Kind::Drawing, true) => {
                ("<th scope=\"row\" class=\"bar\" aria-hidden=\"true\"", "</th>")
            }
            (Kind::Text, false) => ("<td", "</td>"),
            (Kind::Number, false) => ("<td class=\"n\"", "</td>"),
            (Kind::Drawing, false) => ("<td class=\"bar\" aria-hidden=\"true\"", "</td>"),
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said() {
        let table = |total| {
            HtmlTable::cut("t", "C", "t.csv", Heaviest { rows: vec![("<b>", 1_234)], total })
                .code("Who", |(who, _)| (*who).to_owned())
                .number("Requests", |(_, requests)| *requests)
        };
        let html = table(5_000).render().0;
        assert!(html.contains("The first 1 of 5,000 rows; <code>t.csv</code> has all."), "{html}");
        assert!(html.contains("<th scope=\"row\"><code>&lt;b&gt;</code></th>"), "{html}");
        assert!(html.contains("<td class=\"n\" data-v=\"1234\">1,234</td>"), "{html}");
        assert!(!table(1).render().0.contains("The first"));
    }
}
