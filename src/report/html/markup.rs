//! Parts of sentences as HTML. `html!` escapes inserted text.

use std::borrow::Cow;

use maud::{Markup, Render, html};

use crate::numbers::grouped;
use crate::table::escape::shown;

/// The most characters shown of foreign text; the CSV files have all.
const CHARS_MAX: usize = 160;

/// The beginning of foreign text, formatted as code.
pub(crate) fn code<T: AsRef<str>>(text: T) -> Quoted<T> {
    Quoted(text)
}

/// The result of [`code`]. It is written directly into the page, without a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted<T>(T);

impl<T: AsRef<str>> Render for Quoted<T> {
    fn render_to(&self, buffer: &mut String) {
        buffer.push_str("<code>");
        cut(self.0.as_ref()).render_to(buffer);
        buffer.push_str("</code>");
    }
}

/// A word as a badge with the CSS class of that name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Badge(pub &'static str, pub &'static str);

impl Render for Badge {
    fn render_to(&self, buffer: &mut String) {
        let Badge(class, text) = self;
        buffer.push_str("<span class=\"badge ");
        class.render_to(buffer);
        buffer.push_str("\">");
        text.render_to(buffer);
        buffer.push_str("</span>");
    }
}

/// A file of the report. Names that the user chose may need escapes in a link; they get none.
pub(crate) fn file_link(file: &str) -> Markup {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    html! {
        @if file.bytes().all(is_plain) { a href={ "./" (file) } { (file) } } @else { (code(shown(file))) }
    }
}

/// The beginning of `text`, with `…` if it was cut.
pub(crate) fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= CHARS_MAX {
        return Cow::Borrowed(text);
    }
    match text.char_indices().nth(CHARS_MAX) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// A number in bold.
pub(crate) fn strong(number: u64) -> Markup {
    html! { strong { (grouped(number)) } }
}

/// A name with a count: `GPTBot (12)`.
pub(crate) fn named(name: &str, number: u64) -> Markup {
    html! { (cut(name)) " (" (grouped(number)) ")" }
}

/// A list in a sentence: `a, b and c`.
pub(crate) fn listed(things: &[impl Render]) -> Markup {
    let last = things.len().saturating_sub(1);
    html! {
        @for (at, thing) in things.iter().enumerate() {
            @if at > 0 { @if at == last { " and " } @else { ", " } }
            (thing)
        }
    }
}

/// `1 crawler`, `2 crawlers`, with the number in bold.
pub(crate) fn strongly_counted(number: u64, what: &str) -> Markup {
    html! { (strong(number)) " " (what) @if number != 1 { "s" } }
}

/// `2026-03-28T00:48:00Z` as `2026-03-28 00:48`.
pub(crate) fn minute(time_utc: &str) -> String {
    match (time_utc.get(..10), time_utc.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute}"),
        _ => time_utc.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_strangers_write_is_markup() {
        let text = "<a href=\"x\" b='&'>";
        let escaped = "&lt;a href=&quot;x&quot; b='&amp;'&gt;";
        assert_eq!(code(text).render().0, format!("<code>{escaped}</code>"));
        assert_eq!(html! { p title=(text) {} }.0, format!("<p title=\"{escaped}\"></p>"));
        assert_eq!(
            code(&"ß".repeat(200)).render().0,
            format!("<code>{}…</code>", "ß".repeat(CHARS_MAX))
        );
        assert_eq!(code(&"ß".repeat(CHARS_MAX)).render().0.matches('…').count(), 0);
    }

    #[test]
    fn only_plain_names_of_files_are_links() {
        assert_eq!(file_link("a-b.csv").0, "<a href=\"./a-b.csv\">a-b.csv</a>");
        assert_eq!(file_link("a b<.csv").0, "<code>a b&lt;.csv</code>");
    }

    #[test]
    fn lists_and_times() {
        let words = ["a", "b", "<c>"];
        assert_eq!(listed(&words).0, "a, b and &lt;c&gt;");
        assert_eq!(listed(&words[..1]).0, "a");
        assert_eq!(listed(&words[..0]).0, "");
        assert_eq!(minute("2026-03-28T00:48:00Z"), "2026-03-28 00:48");
        assert_eq!(minute(""), "");
    }
}
