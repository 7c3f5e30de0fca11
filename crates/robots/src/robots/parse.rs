//! From the bytes of a robots.txt to groups of rules.
//!
//! Only Allow and Disallow lines close a list of User-agent lines: sitemaps,
//! unknown fields, garbage, comments and blank lines never end a group.

use std::num::NonZeroU32;

use bytes::Bytes;
use memchr::memrchr2;

use super::crawl_delay::UserAgentList;
use super::lines::{self, Content, Field, FieldKind, RobotsTxtLine, Separator, Spelling};
use super::model::{
    Directive, Group, ParsedRobotsTxt, ProductToken, Rule, Sitemap, UsageStatement,
};
use super::usage::{self, USAGE_LINES_MAX};

/// Something odd on one line, found while a robots.txt is parsed: a fact, whose meaning `lint` explains.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// 1-based.
    pub line: u32,
    pub kind: FindingKind,
}

/// The kinds of oddities. One line may have several.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FindingKind {
    /// The text starts with this many bytes of a byte-order mark; 3 is a whole one.
    ByteOrderMark(usize),
    /// The line has this many bytes; those past the limit were dropped.
    LineTooLong(usize),
    /// A NUL hides the rest of the line.
    Nul,
    /// Neither blank nor a comment, but without key and value: ignored.
    NoField,
    /// A space or tab is in the place of the colon.
    MissingColon(FieldKind),
    /// This misspelled key was accepted.
    AcceptedTypo(FieldKind, Box<[u8]>),
    /// This key is in use elsewhere, but changes no verdict.
    UnusedField(Box<[u8]>),
    /// No known parser reads this key.
    UnknownField(Box<[u8]>),
    /// A rule before any User-agent line: it has no effect.
    RuleOutsideGroup(Directive),
}

/// Bytes of a body that count, 500 KiB: Google's documented limit, and the
/// least that RFC 9309 section 2.5 asks a crawler to parse.
pub const BODY_BYTES_MAX: usize = 500 * 1024;

/// The part of a fetched body that counts: the lines that end within the limit. A line across the
/// limit does not count at all, because half a rule is another rule: `/last` would become `/`.
pub fn cut(body: &[u8]) -> &[u8] {
    let Some(next) = body.get(BODY_BYTES_MAX) else { return body };
    let head = &body[..BODY_BYTES_MAX];
    if matches!(next, b'\n' | b'\r') {
        return head;
    }
    &head[..memrchr2(b'\n', b'\r', head).map_or(0, |end| end + 1)]
}

/// Reads a fetched body: cuts it, and keeps no findings.
pub fn parse_body(body: &[u8]) -> ParsedRobotsTxt {
    read(Bytes::copy_from_slice(cut(body)), &mut |_, _| {})
}

/// Parses exactly these bytes, and returns findings.
///
/// ```
/// let (robots, findings) = botaudit_robots::robots::parse::parse(b"User-agent: *\nDisalow: /private");
/// assert_eq!(&*robots.groups[0].rules[0].pattern, b"/private");
/// assert_eq!(findings[0].line, 2);
/// ```
pub fn parse(text: &[u8]) -> (ParsedRobotsTxt, Vec<Finding>) {
    let mut findings = Vec::new();
    let robots = read(Bytes::copy_from_slice(text), &mut |line, kind: &dyn Fn() -> FindingKind| {
        findings.push(Finding { line, kind: kind() });
    });
    (robots, findings)
}

/// Takes a line number and a way to make the finding, so that a reader without a listener makes
/// none.
pub(super) type Listener<'l> = dyn FnMut(u32, &dyn Fn() -> FindingKind) + 'l;

/// Reads `body` for its findings alone.
pub(super) fn listen(body: Bytes, listener: &mut Listener<'_>) {
    read(body, listener);
}

/// The lists of User-agent lines, as fields other than rules close them.
#[derive(Default)]
struct Lists {
    crawl_delay: UserAgentList,
    usage: UserAgentList,
}

fn read(body: Bytes, listener: &mut Listener<'_>) -> ParsedRobotsTxt {
    let text = body.clone();
    let mut robots = ParsedRobotsTxt { body, ..ParsedRobotsTxt::default() };
    let mut lists = Lists::default();
    let mark = lines::byte_order_mark_bytes(&text);
    if mark > 0 {
        listener(1, &|| FindingKind::ByteOrderMark(mark));
    }
    for line in lines::lines(&text) {
        robots.lines = line.number;
        report_bytes(&line, listener);
        match lines::read(&line) {
            Content::Blank | Content::Comment => {}
            Content::NoField => listener(line.number, &|| FindingKind::NoField),
            Content::Field(field) => {
                report_field(&line, &field, listener);
                add(&mut robots, &line, &field, &mut lists, listener);
            }
        }
    }
    close_group(&mut robots);
    robots.groups.shrink_to_fit();
    robots
}

fn add(
    robots: &mut ParsedRobotsTxt,
    line: &RobotsTxtLine<'_>,
    field: &Field<'_>,
    lists: &mut Lists,
    listener: &mut Listener<'_>,
) {
    if !matches!(field.kind, FieldKind::UserAgent | FieldKind::Allow | FieldKind::Disallow) {
        note_other_field(robots, line.number);
    }
    let directive = match field.kind {
        FieldKind::UserAgent => {
            add_product_token(robots, line.number, field.value);
            lists.crawl_delay.user_agent(robots);
            return lists.usage.user_agent(robots);
        }
        FieldKind::Sitemap => {
            return robots.sitemaps.push(Sitemap { url: field.value.into(), line: line.number });
        }
        FieldKind::Unused if field.key.eq_ignore_ascii_case(b"crawl-delay") => {
            return lists.crawl_delay.crawl_delay(robots, field.value, line.number);
        }
        FieldKind::Unused => return add_usage(robots, line.number, field, &mut lists.usage),
        FieldKind::Unknown => return add_license(robots, line.number, field),
        FieldKind::Allow => Directive::Allow,
        FieldKind::Disallow => Directive::Disallow,
    };
    match robots.groups.last_mut() {
        Some(group) => {
            let written = robots.body.slice_ref(field.value);
            group.rules.push(Rule::new(directive, written, line.number));
        }
        None => listener(line.number, &|| FindingKind::RuleOutsideGroup(directive)),
    }
}

fn add_product_token(robots: &mut ParsedRobotsTxt, line: u32, value: &[u8]) {
    if robots.groups.last().is_none_or(|group| !group.rules.is_empty()) {
        close_group(robots);
        robots.groups.push(Group::default());
    }
    let token = ProductToken { written: value.into(), line, other_field: None };
    robots.groups.last_mut().expect("pushed if there was none").product_tokens.push(token);
}

fn add_usage(robots: &mut ParsedRobotsTxt, line: u32, field: &Field<'_>, list: &mut UserAgentList) {
    let Some(signal) = usage::signal(field) else { return };
    let Some((group, product_tokens)) = list.close(robots) else { return };
    if robots.usage.len() < USAGE_LINES_MAX {
        let (path, members) = usage::value(signal, field.value);
        let preferences = usage::preferences(&members.unwrap_or_default()).into();
        let path = Rule::new(Directive::Disallow, robots.body.slice_ref(path), line);
        robots.usage.push(UsageStatement { signal, path, preferences, group, product_tokens });
    }
}

fn add_license(robots: &mut ParsedRobotsTxt, line: u32, field: &Field<'_>) {
    if usage::is_license(field)
        && usage::is_license_url(field.value)
        && robots.licenses.len() < USAGE_LINES_MAX
    {
        robots.licenses.push(Sitemap { url: field.value.into(), line });
    }
}

/// Notes another field than a rule on `line`, after a User-agent line.
fn note_other_field(robots: &mut ParsedRobotsTxt, line: u32) {
    if let Some(group) = robots.groups.last_mut().filter(|group| group.rules.is_empty())
        && let Some(token) = group.product_tokens.last_mut()
    {
        token.other_field = token.other_field.or(NonZeroU32::new(line));
    }
}

/// Frees the unused capacity of a finished group. Otherwise a hostile file of tiny groups would
/// take twenty times its size.
fn close_group(robots: &mut ParsedRobotsTxt) {
    if let Some(group) = robots.groups.last_mut() {
        group.product_tokens.shrink_to_fit();
        group.rules.shrink_to_fit();
    }
}

fn report_bytes(line: &RobotsTxtLine<'_>, listener: &mut Listener<'_>) {
    if line.is_too_long() {
        listener(line.number, &|| FindingKind::LineTooLong(line.length_bytes));
    }
    if line.has_nul {
        listener(line.number, &|| FindingKind::Nul);
    }
}

fn report_field(line: &RobotsTxtLine<'_>, field: &Field<'_>, listener: &mut Listener<'_>) {
    if field.separator == Separator::Whitespace {
        listener(line.number, &|| FindingKind::MissingColon(field.kind));
    }
    if field.spelling == Spelling::AcceptedTypo {
        listener(line.number, &|| FindingKind::AcceptedTypo(field.kind, field.key.into()));
    }
    match field.kind {
        FieldKind::Unused => listener(line.number, &|| FindingKind::UnusedField(field.key.into())),
        FieldKind::Unknown => {
            listener(line.number, &|| FindingKind::UnknownField(field.key.into()));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Vec<(Vec<String>, Vec<u32>)> {
        let written = |token: &ProductToken| String::from_utf8_lossy(&token.written).into_owned();
        let (robots, _) = parse(text.as_bytes());
        assert_eq!(robots, parse_body(text.as_bytes()));
        let groups = robots.groups.iter();
        let shape = |group: &Group| {
            (
                group.product_tokens.iter().map(written).collect(),
                group.rules.iter().map(|rule| rule.line).collect(),
            )
        };
        groups.map(shape).collect()
    }

    #[test]
    fn only_rules_close_a_list_of_tokens() {
        let text = "disallow: /0\nuser-agent: a\n\nsitemap: x\nfoo: y\nuser agent x y\n# c\n\
                    user-agent: b\ndisallow:\ncrawl-delay: 1\nallow: /\nuser-agent: c";
        let expected = vec![
            (vec!["a".to_string(), "b".to_string()], vec![9, 11]),
            (vec!["c".to_string()], vec![]),
        ];
        assert_eq!(shape(text), expected);
    }

    #[test]
    fn a_group_continues_over_other_fields() {
        let (robots, _) = parse(
            b"user-agent: a\ncrawl-delay: 9\n\nuser-agent: b\nuser-agent: *\nsitemap: x\nfoo: y\n\
              user-agent: c\nfoo: z\ndisallow: /\nuser-agent: d\nfoo: 1\nallow: /\nuser-agent: a",
        );
        let continued =
            |group: usize, token: &str| robots.groups[group].continued_over(token.as_bytes());
        assert_eq!(
            ["a", "b", "*", "c", "d"].map(|token| continued(0, token)),
            [Some(2), Some(6), Some(6), None, None]
        );
        assert_eq!((continued(1, "d"), continued(2, "a")), (None, None));
        let (robots, _) = parse(b"user-agent: a\nfoo: 1\nuser-agent: b\nuser-agent: A/2\nallow: /");
        assert_eq!(robots.groups[0].continued_over(b"a"), None, "named again after the field");
    }

    #[test]
    fn findings() {
        let text = b"\xef\xbb\xbfallow: /\nuseragent: a\nDisallow /x\ndissalow /y\n\
                     crawl-delay: 1\nfoo: 1\nuser agent x\na\0b\n#\n\n";
        let (_, findings) = parse(text);
        use FindingKind::*;
        let expected = [
            (1, ByteOrderMark(3)),
            (1, RuleOutsideGroup(Directive::Allow)),
            (2, AcceptedTypo(FieldKind::UserAgent, b"useragent"[..].into())),
            (3, MissingColon(FieldKind::Disallow)),
            (4, MissingColon(FieldKind::Disallow)),
            (4, AcceptedTypo(FieldKind::Disallow, b"dissalow"[..].into())),
            (5, UnusedField(b"crawl-delay"[..].into())),
            (6, UnknownField(b"foo"[..].into())),
            (7, NoField),
            (8, Nul),
            (8, NoField),
        ];
        let found: Vec<_> = findings.into_iter().map(|f| (f.line, f.kind)).collect();
        assert_eq!(found, expected);
    }

    /// Each statement as `line path: product tokens: preferences`.
    #[track_caller]
    fn check_usage(text: &str, expected: &[&str]) {
        let robots = parse_body(text.as_bytes());
        let described = robots.usage.iter().map(|usage| {
            let tokens = usage.product_tokens(&robots).iter();
            let tokens: Vec<_> =
                tokens.map(|token| String::from_utf8_lossy(&token.written)).collect();
            let what: Vec<_> = usage.preferences.iter().map(|(_, what)| what.as_str()).collect();
            let Rule { line, pattern, .. } = &usage.path;
            let path = String::from_utf8_lossy(pattern);
            format!("{line} {path}: {}: {}", tokens.join(" "), what.join(" "))
        });
        assert_eq!(described.collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn statements_of_use_are_meant_for_the_list_above_them() {
        check_usage("Content-Usage: train-ai=n\nUser-agent: *\nAllow: /\n", &[]);
        check_usage(
            "User-agent: *\nCONTENT-usage : /a%2f\ttrain-ai=n # y",
            &["2 /a%2F: *: reserved"],
        );
        check_usage(
            "User-agent: a\nCrawl-delay: 1\nUser-agent: b\nContent-Usage: train-ai=n\n\
             User-agent: c\nContent-Signal: search=yes\nAllow: /\nContent-Usage: ?\n",
            &["4 : a b: reserved", "6 : c: permitted", "8 : c: "],
        );
        // A colon is required.
        check_usage("User-agent: *\nContent-Usage train-ai=n\nContent-Usages: train-ai=n\n", &[]);
    }

    #[test]
    fn statements_of_use_change_neither_rules_nor_groups() {
        let text = "User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /";
        let other = text.replace("Content-Usage", "Crawl-delay");
        let [robots, other] = [text, &other].map(|text| parse_body(text.as_bytes()).groups);
        assert_eq!((&robots, robots.len()), (&other, 1));
    }

    #[test]
    fn licences_belong_to_no_group() {
        let robots = parse_body(b"license: https://a.example/l.xml\nLicense: MIT\nUser-agent: a");
        let lines: Vec<u32> = robots.licenses.iter().map(|license| license.line).collect();
        assert_eq!((lines, robots.groups.len()), (vec![1], 1));
    }

    #[test]
    fn a_hostile_number_of_statements_is_cut() {
        let lines = "Content-Usage: a\nlicense: a://b\n".repeat(USAGE_LINES_MAX + 1);
        let robots = parse_body(format!("User-agent: *\n{lines}").as_bytes());
        assert_eq!((robots.usage.len(), robots.licenses.len()), (USAGE_LINES_MAX, USAGE_LINES_MAX));
    }

    /// The rules of a body in which a line begins so many bytes before the limit.
    #[track_caller]
    fn check_at_limit(before: usize, rest: &[u8], expected: &[&str]) {
        let mut body = b"User-agent: *\n".to_vec();
        body.resize(BODY_BYTES_MAX - before, b'\n');
        body.extend(rest);
        let rules = |body: &[u8]| -> Vec<String> {
            let robots = parse_body(body);
            let rules = robots.groups.iter().flat_map(|group| &group.rules);
            rules.map(|rule| String::from_utf8_lossy(&rule.pattern).into_owned()).collect()
        };
        let what = rest.escape_ascii();
        assert_eq!(rules(&body), expected, "{what}");
        // A report keeps only what counts, and reads it again.
        assert_eq!(cut(cut(&body)), cut(&body), "{what}");
    }

    #[test]
    fn a_line_across_the_limit_is_no_line() {
        check_at_limit(11, b"Disallow: /long", &[]);
        check_at_limit(11, b"Disallow: /long\nDisallow: /x\n", &[]);
        check_at_limit(12, b"Disallow: /a", &["/a"]);
        check_at_limit(12, b"Disallow: /a\n", &["/a"]);
        check_at_limit(12, b"Disallow: /a\rDisallow: /b", &["/a"]);
        check_at_limit(13, b"Disallow: /a\r\nDisallow: /b", &["/a"]);
        check_at_limit(14, b"Disallow: /a\r\nDisallow: /b", &["/a"]);
        check_at_limit(14, b"Disallow: /a\rDisallow: /b", &["/a"]);
        let endless = [&b"User-agent: *"[..], &[b' '; BODY_BYTES_MAX]].concat();
        assert_eq!(cut(&endless), b"");
        assert_eq!(parse(&endless).0.groups.len(), 1, "the parser itself has no limit");
    }
}
