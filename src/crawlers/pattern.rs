//! One user agent regex: how it is compiled, and the literals it cannot match without.
//!
//! Most patterns of a registry are plain names. For these, a needle is the match, and no regex is
//! built. For the others, a needle is a reason to try the regex. Both are derived from the
//! case-folded expression itself.

use std::{borrow::Cow, sync::OnceLock};

use regex_automata::{Input, meta, nfa::thompson::WhichCaptures, util::syntax};
use regex_syntax::hir::{Class, Hir, HirKind};

use super::needles::NEEDLE_BYTES_MIN;

/// The size limit of one compiled pattern, in bytes. The largest built-in one takes about 10 KiB;
/// only excessive counted repetitions exceed it.
const NFA_BYTES_MAX: usize = 1 << 20;

/// The most strings that one part of a pattern is expanded to. With more, or for larger classes,
/// that part gives no needle.
const SPELLINGS_MAX: usize = 16;

/// A user agent regex, ready to match.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// Lower-case strings. Every user agent that the regex matches contains one of them, in any
    /// ASCII case. If this is empty, always try the regex.
    pub needles: Vec<Cow<'static, [u8]>>,
    /// `None` if holding a needle is all there is to it.
    regex: Option<Box<LazyRegex>>,
}

/// A regex that is built when it is first asked: most of a registry never are.
#[derive(Debug)]
struct LazyRegex {
    text: Cow<'static, str>,
    built: OnceLock<Result<meta::Regex, String>>,
}

impl LazyRegex {
    fn new(text: impl Into<Cow<'static, str>>) -> Box<LazyRegex> {
        Box::new(LazyRegex { text: text.into(), built: OnceLock::new() })
    }

    fn built(&self) -> Result<&meta::Regex, String> {
        self.built.get_or_init(|| build(&parse(&self.text)?)).as_ref().map_err(Clone::clone)
    }

    /// Whether it matches; a regex that cannot be built matches nothing.
    fn is_match(&self, user_agent: &[u8]) -> bool {
        self.built().is_ok_and(|regex| regex.is_match(Input::new(user_agent)))
    }
}

impl Pattern {
    /// Reads `text`: ASCII case-insensitive, bytes, `\b` and `\d` ASCII.
    ///
    /// The error says what is wrong with it, on one line. A pattern that
    /// matches the empty text is refused, since it would match any browser.
    pub(crate) fn new(text: &str) -> Result<Pattern, String> {
        if let Some(needles) = names(text) {
            return Ok(Pattern::of(needles, None));
        }
        let hir = parse(text)?;
        if hir.properties().minimum_len() == Some(0) {
            return Err("it matches every user agent, because it matches empty text".to_owned());
        }
        if let Some(needles) = spellings(&hir).and_then(usable) {
            return Ok(Pattern::of(needles, None));
        }
        Ok(Pattern::of(required(&hir).unwrap_or_default(), Some(text.to_owned())))
    }

    fn of(needles: Vec<Vec<u8>>, regex: Option<String>) -> Pattern {
        let needles = needles.into_iter().map(Cow::Owned).collect();
        Pattern { needles, regex: regex.map(LazyRegex::new) }
    }

    /// A pattern of which the `needles` are known, and the `regex` unless they suffice.
    pub(crate) fn known(needles: Vec<Cow<'static, [u8]>>, regex: Option<&'static str>) -> Pattern {
        Pattern { needles, regex: regex.map(LazyRegex::new) }
    }

    /// Whether a regex decides after a needle was found.
    pub(crate) fn has_regex(&self) -> bool {
        self.regex.is_some()
    }

    /// Builds what would otherwise be built when it is first asked, and says why that is not
    /// possible.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.regex.as_ref().map_or(Ok(()), |regex| regex.built().map(|_| ()))
    }

    /// Whether the regex agrees, where `user_agent` is known to hold a needle.
    pub(crate) fn is_confirmed(&self, user_agent: &[u8]) -> bool {
        self.regex.as_ref().is_none_or(|regex| regex.is_match(user_agent))
    }

    /// Whether `user_agent` matches, with nothing known beforehand.
    pub(crate) fn is_match(&self, user_agent: &[u8]) -> bool {
        match &self.regex {
            Some(regex) => regex.is_match(user_agent),
            None => self.needles.iter().any(|needle| {
                user_agent.windows(needle.len()).any(|part| part.eq_ignore_ascii_case(needle))
            }),
        }
    }
}

/// A fast path for patterns that are one or more names. Most patterns are, and parsing them took a
/// quarter of the start-up time.
fn names(text: &str) -> Option<Vec<Vec<u8>>> {
    let found: Option<Vec<Vec<u8>>> = text.split('|').map(name).collect();
    few(found?).and_then(usable)
}

/// The text that a regex without special characters matches.
fn name(regex: &str) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(regex.len());
    let mut bytes = regex.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => name.push(bytes.next().filter(|byte| b".+-/()".contains(byte))?),
            byte if byte.is_ascii_alphanumeric() || b" -_/:,;=!@%".contains(&byte) => {
                name.push(byte.to_ascii_lowercase());
            }
            _ => return None,
        }
    }
    Some(name)
}

fn parse(text: &str) -> Result<Hir, String> {
    let config = syntax::Config::new().case_insensitive(true).unicode(false).utf8(false);
    syntax::parse_with(text, &config).map_err(|error| one_line(&error))
}

/// Those that are asked are known to hold a needle: nothing is worth building beforehand.
fn build(hir: &Hir) -> Result<meta::Regex, String> {
    let config = meta::Config::new()
        .auto_prefilter(false)
        .dfa(false)
        .onepass(false)
        .utf8_empty(false)
        .nfa_size_limit(Some(NFA_BYTES_MAX))
        .which_captures(WhichCaptures::None);
    let regex = meta::Builder::new().configure(config).build_from_hir(hir);
    regex.map_err(|error| match error.size_limit() {
        Some(_) => "it is too large; use shorter repetitions".to_owned(),
        None => one_line(&error),
    })
}

/// The last line of a regex error, which has the reason; the lines before show the position.
fn one_line(error: &dyn std::error::Error) -> String {
    let deepest = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let last = deepest.lines().last().unwrap_or_default().trim();
    last.trim_start_matches("error: ").to_owned()
}

/// Every text that `hir` matches, in lower case, if these are few and `hir` matches each of them in
/// any ASCII case and context.
fn spellings(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    match hir.kind() {
        HirKind::Empty => Some(vec![Vec::new()]),
        // A letter in only one case is excluded from case folding.
        HirKind::Literal(literal) if literal.0.iter().any(u8::is_ascii_alphabetic) => None,
        HirKind::Literal(literal) => Some(vec![literal.0.to_vec()]),
        HirKind::Class(class) => class_spellings(class),
        HirKind::Look(_) => None,
        HirKind::Repetition(repetition) if repetition.max == Some(1) => {
            let mut found = spellings(&repetition.sub)?;
            found.push(Vec::new());
            few(found)
        }
        HirKind::Repetition(_) => None,
        HirKind::Capture(capture) => spellings(&capture.sub),
        HirKind::Concat(parts) => {
            parts.iter().try_fold(vec![Vec::new()], |heads, part| joined(&heads, &spellings(part)?))
        }
        HirKind::Alternation(branches) => {
            let found = branches.iter().map(spellings).collect::<Option<Vec<_>>>()?;
            few(found.concat())
        }
    }
}

fn class_spellings(class: &Class) -> Option<Vec<Vec<u8>>> {
    let class = match class {
        Class::Bytes(class) => class,
        // Unicode's folding joins some ASCII letters with others: `k` and the Kelvin sign.
        Class::Unicode(class) => &class.to_byte_class()?,
    };
    let bytes = || class.iter().flat_map(|range| range.start()..=range.end());
    if bytes().count() > SPELLINGS_MAX {
        return None;
    }
    let members: Vec<u8> = bytes().collect();
    let swapped = |byte: u8| if byte.is_ascii_alphabetic() { byte ^ 0x20 } else { byte };
    if !members.iter().all(|&byte| members.contains(&swapped(byte))) {
        return None;
    }
    few(members.iter().map(|byte| vec![byte.to_ascii_lowercase()]).collect())
}

/// A set such that every match of `hir` contains a member, in any ASCII case. Of several sets, the
/// one with the longest shortest member.
fn required(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    if let Some(found) = spellings(hir) {
        return usable(found);
    }
    match hir.kind() {
        HirKind::Literal(literal) => usable(vec![literal.0.to_ascii_lowercase()]),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Concat(parts) => required_of_concat(parts),
        HirKind::Alternation(branches) => {
            let found = branches.iter().map(required).collect::<Option<Vec<_>>>()?;
            Some(found.concat())
        }
        _ => None,
    }
}

/// Joins neighbours that can be spelled out, for longer needles.
fn required_of_concat(parts: &[Hir]) -> Option<Vec<Vec<u8>>> {
    let mut best = None;
    let mut run = vec![Vec::new()];
    for part in parts {
        // An anchor or a word boundary has no width: the parts on its two sides are adjacent.
        if matches!(part.kind(), HirKind::Look(_)) {
            continue;
        }
        let spelled = spellings(part);
        match spelled.as_ref().and_then(|tails| joined(&run, tails)) {
            Some(longer) => run = longer,
            None => {
                best = better(best, usable(std::mem::replace(&mut run, vec![Vec::new()])));
                match spelled {
                    Some(alone) => run = alone,
                    None => best = better(best, required(part)),
                }
            }
        }
    }
    better(best, usable(run))
}

fn joined(heads: &[Vec<u8>], tails: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    if heads.len() * tails.len() > SPELLINGS_MAX {
        return None;
    }
    let pairs = heads.iter().flat_map(|head| tails.iter().map(move |tail| (head, tail)));
    few(pairs.map(|(head, tail)| [head.as_slice(), tail].concat()).collect())
}

fn few(mut found: Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
    found.sort();
    found.dedup();
    (found.len() <= SPELLINGS_MAX).then_some(found)
}

/// A single byte is found nearly everywhere, so a set with one is of little use.
fn usable(found: Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
    (!found.is_empty() && found.iter().all(|needle| needle.len() >= NEEDLE_BYTES_MIN))
        .then_some(found)
}

fn better(left: Option<Vec<Vec<u8>>>, right: Option<Vec<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
    let shortest =
        |set: &Option<Vec<Vec<u8>>>| set.as_ref().map(|set| set.iter().map(Vec::len).min());
    if shortest(&right) > shortest(&left) { right } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[track_caller]
    fn check(text: &str, exactness: &str, needles: &str) {
        let pattern = Pattern::new(text).unwrap();
        let found: Vec<_> =
            pattern.needles.iter().map(|needle| String::from_utf8_lossy(needle)).collect();
        let exact = if pattern.regex.is_none() { "exact" } else { "ask" };
        assert_eq!((exact, found.join(" ").as_str()), (exactness, needles), "{text}");
    }

    /// Checks all built-in patterns and some more.
    #[test]
    fn names_are_what_parsing_gives() {
        let registry = crate::crawlers::registry::Registry::builtin();
        let own = registry
            .crawlers()
            .flat_map(|crawler| [&crawler.user_agent_regex, &crawler.user_agent_exclude]);
        let mut texts: Vec<&str> = own.map(String::as_str).collect();
        texts.extend([
            "a",
            "a|bc",
            "bc|",
            "|",
            r"a\.b|B\-c|a\.B",
            r"a\b",
            r"a\",
            "a.b",
            "é",
            "zz|yy|ZZ",
        ]);
        let mut count = 0;
        for text in texts {
            let Some(found) = names(text) else { continue };
            let hir = parse(text).unwrap();
            assert_eq!(Some(found), spellings(&hir).and_then(usable), "{text}");
            count += 1;
        }
        assert!(count > 200);
    }

    #[test]
    fn needles_are_what_a_match_cannot_lack() {
        check("GPTBot", "exact", "gptbot");
        check("Facebook[Bb]ot", "exact", "facebookbot");
        check("msnbot[-/]", "exact", "msnbot- msnbot/");
        check("Google-?Agent", "exact", "google-agent googleagent");
        check("feed(?:ly|bin)|rss", "exact", "feedbin feedly rss");
        check(r"\bOnCrawl\b", "ask", "oncrawl");
        check(r"^curl/", "ask", "curl/");
        check(r"^Pinterest/[a-z]|pinterest\.com/bot", "ask", "pinterest/ pinterest.com/bot");
        check(r"ias-[a-z]{2}/", "ask", "ias-");
        check(r"ExaBot[^)]*exa\.ai", "ask", "exabot");
        check(r"x\d+longer\d+", "ask", "longer");
        check(r"(?:foo[01])+", "ask", "foo0 foo1");
        check(r"\d{4}", "ask", "");
        check(r"foo\d|[a-z]+", "ask", "");
        check(r"[a-z]x", "ask", "");
        // Without case folding, or with that of Unicode.
        check("(?-i:Foo)ba", "ask", "foo");
        check("(?u)kelvin", "ask", "elvin");
        check("(?u:k)", "ask", "");
    }

    #[test]
    fn errors_fit_on_a_line() {
        for (text, expected) in [
            ("bot(", "unclosed group"),
            ("(?=bot)bot", "look-around, including look-ahead and look-behind, is not supported"),
            ("b*", "it matches every user agent, because it matches empty text"),
            ("(?:[a-z]{1000}){1000}", "it is too large; use shorter repetitions"),
        ] {
            assert_eq!(
                Pattern::new(text).and_then(|pattern| pattern.check()).unwrap_err(),
                expected,
                "{text}"
            );
        }
    }

    const PIECES: [&str; 21] = [
        "ab",
        "Ab",
        "b",
        "a?",
        "(?:ab|cd)",
        "(?:ab|c+)",
        "[ab]",
        "[^a]",
        ".",
        r"\b",
        "^",
        "$",
        "|",
        "(?-i:aB)",
        "(?:a|b){2}",
        "(?:cd)+",
        "(?:cd)*",
        r"(?u:[k\xe9])",
        r"\d",
        "(?i:cD)?",
        "[0-9]a",
    ];
    const TEXTS: [&str; 11] =
        ["a", "b", "AB", "cd", "C", "k", "\u{212a}", "7", " ", "\u{e9}", "ab"];

    /// Patterns of random pieces: needles are sound, and exact ones suffice.
    #[test]
    fn needles_of_any_pattern_are_sound() {
        let mut random = Random::new();
        let mut below = |limit: usize| random.below(limit);
        for _ in 0..2000 {
            let text: String = (0..=below(5)).map(|_| PIECES[below(PIECES.len())]).collect();
            let Ok(pattern) = Pattern::new(&text) else { continue };
            let regex = meta::Builder::new().build_from_hir(&parse(&text).unwrap()).unwrap();
            for _ in 0..50 {
                let haystack: String = (0..=below(6)).map(|_| TEXTS[below(TEXTS.len())]).collect();
                check_sound(&text, &pattern, &regex, haystack.as_bytes());
            }
        }
    }

    fn check_sound(text: &str, pattern: &Pattern, regex: &meta::Regex, haystack: &[u8]) {
        let expected = regex.is_match(haystack);
        let folded = haystack.to_ascii_lowercase();
        let holds =
            |needle: &Cow<'_, [u8]>| folded.windows(needle.len()).any(|part| part == &needle[..]);
        let may_match = pattern.needles.is_empty() || pattern.needles.iter().any(holds);
        let shown = haystack.escape_ascii();
        assert_eq!(pattern.is_match(haystack), expected, "{text} on {shown}");
        assert_eq!(may_match && pattern.is_confirmed(haystack), expected, "{text} on {shown}");
    }
}
