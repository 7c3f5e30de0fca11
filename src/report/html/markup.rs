//! Text as HTML.

use super::super::format::grouped;

/// Characters of a stranger's text that are shown; the CSV has all.
const CHARS_MAX: usize = 160;

/// `text` as the content of an element or a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

/// The beginning of what strangers wrote, set off from our own words.
pub fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(&cut(text)))
}

/// The beginning of `text`, and `…` where more follows.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A number that stands out.
pub fn strong(number: u64) -> String {
    format!("<strong>{}</strong>", grouped(number))
}

/// Several things in a sentence: `a, b and c`.
pub fn listed(things: &[String]) -> String {
    match things {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `1 crawler`, `2 crawlers`, with the number standing out.
pub fn strongly_counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", strong(number), if number == 1 { "" } else { "s" })
}

/// `2026-03-28T00:48:00Z` as `2026-03-28 00:48`.
pub fn minute(time_utc: &str) -> String {
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
        assert_eq!(
            escape("<a href=\"x\" b='&'>"),
            "&lt;a href=&quot;x&quot; b=&#39;&amp;&#39;&gt;"
        );
        assert_eq!(code(&"ß".repeat(200)), format!("<code>{}…</code>", "ß".repeat(CHARS_MAX)));
    }

    #[test]
    fn lists_and_times() {
        let words = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&words), "a, b and c");
        assert_eq!(listed(&words[..1]), "a");
        assert_eq!(minute("2026-03-28T00:48:00Z"), "2026-03-28 00:48");
        assert_eq!(minute(""), "");
    }
}
