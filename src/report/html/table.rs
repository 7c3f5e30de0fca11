//! Tables that work with screen readers, can be sorted by the script, and are readable without it.

use maud::{Markup, Render, html};

use crate::crawlers::identity::{Actor, Identity};
use crate::measures::sums::Span;
use crate::numbers::{counted, grouped, megabytes, percent, push_grouped};
use crate::report::page_model::{PageModel, ROWS_MAX, totals::Heaviest};
use crate::time::UtcTime;

use super::chart::{LegendEntry, bar};
use super::markup::{code, cut, file_link, minute};

/// Longer tables scroll in a frame of their own.
const ROWS_UNFRAMED: usize = 15;

/// The kind of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// Left-aligned text.
    Text,
    /// Right-aligned numbers.
    Number,
    /// A drawing, hidden from screen readers because the numbers are beside it.
    Drawing,
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

/// A column, with the content of all its cells in one text.
#[derive(Clone, Debug)]
struct Column {
    title: &'static str,
    kind: Kind,
    cells: String,
    ends: Vec<usize>,
}

impl Column {
    fn cell(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.cells[start..self.ends[row]]
    }

    /// Whether there are several cells, and all say the same.
    fn is_uniform(&self) -> bool {
        let rows = self.ends.len();
        rows > 1 && (1..rows).all(|row| self.cell(row) == self.cell(0))
    }
}

/// A table that is built column by column.
#[derive(Clone, Debug)]
pub(crate) struct HtmlTable<'a, T> {
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
    /// The first one has the headings of the rows.
    columns: Vec<Column>,
    /// The operator and the purpose of the crawler of each row, by which all tables are filtered.
    crawlers: Vec<[String; 2]>,
}

impl<'a, T> HtmlTable<'a, T> {
    /// A table with one row for each of `rows`, without columns.
    pub(crate) fn new(
        id: &'a str,
        caption: &'a str,
        file: &'a str,
        rows: Vec<T>,
    ) -> HtmlTable<'a, T> {
        let total = rows.len() as u64;
        HtmlTable::cut(id, caption, file, Heaviest { rows, total })
    }

    /// A table with all of `rows`, however many there are.
    pub(crate) fn whole(id: &'a str, caption: &'a str, file: &'a str, rows: Vec<T>) -> Self {
        let total = rows.len() as u64;
        HtmlTable { id, caption, file, of: rows, total, columns: Vec::new(), crawlers: Vec::new() }
    }

    /// A table of the first of many rows.
    pub(crate) fn cut(id: &'a str, caption: &'a str, file: &'a str, rows: Heaviest<T>) -> Self {
        let Heaviest { rows: mut of, total } = rows;
        of.truncate(ROWS_MAX);
        HtmlTable { id, caption, file, of, total, columns: Vec::new(), crawlers: Vec::new() }
    }

    /// Adds a column with the content that `cell` returns.
    pub(crate) fn column<C: Render>(
        mut self,
        title: &'static str,
        kind: Kind,
        cell: impl Fn(&T) -> C,
    ) -> Self {
        let (mut cells, mut ends) = (String::new(), Vec::with_capacity(self.of.len()));
        for of in &self.of {
            cell(of).render_to(&mut cells);
            ends.push(cells.len());
        }
        self.columns.push(Column { title, kind, cells, ends });
        self
    }

    /// Says for each row whose crawler it has: the operator and the purpose.
    pub(crate) fn crawlers(mut self, of: impl Fn(&T) -> [String; 2]) -> Self {
        self.crawlers = self.of.iter().map(of).collect();
        self
    }

    /// Adds a column of names.
    pub(crate) fn text(self, title: &'static str, text: impl Fn(&T) -> String) -> Self {
        self.column(title, Kind::Text, |of| Cut(text(of)))
    }

    /// Adds a column of foreign text.
    pub(crate) fn code(self, title: &'static str, text: impl Fn(&T) -> String) -> Self {
        self.column(title, Kind::Text, |of| code(text(of)))
    }

    /// Adds a column of identities.
    pub(crate) fn identity(self, identity: impl Fn(&T) -> Identity) -> Self {
        self.column("Identity", Kind::Text, |of| identity(of).as_str())
    }

    /// Adds the columns of the crawler and its identity.
    pub(crate) fn actor(self, model: &PageModel<'_>, actor: impl Fn(&T) -> Actor) -> Self {
        self.text("Crawler", |of| model.name(actor(of).0)).identity(|of| actor(of).1)
    }

    /// Adds a column of counts.
    pub(crate) fn number(self, title: &'static str, number: impl Fn(&T) -> u64) -> Self {
        self.known(title, |of| Some(number(of)))
    }

    /// Adds a column of counts that may be unknown.
    pub(crate) fn known(self, title: &'static str, number: impl Fn(&T) -> Option<u64>) -> Self {
        self.column(title, Kind::Number, |of| Known(number(of)))
    }

    /// Adds a column of bytes, in megabytes with one decimal.
    pub(crate) fn megabytes(self, title: &'static str, bytes: impl Fn(&T) -> u64) -> Self {
        self.column(title, Kind::Number, |of| megabytes(bytes(of)))
    }

    /// Adds a column of shares, which may be unknown.
    pub(crate) fn share(self, title: &'static str, share: impl Fn(&T) -> (u64, u64)) -> Self {
        self.column(title, Kind::Number, |of| {
            let (part, whole) = share(of);
            percent(part, whole)
        })
    }

    /// Adds a column of times that may be unknown.
    pub(crate) fn time(self, title: &'static str, time: impl Fn(&T) -> Option<UtcTime>) -> Self {
        self.column(title, Kind::Number, |of| {
            time(of).map_or_else(String::new, |time| minute(&time.to_string()))
        })
    }

    /// Adds the columns of the first and last request.
    pub(crate) fn seen(self, seen: impl Fn(&T) -> Option<Span>) -> Self {
        self.time("First seen, UTC", |of| seen(of).map(|seen| seen.first))
            .time("Last seen, UTC", |of| seen(of).map(|seen| seen.last))
    }

    /// Adds a column of bars, each with parts of `whole`.
    pub(crate) fn bar<const N: usize>(
        self,
        legend: &[LegendEntry; N],
        numbers: impl Fn(&T) -> [u64; N],
        whole: impl Fn(&T) -> u64,
    ) -> Self {
        self.column("", Kind::Drawing, |of| bar(legend, numbers(of), whole(of)))
    }

    /// Adds a column of counts for each of `titles`.
    pub(crate) fn numbers<const N: usize>(
        self,
        titles: [&'static str; N],
        numbers: impl Fn(&T) -> [u64; N],
    ) -> Self {
        let columns = titles.into_iter().enumerate();
        columns.fold(self, |table, (at, title)| table.number(title, |of| numbers(of)[at]))
    }

    /// The table of a subject that everyone reads: narrow screens show its first columns only.
    pub(crate) fn main(&self) -> Markup {
        html! { div class="main" { (self) } }
    }

    /// The table behind its caption; nothing if it has no rows.
    pub(crate) fn folded(&self) -> Markup {
        let (shown, total) = (self.of.len() as u64, counted(self.total, "row"));
        let rows = if shown < self.total { format!("{shown} of {total}") } else { total };
        html! { (self.behind(&format!("{} ({rows})", self.caption))) }
    }

    /// The numbers of a drawing, which is above.
    pub(crate) fn numbers_of_drawing(&self) -> Markup {
        self.behind("Show numbers")
    }

    fn behind(&self, summary: &str) -> Markup {
        html! { @if !self.of.is_empty() { details { summary { (summary) } (self) } "\n" } }
    }

    /// The rows that are only in the CSV file.
    fn more(&self) -> Option<u64> {
        self.total.checked_sub(self.of.len() as u64).filter(|more| *more > 0)
    }

    /// What is not in the rows: values that all rows share, and the rows of the CSV file.
    fn notes(&self, uniform: &[&Column]) -> Markup {
        let shown: Vec<_> = uniform.iter().filter(|column| column.kind != Kind::Drawing).collect();
        html! {
            span class="fine" {
                @for (at, column) in shown.iter().enumerate() {
                    @if at == 0 { " In all rows: " } @else { "; " }
                    (column.title) " " span data-of=(column.title) { (Content(column.cell(0))) }
                }
                @if !shown.is_empty() { "." }
                @if self.more().is_some() {
                    " " (grouped(self.of.len() as u64)) " of " (counted(self.total, "row")) "; "
                    (file_link(self.file)) " has all."
                } @else { " " (file_link(self.file)) }
            }
        }
    }
}

/// The content of a cell, which is markup already.
struct Content<'a>(&'a str);

impl Render for Content<'_> {
    fn render_to(&self, buffer: &mut String) {
        buffer.push_str(self.0);
    }
}

impl<T> Render for HtmlTable<'_, T> {
    fn render(&self) -> Markup {
        let HtmlTable { id, caption, of, columns, crawlers, .. } = self;
        let frame = if of.len() > ROWS_UNFRAMED { "frame long" } else { "frame" };
        let is_dropped = |(at, column): &(usize, &Column)| *at > 0 && column.is_uniform();
        let (dropped, shown): (Vec<_>, Vec<_>) = columns.iter().enumerate().partition(is_dropped);
        let dropped: Vec<&Column> = dropped.into_iter().map(|(_, column)| column).collect();
        html! {
            div class=(frame) role="region" aria-labelledby={ (id) "-caption" } tabindex="0" { "\n"
                table id=(id) data-more=[self.more()] { "\n"
                    caption id={ (id) "-caption" } { span { (caption) } (self.notes(&dropped)) } "\n"
                    thead {
                        tr {
                            @for (_, Column { title, kind, .. }) in &shown {
                                @if *kind == Kind::Drawing {
                                    td aria-hidden="true" {}
                                } @else {
                                    th scope="col" class=[kind.class()] { (title) }
                                }
                            }
                        }
                    } "\n"
                    tbody { "\n" @for row in 0..of.len() { (RowCells(&shown, crawlers.get(row), row)) } } "\n"
                } "\n"
            } "\n"
        }
    }
}

/// One row. `html!` would allocate a text for each cell, and a page has thousands.
struct RowCells<'a>(&'a [(usize, &'a Column)], Option<&'a [String; 2]>, usize);

impl Render for RowCells<'_> {
    fn render_to(&self, buffer: &mut String) {
        let RowCells(columns, crawler, row) = self;
        match crawler {
            None => buffer.push_str("<tr>"),
            Some([operator, purpose]) => {
                buffer.push_str("<tr data-operator=\"");
                operator.render_to(buffer);
                buffer.push_str("\" data-purpose=\"");
                purpose.render_to(buffer);
                buffer.push_str("\">");
            }
        }
        for (at, column) in *columns {
            let (before, after) = column.kind.tags(*at == 0);
            buffer.push_str(before);
            buffer.push_str(column.cell(*row));
            buffer.push_str(after);
        }
        buffer.push_str("</tr>\n");
    }
}

impl Kind {
    /// The tags around a cell.
    fn tags(self, is_heading: bool) -> (&'static str, &'static str) {
        match (self, is_heading) {
            (Kind::Number, true) => ("<th scope=\"row\" class=\"n\">", "</th>"),
            (_, true) => ("<th scope=\"row\">", "</th>"),
            (Kind::Text, false) => ("<td>", "</td>"),
            (Kind::Number, false) => ("<td class=n>", "</td>"),
            (Kind::Drawing, false) => ("<td class=bar aria-hidden=true>", "</td>"),
        }
    }

    fn class(self) -> Option<&'static str> {
        (self == Kind::Number).then_some("n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(
        rows: Vec<(&'static str, u64)>,
        total: u64,
    ) -> HtmlTable<'static, (&'static str, u64)> {
        HtmlTable::cut("t", "C", "t.csv", Heaviest { rows, total })
            .code("Who", |(who, _)| (*who).to_owned())
            .number("Requests", |(_, requests)| *requests)
            .text("Why", |_| "<i>".to_owned())
    }

    #[test]
    fn what_is_left_out_is_said() {
        let html = table(vec![("<b>", 1_234)], 5_000).render().0;
        let note = "1 of 5,000 rows; <a href=\"./t.csv\">t.csv</a> has all.";
        assert!(html.contains(note), "{html}");
        assert!(html.contains("data-more=\"4999\""), "{html}");
        assert!(html.contains("<th scope=\"row\"><code>&lt;b&gt;</code></th>"), "{html}");
        assert!(html.contains("<td class=n>1,234</td>"), "{html}");
        assert!(!table(vec![("a", 1)], 1).render().0.contains("has all"));
    }

    #[test]
    fn a_column_that_says_the_same_in_all_rows_is_a_note() {
        let html = table(vec![("a", 1), ("b", 2)], 2).render().0;
        assert!(html.contains("In all rows: Why <span data-of=\"Why\">&lt;i&gt;</span>"), "{html}");
        assert!(html.contains("Requests</th>") && !html.contains("Why</th>"), "{html}");
        let html = table(vec![("a", 1)], 1).render().0;
        assert!(html.contains("Why</th>") && !html.contains("In all rows"), "{html}");
        assert_eq!(table(vec![], 0).folded().0, "");
    }
}
