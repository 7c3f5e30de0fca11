//! One user agent regex: where its names end, and the literals it cannot match without.
//!
//! A name is found only as a whole: `GPTBot` is in `GPTBot/1.2`, and not in `MyGPTBot` or
//! `GPTBot-Lite`, which are the names of others.

use std::{borrow::Cow, sync::OnceLock};

use regex_automata::{Input, meta, nfa::thompson::WhichCaptures};
use regex_syntax::ast::{Ast, parse::Parser};
use regex_syntax::hir::literal::{ExtractKind, Extractor};
use regex_syntax::hir::{Hir, translate::TranslatorBuilder};

use super::borders::whole;

/// The size limit of one compiled pattern, in bytes. The largest built-in one takes about 10 KiB;
/// only excessive counted repetitions exceed it.
const NFA_BYTES_MAX: usize = 1 << 20;

/// The most literals of one regex. Of more, only their beginnings or ends are looked for.
const PARTS_MAX: usize = 64;

/// A user agent regex.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: Cow<'static, str>,
    is_name: bool,
    /// Built when it is first asked: most of a registry never are.
    regex: OnceLock<Result<meta::Regex, String>>,
}

/// What a user agent must contain to match, in any ASCII case.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Literals {
    /// One of these as a whole name, which is enough.
    Names(Vec<String>),
    /// One of these, and then the regex decides. If there are none, it always does.
    Parts(Vec<Vec<u8>>),
}

impl Pattern {
    /// The regex `text` as it is: ASCII case-insensitive, bytes, `\b` and `\d` ASCII.
    pub(crate) fn new(text: impl Into<Cow<'static, str>>) -> Pattern {
        Pattern { text: text.into(), is_name: false, regex: OnceLock::new() }
    }

    /// The same for names, which are found only as whole ones.
    pub(crate) fn of_names(text: impl Into<Cow<'static, str>>) -> Pattern {
        Pattern { is_name: true, ..Pattern::new(text) }
    }

    /// Builds what would otherwise be built when it is first asked.
    ///
    /// # Errors
    /// What is wrong with it, on one line. A pattern that matches the empty text is refused, since
    /// it would match any browser.
    pub(crate) fn check(&self) -> Result<(), String> {
        match names(&self.text) {
            Some(_) => Ok(()),
            None => self.built().map(|_| ()),
        }
    }

    /// Whether `user_agent` matches; a regex that cannot be built matches nothing.
    pub(crate) fn is_match(&self, user_agent: &[u8]) -> bool {
        self.built().is_ok_and(|regex| regex.is_match(Input::new(user_agent)))
    }

    fn built(&self) -> Result<&meta::Regex, String> {
        self.regex.get_or_init(|| build(&self.text, self.is_name)).as_ref().map_err(Clone::clone)
    }

    /// What a user agent must contain.
    pub(crate) fn literals(&self) -> Literals {
        match names(&self.text).filter(|_| self.is_name) {
            Some(names) => Literals::Names(names),
            None => Literals::Parts(parts(&self.text)),
        }
    }
}

/// The texts that a regex without special characters matches.
pub(crate) fn names(regex: &str) -> Option<Vec<String>> {
    regex.split('|').map(name).collect()
}

fn name(regex: &str) -> Option<String> {
    let mut name = String::with_capacity(regex.len());
    let mut letters = regex.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => name.push(letters.next().filter(|letter| ".+-/()".contains(*letter))?),
            letter if letter.is_ascii_alphanumeric() || " -_/:,;=!@%".contains(letter) => {
                name.push(letter.to_ascii_lowercase());
            }
            _ => return None,
        }
    }
    (!name.is_empty()).then_some(name)
}

fn parse(text: &str) -> Result<Ast, String> {
    Parser::new().parse(text).map_err(|error| one_line(&error))
}

fn translated(text: &str, ast: &Ast, is_any_case: bool) -> Result<Hir, String> {
    let mut builder = TranslatorBuilder::new();
    builder.case_insensitive(is_any_case).unicode(false).utf8(false);
    builder.build().translate(text, ast).map_err(|error| one_line(&error))
}

/// Those that are asked are known to hold a literal: nothing is worth building beforehand.
fn build(text: &str, is_name: bool) -> Result<meta::Regex, String> {
    let too_large = || "it is too large; use shorter repetitions".to_owned();
    let written = translated(text, &parse(text)?, true)?;
    if written.properties().minimum_len() == Some(0) {
        return Err("it matches every user agent, because it matches empty text".to_owned());
    }
    let hir = match is_name {
        false => written,
        true => {
            let text = whole(text)?;
            translated(&text, &parse(&text)?, true)?
        }
    };
    let config = meta::Config::new()
        .auto_prefilter(false)
        .dfa(false)
        .onepass(false)
        .utf8_empty(false)
        .nfa_size_limit(Some(NFA_BYTES_MAX))
        .which_captures(WhichCaptures::None);
    let regex = meta::Builder::new().configure(config).build_from_hir(&hir);
    regex.map_err(|error| match error.size_limit() {
        Some(_) => too_large(),
        None => one_line(&error),
    })
}

/// The last line of a regex error, which has the reason; the lines before show the position.
fn one_line(error: &dyn std::error::Error) -> String {
    let deepest = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let last = deepest.lines().last().unwrap_or_default().trim();
    last.trim_start_matches("error: ").to_owned()
}

/// Texts of which each match contains one, in any ASCII case; none if they cannot be known.
fn parts(text: &str) -> Vec<Vec<u8>> {
    // A flag may change what a letter is.
    let has_flags = text.split("(?").skip(1).any(|rest| !rest.starts_with(':'));
    let hir = parse(text).and_then(|ast| translated(text, &ast, false));
    let Some(hir) = hir.ok().filter(|_| !has_flags) else { return Vec::new() };
    let of_kind = |kind| {
        let found = Extractor::new().kind(kind).limit_total(PARTS_MAX).extract(&hir);
        let found = found.literals().unwrap_or_default().iter();
        found.map(|literal| literal.as_bytes().to_ascii_lowercase()).collect::<Vec<_>>()
    };
    let shortest = |parts: &Vec<Vec<u8>>| parts.iter().map(Vec::len).min().unwrap_or(0);
    let found = [ExtractKind::Prefix, ExtractKind::Suffix].map(of_kind);
    let mut longest = found.into_iter().max_by_key(shortest).filter(|parts| shortest(parts) > 1);
    if let Some(parts) = &mut longest {
        parts.sort();
        parts.dedup();
    }
    longest.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::borders::is_whole;
    use crate::random::Random;

    #[track_caller]
    fn check(text: &str, kind: &str, expected: &str) {
        let (found, literals) = match Pattern::of_names(text.to_owned()).literals() {
            Literals::Names(names) => ("names", names.join(" ")),
            Literals::Parts(parts) => (
                "parts",
                parts
                    .iter()
                    .map(|part| String::from_utf8_lossy(part))
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
        };
        assert_eq!((found, literals.as_str()), (kind, expected), "{text}");
    }

    #[test]
    fn literals_are_what_a_match_cannot_lack() {
        check("GPTBot", "names", "gptbot");
        check(r"Fo-o|b\.R", "names", "fo-o b.r");
        check("Facebook[Bb]ot", "parts", "facebookbot");
        check("msnbot[-/]", "parts", "msnbot- msnbot/");
        check("Google-?Agent", "parts", "google-agent googleagent");
        check("feed(?:ly|bin)|rss", "parts", "feedbin feedly rss");
        check(r"\bOnCrawl\b", "parts", "oncrawl");
        check(r"^curl/", "parts", "curl/");
        check(r"^Pinterest/[a-z]|pinterest\.com/bot", "parts", "pinterest.com/bot pinterest/");
        check(r"ExaBot[^)]*exa\.ai", "parts", "exa.ai");
        check(r"[a-z]+foo", "parts", "foo");
        check(r"\d{4}", "parts", "");
        check(r"foo\d|[a-z]+", "parts", "");
        check("(?-i:Foo)ba", "parts", "");
        check("(?u)kelvin", "parts", "");
        // The regex decides without borders, too.
        let pattern = Pattern::new("GPTBot");
        assert_eq!(pattern.literals(), Literals::Parts(vec![b"gptbot".to_vec()]));
        assert!(
            pattern.is_match(b"MyGPTBots") && !Pattern::of_names("GPTBot").is_match(b"MyGPTBots")
        );
    }

    #[test]
    fn errors_fit_on_a_line() {
        for (text, expected) in [
            ("bot(", "unclosed group"),
            ("(?=bot)bot", "look-around, including look-ahead and look-behind, is not supported"),
            ("b*", "it matches every user agent, because it matches empty text"),
            ("(?:[a-z]{1000}){1000}", "it is too large; use shorter repetitions"),
        ] {
            for pattern in [Pattern::new(text), Pattern::of_names(text)] {
                assert_eq!(pattern.check().unwrap_err(), expected, "{text}");
            }
        }
    }

    const PIECES: [&str; 24] = [
        "ab",
        "Ab",
        "b",
        "a?",
        "(?:ab|cd)",
        "(?:ab|c+)",
        "(?:-|/|ab)",
        "[ab]",
        "[^a]",
        ".",
        r"\b",
        "^",
        "$",
        "|",
        "-",
        " ",
        "(?-i:aB)",
        "(?:a|b){2}",
        "(?:cd)+",
        "(?:cd)*",
        r"(?u:[k\xe9])",
        r"\d",
        "(?i:cD)?",
        "[0-9]a",
    ];
    const TEXTS: [&str; 12] =
        ["a", "b", "AB", "cd", "C", "k", "\u{212a}", "7", " ", "\u{e9}", "ab", "-"];

    /// Patterns of random pieces: each match has a literal, and names need no regex.
    #[test]
    fn literals_of_any_pattern_are_sound() {
        let mut random = Random::new();
        let mut below = |limit: usize| random.below(limit);
        for _ in 0..1000 {
            let text: String = (0..=below(5)).map(|_| PIECES[below(PIECES.len())]).collect();
            let patterns = [Pattern::new(text.clone()), Pattern::of_names(text.clone())];
            if patterns[0].check().is_err() {
                continue;
            }
            let patterns = patterns.map(|pattern| (pattern.literals(), pattern));
            for _ in 0..25 {
                let haystack: String = (0..=below(6)).map(|_| TEXTS[below(TEXTS.len())]).collect();
                for (literals, pattern) in &patterns {
                    check_sound(pattern, literals, haystack.as_bytes());
                }
            }
        }
    }

    fn check_sound(pattern: &Pattern, literals: &Literals, haystack: &[u8]) {
        let folded = haystack.to_ascii_lowercase();
        let places = |part: &[u8]| -> Vec<usize> {
            (0..folded.len()).filter(|&at| folded[at..].starts_with(part)).collect()
        };
        let may_match = match literals {
            Literals::Parts(parts) => {
                parts.is_empty() || parts.iter().any(|part| !places(part).is_empty())
            }
            Literals::Names(names) => names.iter().any(|name| {
                let is_whole = |at: usize| is_whole(haystack, at, at + name.len());
                places(name.as_bytes()).into_iter().any(is_whole)
            }),
        };
        let is_match = pattern.is_match(haystack);
        let shown = haystack.escape_ascii();
        assert!(may_match || !is_match, "{pattern:?} on {shown}");
        if let Literals::Names(_) = literals {
            assert_eq!(may_match, is_match, "{pattern:?} on {shown}");
        }
    }
}
