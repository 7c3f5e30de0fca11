//! The values of User-agent lines: which crawlers they name, and how parsers read them; names that are
//! similar or were given up.

use std::collections::HashSet;

use crate::crawlers::crawler::{Crawler, InformationSource, RepApplies, Visibility};
use crate::numbers::counted;
use crate::robots::lines::strip;
use crate::robots::model::{ParsedRobotsTxt, ProductToken};

use super::diagnostic::{Diagnostics, few, quote, quoting, say, short};
use super::{catalogue::Code, known_tokens::KnownTokens};

/// The most names of a file that are compared with all known ones. A file of 500 KiB can have
/// 30,000 unknown names; real ones have a few hundred at most.
const COMPARED_MAX: usize = 200;

/// Findings on each distinct name in `robots`, at its first line.
pub(super) fn diagnose(
    robots: &ParsedRobotsTxt,
    names: &KnownTokens<'_>,
    diagnostics: &mut Diagnostics,
) {
    let mut seen = HashSet::new();
    let mut unknown: Vec<&ProductToken> = Vec::new();
    for token in robots.groups.iter().flat_map(|group| &group.product_tokens) {
        if token.is_star() {
            diagnose_star(token, diagnostics);
        } else if token.written.is_empty() {
            diagnostics.add(token.line, Code::EmptyToken, || {
                let advice = "Write 'User-agent: *' for all crawlers, or the name of one.";
                ("a User-agent line without a name has no effect", advice)
            });
        } else if seen.insert(token.written.to_ascii_lowercase())
            && diagnose_name(token, names, diagnostics) == Known::No
        {
            unknown.push(token);
        }
    }
    let mut compared = 0;
    unknown.retain(|token| {
        compared += 1;
        compared > COMPARED_MAX || !is_explained(token, names, diagnostics)
    });
    diagnose_unknown(&unknown, diagnostics);
}

/// Whether a name needs no further checks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Known {
    /// A crawler answers to it, or a finding was added.
    Yes,
    /// No crawler answers to it.
    No,
}

fn diagnose_star(token: &ProductToken, diagnostics: &mut Diagnostics) {
    if token.written.len() > 1 {
        diagnostics.add(token.line, Code::StarWithText, || {
            let message =
                quoting("Google reads {} as *; to others it is an unknown name", &token.written);
            (message, "Write 'User-agent: *', and put a # before a comment.")
        });
    }
}

fn diagnose_name(
    token: &ProductToken,
    names: &KnownTokens<'_>,
    diagnostics: &mut Diagnostics,
) -> Known {
    let written = &*token.written;
    let name = token_part(written);
    if written[0] == b'*' {
        diagnostics.add(token.line, Code::StarInToken, || star_in_token(written));
        return Known::Yes;
    }
    if name.eq_ignore_ascii_case(b"mozilla") && written.len() > name.len() {
        diagnostics.add(token.line, Code::HeaderAsToken, || header_as_token(written, names));
        return Known::Yes;
    }
    if !names.crawlers(written).is_empty() {
        diagnose_crawlers(token, written, names, diagnostics);
        return Known::Yes;
    }
    let interpretations = [name, token.google_form()];
    let known = interpretations
        .into_iter()
        .find(|interpretation| !names.crawlers(interpretation).is_empty());
    if let Some(second) = second_name(&written[name.len()..], known, names) {
        diagnostics.add(token.line, Code::SeveralTokens, || {
            let message = say("only {} is read; {} is ignored", &[&quote(name), &quote(second)]);
            (message, "Write one User-agent line for each name.")
        });
    } else if let Some(known) = known.filter(|known| known.len() < written.len()) {
        diagnostics.add(token.line, Code::TokenTail, || token_tail(written, known));
    }
    match known {
        Some(interpretation) => diagnose_crawlers(token, interpretation, names, diagnostics),
        None if names.is_crawler(name) || names.is_crawler(written) => {}
        None => return Known::No,
    }
    Known::Yes
}

fn star_in_token(written: &[u8]) -> (Vec<u8>, &'static str) {
    if written[1] >= 0x80 {
        let message = "an invisible character follows the *, so the line names no crawler";
        return (message.into(), "Delete the value and type 'User-agent: *' again.");
    }
    let message = quoting("{} names no crawler: wildcards have no meaning in names", written);
    (message, "Write 'User-agent: *' for all crawlers, or one line for each name.")
}

fn header_as_token(written: &[u8], names: &KnownTokens<'_>) -> (&'static str, String) {
    let message = "a whole User-Agent header is read as 'Mozilla', which is not a crawler";
    let crawler = names.by_user_agent(written).and_then(|crawler| crawler.product_tokens.first());
    let none = "Write the short name of the crawler, as its operator's documentation gives it.";
    let advice = crawler.map_or(none.to_owned(), |token| format!("Write 'User-agent: {token}'."));
    (message, advice)
}

fn token_tail(written: &[u8], name: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let message = say(
        "only {} of {} is a name; parsers that compare the whole value find no crawler",
        &[&quote(name), &quote(written)],
    );
    (message, say("Write 'User-agent: {}'.", &[short(name)]))
}

/// Findings on a name that crawlers answer to.
fn diagnose_crawlers(
    token: &ProductToken,
    name: &[u8],
    names: &KnownTokens<'_>,
    diagnostics: &mut Diagnostics,
) {
    let google = token.google_form();
    if google.len() < name.len() {
        diagnostics.add(token.line, Code::TokenCut, || {
            let read = if google.is_empty() { b"nothing".to_vec() } else { quote(google) };
            let message = say("Google's parser reads {} of {}", &[&read, &quote(name)]);
            (message, "Leave it: the crawler of that name looks for the whole name.")
        });
    }
    let crawlers = names.crawlers(name);
    if crawlers.iter().all(|crawler| crawler.visibility == Visibility::NoUserAgent) {
        diagnostics.add(token.line, Code::ControlToken, || {
            let operator = crawlers[0].known_operator().unwrap_or("its operator").as_bytes();
            let message = say(
                "{} is a name that {} uses only in robots.txt; no request has it",
                &[&quote(name), operator],
            );
            (message, "Leave it if you want it, but do not look for it in logs.")
        });
    } else if crawlers.iter().all(|crawler| crawler.rep_applies == RepApplies::No) {
        diagnostics.add(token.line, Code::NotObeyed, || not_obeyed(name, crawlers[0]));
    }
}

fn not_obeyed(name: &[u8], crawler: &Crawler) -> (Vec<u8>, &'static str) {
    let who = match crawler.evidence {
        InformationSource::OperatorDocumentation => "by its operator's documentation",
        InformationSource::Registry | InformationSource::Unverified => "as others report",
    };
    let message = say("{} does not follow robots.txt, {}", &[&quote(name), who.as_bytes()]);
    (message, "To keep it out, block its requests at the server.")
}

/// A second name in the line: after a comma or similar, or a known name after a known name.
fn second_name<'a>(
    rest: &'a [u8],
    first: Option<&[u8]>,
    names: &KnownTokens<'_>,
) -> Option<&'a [u8]> {
    let is_list = strip(rest).first().is_some_and(|byte| b",;|".contains(byte));
    let is_second = |word: &&[u8]| is_list || first.is_some() && !names.crawlers(word).is_empty();
    words(rest).find(is_second)
}

/// The words of `text` that could be names.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = text.split(|byte| b" \t,;|&".contains(byte)).map(token_part);
    words.filter(|word| !word.is_empty()).take(COMPARED_MAX)
}

/// Whether the name is retired, two names, or a misspelled known one; a finding is then added.
fn is_explained(
    token: &ProductToken,
    names: &KnownTokens<'_>,
    diagnostics: &mut Diagnostics,
) -> bool {
    let name = token_part(&token.written);
    if let Some(what) = retired(name) {
        diagnostics.add(token.line, Code::RetiredToken, || {
            let message = quoting("no crawler has the name {} any more", name);
            (message, format!("You can remove it: {what}."))
        });
        return true;
    }
    if let Some((first, second)) = names.glued(name) {
        diagnostics.add(token.line, Code::SeveralTokens, || {
            let message = say(
                "no crawler is called {}: it is {} and {} on one line",
                &[&quote(name), &quote(first), &quote(second)],
            );
            (message, "Write one User-agent line for each name.")
        });
        return true;
    }
    !is_own(name) && is_misspelt(token, names, diagnostics)
}

/// Whether the name is a misspelled known one; a finding is then added.
fn is_misspelt(
    token: &ProductToken,
    names: &KnownTokens<'_>,
    diagnostics: &mut Diagnostics,
) -> bool {
    let name = token_part(&token.written);
    let named = |word| names.crawlers(word).first()?.product_tokens.first();
    let is_distinct = |word: &&[u8]| !word.eq_ignore_ascii_case(b"spider");
    let within = || words(&token.written).filter(is_distinct).find_map(named).map(String::as_str);
    // The first word of a longer name is a typo of that name only by chance.
    let is_whole = matches!(token.written.get(name.len()), None | Some(b'/'));
    let close = names.closest(name).filter(|_| is_whole);
    let Some(close) = close.or_else(within) else { return false };
    diagnostics.add(token.line, Code::MisspeltToken, || {
        let message = say(
            "no known crawler is called {}, but one is called '{}'",
            &[&quote(&token.written), close.as_bytes()],
        );
        (message, format!("If you mean this one, write 'User-agent: {close}'."))
    });
    true
}

/// One finding for all unknown names, because lists of hundreds are common.
fn diagnose_unknown(unknown: &[&ProductToken], diagnostics: &mut Diagnostics) {
    let Some(first) = unknown.first() else { return };
    diagnostics.add(first.line, Code::UnknownToken, || {
        let written: Vec<&[u8]> = unknown.iter().map(|token| &*token.written).collect();
        let verb = if written.len() == 1 { "is" } else { "are" };
        let message = say(
            "{} {} not known here: {}",
            &[counted(written.len() as u64, "name").as_bytes(), verb.as_bytes(), &few(&written)],
        );
        (
            message,
            "If the rules for them matter, check the spelling in the documentation of \
                   their operators.",
        )
    });
}

/// The letters, digits, `_` and `-` at the start of `text`.
fn token_part(text: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    &text[..text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len())]
}

/// Names of small or old programs of their own, which are similar to those of known crawlers.
const OWN: [&str; 8] =
    ["Aboundex", "Buddy", "DISCo", "factbot", "LinkChecker", "Roverbot", "Verity", "YodaoBot"];

/// Names that a crawler had, with what became of it.
const RETIRED: [(&str, &str); 5] = [
    ("Googlebot-Mobile", "Googlebot crawls for phones, too, so write 'User-agent: Googlebot'"),
    ("DuplexWeb-Google", "Google closed the service"),
    ("googleweblight", "Google closed the service"),
    ("Scooter", "it was AltaVista's, which closed in 2013"),
    ("Twiceler", "it was Cuil's, which closed in 2010"),
];

/// Whether a program of its own has this name.
pub(super) fn is_own(name: &[u8]) -> bool {
    OWN.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(name))
}

/// What became of the crawler with this name; `None` if it is not known to be retired.
pub(super) fn retired(name: &[u8]) -> Option<&'static str> {
    let found = RETIRED.iter().find(|(retired, _)| retired.as_bytes().eq_ignore_ascii_case(name));
    found.map(|(_, what)| *what)
}
