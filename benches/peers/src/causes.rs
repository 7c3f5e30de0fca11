//! Why a peer answers differently: its known ways, each imitated alone, then in twos, then all.
//!
//! A difference is explained by the first imitation that gives the peer's answer where exactness
//! gives ours. What no imitation gives stays unexplained, and is counted as such.

use std::borrow::Cow;
use std::fmt;

use botaudit::matcher::pattern::of_directory_index;
use botaudit::robots::model::{Directive, ParsedRobotsTxt};
use botaudit::robots::parse::parse_body;
use botaudit::url::path::Dialect::Google;
use botaudit::url::path::decode_unreserved;

use crate::engine::Engine;
use crate::files::star;

/// One way in which a peer is not Google's parser.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Cause {
    AsWritten,
    CrawlDelayEndsList,
    DecodedFirst,
    DollarAnywhere,
    DollarNotCounted,
    EmptyDisallowAllows,
    ExactFields,
    FirstByteOnly,
    FirstPlaceOnly,
    MarkSpoilsLine,
    MoreEncoded,
    NoIndexPage,
    OthersEndList,
    SlashInFront,
    SpaceSeparates,
    StarAlone,
    WholeFields,
}

use Cause::*;

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            AsWritten => "rules are compared as written: %xx not upper-cased, no byte encoded",
            CrawlDelayEndsList => "a Crawl-delay line ends a list of User-agent lines",
            DecodedFirst => "unreserved characters are decoded first, as RFC 9309 asks",
            DollarAnywhere => "a $ inside a pattern is an anchor",
            DollarNotCounted => "the $ at the end does not count in a rule's length",
            EmptyDisallowAllows => "an empty Disallow is read as Allow: /",
            ExactFields => "fields must be spelled exactly, with a colon",
            FirstByteOnly => "* goes to the first place of the next byte and never on",
            FirstPlaceOnly => "before $ only the first place of the last literal counts",
            MarkSpoilsLine => "a byte order mark spoils the first line",
            MoreEncoded => "more bytes of a rule are encoded: \" < > ` { }",
            NoIndexPage => "Allow: /index.html is not read as the directory",
            OthersEndList => "any other field ends a list of User-agent lines",
            SlashInFront => "/ is put in front of patterns that do not start with it",
            SpaceSeparates => "a space before the colon separates field and value",
            StarAlone => "only * alone means everybody",
            WholeFields => "more than the field's name before the colon spoils the line",
        })
    }
}

fn causes(engine: Engine) -> &'static [Cause] {
    match engine {
        Engine::Botaudit => &[],
        Engine::FastRobots => {
            &[DollarNotCounted, FirstPlaceOnly, AsWritten, NoIndexPage, ExactFields, StarAlone]
        }
        Engine::TextingRobots => &[
            EmptyDisallowAllows,
            MoreEncoded,
            AsWritten,
            NoIndexPage,
            DollarAnywhere,
            CrawlDelayEndsList,
            SpaceSeparates,
            WholeFields,
            StarAlone,
        ],
        Engine::Robotxt => &[
            DecodedFirst,
            SlashInFront,
            MoreEncoded,
            NoIndexPage,
            CrawlDelayEndsList,
            SpaceSeparates,
            WholeFields,
            StarAlone,
        ],
        Engine::Robotstxt => &[FirstByteOnly, OthersEndList, MarkSpoilsLine],
    }
}

/// The causes that give `answer` for `path`, as few as will do; empty where none do.
pub struct Explainer {
    imitations: Vec<Imitation>,
}

impl Explainer {
    /// Imitates `engine` on a file.
    pub fn new(engine: Engine, body: &[u8]) -> Explainer {
        let all = causes(engine);
        let ones = all.iter().map(|cause| vec![*cause]);
        let index_of = |cause: &Cause| all.iter().position(|other| other == cause);
        let twos = all.iter().flat_map(|a| all.iter().map(move |b| vec![*a, *b]));
        let twos = twos.filter(|pair| index_of(&pair[0]) < index_of(&pair[1]));
        let imitations = ones.chain(twos).chain([all.to_vec()]);
        let imitations = imitations.map(|causes| Imitation::new(body, causes)).collect();
        Explainer { imitations }
    }

    /// Why the engine gives `answer` for `path`: as few causes as will do; `None` where none do.
    pub fn explain(&self, path: &str, answer: bool) -> Option<&[Cause]> {
        let path = path.as_bytes();
        let found = self.imitations.iter().find(|imitation| imitation.allows(path) == answer);
        found.map(|imitation| &*imitation.causes)
    }
}

/// The rules of a file as a parser with some causes reads them.
struct Imitation {
    causes: Vec<Cause>,
    rules: Vec<(Directive, Vec<u8>)>,
}

impl Imitation {
    fn new(body: &[u8], causes: Vec<Cause>) -> Imitation {
        let lines = body.split(|byte| matches!(byte, b'\n' | b'\r'));
        let lines: Vec<Cow<'_, [u8]>> = lines
            .map(|line| causes.iter().fold(Cow::Borrowed(line), |line, cause| cause.rewrite(line)))
            .collect();
        let robots: ParsedRobotsTxt = parse_body(&lines.join(&b'\n'));
        let has = |cause: Cause| causes.contains(&cause);
        let mut rules = Vec::new();
        for rule in star(&robots).rules() {
            let written = if has(AsWritten) { rule.written() } else { &rule.pattern };
            match (rule.directive, written) {
                (Directive::Disallow, []) if has(EmptyDisallowAllows) => {
                    rules.push((Directive::Allow, b"/".to_vec()));
                }
                (_, []) => {}
                (directive, written) => rules.push((directive, prepared(written, &causes))),
            }
            if !has(NoIndexPage)
                && let Some(pattern) = of_directory_index(rule, Google)
            {
                rules.push((rule.directive, pattern));
            }
        }
        Imitation { causes, rules }
    }

    fn allows(&self, path: &[u8]) -> bool {
        let path = prepared(path, &self.causes);
        let matching = self.rules.iter().filter(|(_, pattern)| self.is_match(pattern, &path));
        let length = |pattern: &[u8]| {
            let is_cut = pattern.ends_with(b"$") && self.causes.contains(&DollarNotCounted);
            pattern.len() - usize::from(is_cut)
        };
        let best = matching
            .max_by_key(|(directive, pattern)| (length(pattern), *directive == Directive::Allow));
        best.is_none_or(|(directive, _)| *directive == Directive::Allow)
    }

    fn is_match(&self, pattern: &[u8], path: &[u8]) -> bool {
        let has = |cause: Cause| self.causes.contains(&cause);
        let (text, is_anchored) = match pattern {
            [text @ .., b'$'] => (text, true),
            text => (text, false),
        };
        if has(DollarAnywhere) && text.contains(&b'$') {
            return false;
        }
        let mut literals = text.split(|byte| *byte == b'*').peekable();
        let first = literals.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else { return false };
        let is_plain = literals.peek().is_none();
        while let Some(literal) = literals.next() {
            let is_last = literals.peek().is_none();
            if is_last && is_anchored && !has(FirstByteOnly) && !has(FirstPlaceOnly) {
                return rest.ends_with(literal);
            }
            let at = match literal {
                [] if is_last => return true,
                [] => Some(0),
                [byte, ..] if has(FirstByteOnly) => {
                    let at = rest.iter().position(|other| other == byte);
                    at.filter(|at| rest[*at..].starts_with(literal))
                }
                literal => rest.windows(literal.len()).position(|window| window == literal),
            };
            let Some(at) = at else { return false };
            rest = &rest[at + literal.len()..];
        }
        !is_anchored || rest.is_empty() || !is_plain && text.ends_with(b"*")
    }
}

/// A pattern or a path as it is compared.
fn prepared(text: &[u8], causes: &[Cause]) -> Vec<u8> {
    let has = |cause: Cause| causes.contains(&cause);
    let text = if has(DecodedFirst) { decode_unreserved(text) } else { Cow::Borrowed(text) };
    let mut prepared = Vec::with_capacity(text.len() + 1);
    if has(SlashInFront) && !text.starts_with(b"/") {
        prepared.push(b'/');
    }
    for byte in &*text {
        match byte {
            b'"' | b'<' | b'>' | b'`' | b'{' | b'}' | b' ' | 0x80.. if has(MoreEncoded) => {
                prepared.extend(format!("%{byte:02X}").bytes());
            }
            byte => prepared.push(*byte),
        }
    }
    prepared
}

impl Cause {
    /// The line as Google's parser must be given it to read what the peer reads.
    fn rewrite(self, line: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
        let text = line.trim_ascii();
        let (field, value) = match memchr(b':', text) {
            Some(colon) => (text[..colon].trim_ascii_end(), Some(text[colon + 1..].trim_ascii())),
            None => (text, None),
        };
        let is =
            |names: &[&str]| names.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes()));
        let starts = |names: &[&str]| {
            names.iter().any(|name| {
                field
                    .get(..name.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
            })
        };
        let known = ["user-agent", "user agent", "useragent", "allow", "disallow"];
        let ends_list = || Cow::Borrowed(&b"Disallow:"[..]);
        let nothing = || Cow::Borrowed(&b""[..]);
        match self {
            CrawlDelayEndsList if is(&["crawl-delay", "crawl delay", "crawldelay"]) => ends_list(),
            OthersEndList if value.is_some() && !starts(&known) && !text.starts_with(b"#") => {
                ends_list()
            }
            ExactFields if value.is_none() || !is(&["user-agent", "allow", "disallow"]) => {
                nothing()
            }
            WholeFields if value.is_some() && starts(&known) && !is(&known) => nothing(),
            StarAlone if is(&known[..3]) && value.is_some_and(|value| value.starts_with(b"* ")) => {
                nothing()
            }
            MarkSpoilsLine if line.starts_with(b"\xEF\xBB\xBF") => nothing(),
            SpaceSeparates => match memchr(b' ', text) {
                Some(space) if starts(&known[3..]) && field.len() > space => {
                    Cow::Owned([&text[..space], b":", &text[space..]].concat())
                }
                _ => line,
            },
            _ => line,
        }
    }
}

fn memchr(byte: u8, text: &[u8]) -> Option<usize> {
    text.iter().position(|other| *other == byte)
}
