//! Links of a crawler's page to its address lists: `<link rel="client-ranges" href="…">`
//! (draft-illyes-webbotauth-cbcp).

/// The most links of one page that are used.
const LINKS_MAX: usize = 16;

/// The most attributes of one element that are read.
const ATTRIBUTES_MAX: usize = 64;

/// The targets of the links in `page`, as they are written there, without those in comments.
pub(crate) fn client_ranges(page: &[u8]) -> Vec<String> {
    let (mut rest, mut found) = (page, Vec::new());
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix(b"!--") {
            let end = memchr::memmem::find(comment, b"-->");
            rest = end.map_or(&[], |end| &comment[end..]);
            continue;
        }
        let is_link = rest.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"link"))
            && rest.get(4).is_some_and(|&byte| is_blank(byte) || byte == b'/');
        if !is_link {
            continue;
        }
        let attributes;
        (attributes, rest) = read_attributes(&rest[4..]);
        let value = |wanted: &[u8]| {
            let mut named = attributes.iter();
            named.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| *value)
        };
        let is_wanted = value(b"rel").is_some_and(|rel| {
            rel.split(|&byte| is_blank(byte)).any(|rel| rel.eq_ignore_ascii_case(b"client-ranges"))
        });
        let target = value(b"href").and_then(|href| str::from_utf8(href.trim_ascii()).ok());
        if let Some(target) = target.filter(|target| is_wanted && !target.is_empty()) {
            found.push(target.replace("&amp;", "&"));
        }
        if found.len() == LINKS_MAX {
            break;
        }
    }
    found
}

type Attribute<'a> = (&'a [u8], &'a [u8]);

/// The attributes of an element, and what follows it.
fn read_attributes(text: &[u8]) -> (Vec<Attribute<'_>>, &[u8]) {
    let (mut rest, mut attributes) = (text, Vec::new());
    loop {
        rest = skip(rest, |byte| is_blank(byte) || byte == b'/');
        match rest {
            [] => return (attributes, rest),
            [b'>', after @ ..] => return (attributes, after),
            _ => {}
        }
        let after_name = skip(rest, |byte| !is_blank(byte) && !b"=/>".contains(&byte));
        let name = &rest[..rest.len() - after_name.len()];
        let after_blanks = skip(after_name, is_blank);
        let value;
        (value, rest) = match after_blanks {
            [b'=', after @ ..] => read_value(skip(after, is_blank)),
            _ => (&[][..], after_name),
        };
        if attributes.len() < ATTRIBUTES_MAX {
            attributes.push((name, value));
        }
        // A sign without a name.
        if name.is_empty() && value.is_empty() {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
}

fn read_value(text: &[u8]) -> (&[u8], &[u8]) {
    match text {
        [quote @ (b'"' | b'\''), after @ ..] => match memchr::memchr(*quote, after) {
            Some(end) => (&after[..end], &after[end + 1..]),
            None => (after, &[]),
        },
        _ => {
            let after = skip(text, |byte| !is_blank(byte) && byte != b'>');
            (&text[..text.len() - after.len()], after)
        }
    }
}

fn skip(text: &[u8], is_skipped: impl Fn(u8) -> bool) -> &[u8] {
    let end = text.iter().position(|&byte| !is_skipped(byte)).unwrap_or(text.len());
    &text[end..]
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_as_browsers_find_them() {
        let check = |page: &str, expected: &[&str]| {
            assert_eq!(client_ranges(page.as_bytes()), expected, "{page}");
        };
        check(
            r#"<link rel="client-ranges" href="https://example.com/ips.json">"#,
            &["https://example.com/ips.json"],
        );
        check("<html><HEAD><LINK HREF=/ips.json REL='alternate Client-Ranges'/>", &["/ips.json"]);
        check("<link\n rel = client-ranges\n href = 'a?b=1&amp;c=2' >", &["a?b=1&c=2"]);
        check(
            r#"<link rel="client-ranges" href="a"><p><link href="b" rel="client-ranges" >"#,
            &["a", "b"],
        );
        for page in [
            "",
            "<",
            "<link",
            "<link rel=client-ranges>",
            "<link rel=client-ranges href=''>",
            "<link rel=client-rangesx href=a>",
            "<linked rel=client-ranges href=a>",
            "<!-- <link rel=client-ranges href=a> -->",
            "<!-- <link rel=client-ranges href=a>",
            "<link rel=\"client-ranges href=a>",
            "<link rel=stylesheet title='rel=client-ranges' href=a>",
            "<link === = / > rel=client-ranges href=a>",
        ] {
            check(page, &[]);
        }
        check(&"<link rel=client-ranges href=a>".repeat(99), &["a"; LINKS_MAX]);
    }

    /// A page of a stranger takes no more time than its length.
    #[test]
    fn odd_pages_end() {
        for part in
            ["<", "<link ", "<link =", "<!--", "<link a=\"", "<link a='", "<link/", "<link \u{0}="]
        {
            client_ranges(part.repeat(20_000).as_bytes());
        }
    }
}
