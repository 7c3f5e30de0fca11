//! Explains the decision on one URL, step by step, and the ruling in force at a time.
//!
//! The result is data; `text` and `json` render it. First, [`locate`] finds the robots.txt for a URL. Then
//! [`explain`] determines the verdict for a crawler and its reasons.

pub mod checked_crawler;
pub mod json;
pub mod reason;
pub mod text;
pub mod words;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::judge::explained::{Bound, GroupDecision, Match, matches};
use crate::judge::profile::Asker;
use crate::judge::timeline::{BeforeFirst, RulingInForce, Sighting};
use crate::judge::verdict::{JudgedAt, Verdict};
use crate::judge::{HostSource, Judge, messages::failure_message, origin_history::OriginHistory};
use crate::judge::{robots::Robots, usage::StatedPreference};
use crate::time::UtcTime;
use crate::url::origin::Origin;
use crate::url::path::{Dialect, Target, prepare};

use reason::{DecisionReason, PathChange, changes, reason, without_rules};

/// A URL with its robots.txt.
#[derive(Clone, Debug)]
pub(crate) struct Located<'a> {
    /// The URL as given.
    pub given: &'a [u8],
    /// Its unprepared path and query.
    pub path: &'a [u8],
    /// `None` if a path was given without an origin.
    pub origin: Option<Origin>,
    /// The robots.txt; `None` if the URL is that of an unknown robots.txt, or if the ruling in
    /// force has no file.
    pub file: Option<File>,
    /// The ruling in force, if robots.txt has a history.
    pub in_force: Option<InForce>,
    /// What is known about the origin; `None` if nothing is known.
    known: Option<Arc<OriginHistory>>,
    /// The time of the request.
    at: UtcTime,
}

/// A robots.txt with its source.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// The source as shown to the user.
    pub source: String,
    /// The parsed file.
    pub robots: Arc<Robots>,
}

/// A value, or the reason why nothing can be decided.
type Decidable<T> = std::result::Result<T, Undecided>;

/// Why a URL cannot be decided.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Undecided {
    /// It is neither an absolute URL nor a path.
    NoUrl,
    /// It is longer than this limit, which is far above the URLs of crawlers.
    TooLong(usize),
    /// Its host or port is invalid.
    NoHost,
    /// It is only a path, and each origin has its own robots.txt.
    NoOrigin,
    /// No robots.txt is known for this origin.
    UnknownOrigin(Origin),
    /// The archive has no snapshot of this origin.
    NotInArchive(Origin),
    /// The archive has snapshots of this origin, but no ruling for that time.
    UnknownThen(Origin, UtcTime),
    /// There is a robots.txt, but it could not be read, for this reason.
    Unreadable(String),
    /// Several groups may bind the crawler, and they decide differently: each with its decision.
    AmbiguousGroup(Vec<GroupDecision>),
}

/// The verdict on a URL for a crawler, with each step.
#[derive(Clone, Debug)]
pub(crate) struct Explanation<'a> {
    /// The URL and the robots.txt.
    pub located: &'a Located<'a>,
    /// The groups that bind; `None` if there is no file.
    pub bound: Option<Bound<'a>>,
    /// The verdict in the chosen dialect.
    pub asked: DialectVerdict<'a>,
    /// The verdict in the other dialect.
    pub other: DialectVerdict<'a>,
    /// The preferences about use that apply to the crawler's purpose.
    pub usage: Vec<StatedPreference>,
}

/// The verdict in one dialect, with each step.
#[derive(Clone, Debug)]
pub(crate) struct DialectVerdict<'a> {
    /// The dialect.
    pub dialect: Dialect,
    /// The path as it was compared with the rules.
    pub path: Vec<u8>,
    /// The changes to the path, in order.
    pub changes: Vec<PathChange>,
    /// The verdict, as if the rules bound the crawler.
    pub verdict: Verdict,
    /// The reason.
    pub reason: DecisionReason,
    /// All rules that match, in deciding order: the first one decides.
    pub matches: Vec<Match<'a>>,
}

impl Explanation<'_> {
    /// Whether the other dialect gives another verdict or another deciding line.
    pub(crate) fn is_dialect_decisive(&self) -> bool {
        let said = |by: &DialectVerdict<'_>| (by.is_allowed(), by.line());
        said(&self.asked) != said(&self.other)
    }

    /// Disallowed, but the crawler may still have an earlier robots.txt that allows it.
    pub(crate) fn is_grace(&self) -> bool {
        matches!(self.asked.verdict, Verdict::Grace(_))
    }
}

impl DialectVerdict<'_> {
    /// Whether the crawler may request the path.
    pub(crate) fn is_allowed(&self) -> bool {
        let is_open = !matches!(self.verdict, Verdict::Unreachable | Verdict::Ambiguous);
        is_open && !self.verdict.is_disallowed()
    }

    /// The deciding line, from 1; `None` if no rule matched or rules do not matter.
    pub(crate) fn line(&self) -> Option<u32> {
        self.verdict.rule().map(|rule| rule.line)
    }
}

/// Finds the robots.txt for `given`, an absolute URL, or a path of `origin`. A single file applies
/// to all URLs; an archive has a ruling in force at `at`.
pub(crate) fn locate<'a>(
    judge: &Judge,
    given: &'a [u8],
    origin: Option<&Origin>,
    at: UtcTime,
) -> Decidable<Located<'a>> {
    let (origin, path) = match Target::of(b"GET", given) {
        Target::NoPath => return Err(Undecided::NoUrl),
        Target::Path(path) => (origin.cloned(), path),
        Target::Absolute { scheme, authority, path } => {
            let origin = Origin::from_authority(scheme, authority);
            (Some(origin.ok_or(Undecided::NoHost)?), path)
        }
    };
    let found = match judge.has_history() {
        true => in_force(judge, origin.as_ref(), at),
        false => file(judge, origin.as_ref()).map(GoverningRobots::always),
    };
    let found = found.or_else(|undecided| {
        // Some targets can be decided without a robots.txt.
        let mut scratch = Vec::new();
        let path = prepare(path, judge.dialect(), &mut scratch);
        Verdict::without_rules(Some(path)).map(|_| GoverningRobots::default()).ok_or(undecided)
    });
    let GoverningRobots { file, in_force, known } = found?;
    Ok(Located { given, path, origin, file, in_force, known, at })
}

/// The robots.txt and the ruling for a URL.
#[derive(Default)]
struct GoverningRobots {
    file: Option<File>,
    in_force: Option<InForce>,
    known: Option<Arc<OriginHistory>>,
}

impl GoverningRobots {
    fn always(file: File) -> GoverningRobots {
        let known = Some(Arc::new(OriginHistory::always(Arc::clone(&file.robots))));
        GoverningRobots { file: Some(file), in_force: None, known }
    }
}

fn in_force(judge: &Judge, origin: Option<&Origin>, at: UtcTime) -> Decidable<GoverningRobots> {
    let origin = origin.ok_or(Undecided::NoOrigin)?;
    let Some(known) = judge.known(origin, HostSource::Own) else {
        // The failures of the judge may be those of other origins.
        let failure = judge.read_history(origin, HostSource::Own).err();
        let failure = failure.map(|err| failure_message(&err.to_string()));
        return Err(
            failure.map_or_else(|| Undecided::NotInArchive(origin.clone()), Undecided::Unreadable)
        );
    };
    let in_force =
        InForce::new(&known, at).ok_or_else(|| Undecided::UnknownThen(origin.clone(), at))?;
    let source = || judge.source(Some(origin)).unwrap_or_default();
    let robots = known.rules(in_force.ruling_in_force.ruling);
    let file = robots.map(|robots| File { source: source(), robots: Arc::clone(robots) });
    Ok(GoverningRobots { file, in_force: Some(in_force), known: Some(known) })
}

fn file(judge: &Judge, origin: Option<&Origin>) -> Decidable<File> {
    let robots = match origin {
        Some(origin) => judge.site(origin, HostSource::Own),
        None => Some(judge.unnamed().ok_or(Undecided::NoOrigin)?),
    };
    match (robots, judge.source(origin), origin) {
        (Some(robots), Some(source), _) => Ok(File { source, robots }),
        (None, Some(source), _) => {
            let why = judge.failures().remove(&source);
            Err(Undecided::Unreadable(why.unwrap_or_else(|| format!("cannot read {source}"))))
        }
        (_, None, Some(origin)) => Err(Undecided::UnknownOrigin(origin.clone())),
        (_, None, None) => Err(Undecided::NoOrigin),
    }
}

/// The verdict on `located` for `asker`, or why there is none.
///
/// # Errors
/// If the verdict and its explanation disagree, which would be a bug.
pub(crate) fn explain<'a>(
    judge: &'a Judge,
    asker: Asker<'a>,
    located: &'a Located<'a>,
) -> Result<Decidable<Explanation<'a>>> {
    let bound = located.file.as_ref().map(|file| judge.bound(&file.robots, asker));
    let verdict = |dialect| verdict_in(dialect, judge, asker, located, bound.as_ref());
    let dialect = judge.dialect();
    let (asked, other) = (verdict(dialect)?, verdict(dialect.other())?);
    if asked.verdict == Verdict::Ambiguous {
        return Ok(Err(Undecided::AmbiguousGroup(groups(judge, asker, located))));
    }
    let usage = usage(judge, asker, located);
    Ok(Ok(Explanation { located, bound, asked, other, usage }))
}

fn groups(judge: &Judge, asker: Asker<'_>, located: &Located<'_>) -> Vec<GroupDecision> {
    let mut scratch = Vec::new();
    let path = prepare(located.path, judge.dialect(), &mut scratch);
    let robots = located.file.iter().map(|file| &file.robots);
    robots.flat_map(|robots| judge.decisions(robots, asker, path)).collect()
}

fn usage(judge: &Judge, asker: Asker<'_>, located: &Located<'_>) -> Vec<StatedPreference> {
    let mut scratch = Vec::new();
    let path = Some(prepare(located.path, judge.dialect(), &mut scratch));
    let at = JudgedAt::Time(located.at, BeforeFirst::AsFirst);
    let known = located.known.as_deref();
    let dated = judge.verdict(known, asker, path, at);
    judge.usage(known, &dated, (asker, path), at)
}

fn verdict_in<'a>(
    dialect: Dialect,
    judge: &'a Judge,
    asker: Asker<'_>,
    located: &'a Located<'a>,
    bound: Option<&Bound<'a>>,
) -> Result<DialectVerdict<'a>> {
    let mut scratch = Vec::new();
    let path = prepare(located.path, dialect, &mut scratch);
    let at = JudgedAt::Time(located.at, BeforeFirst::AsFirst);
    let found = judge.verdict_in(dialect, located.known.as_deref(), asker, Some(path), at);
    let verdict = found.verdict;
    let ruling = located.in_force.as_ref().map(|in_force| in_force.ruling_in_force.ruling);
    let (matches, reason) = match (verdict, bound) {
        (Verdict::RobotsTxt, _) => (Vec::new(), DecisionReason::RobotsTxtItself),
        (Verdict::Ambiguous, _) => (Vec::new(), DecisionReason::AmbiguousGroup),
        (_, None) => (Vec::new(), without_rules(ruling)),
        (_, Some(bound)) => {
            let matches = matches(&bound.rules, dialect, path);
            let reason = reason(bound, &matches);
            (matches, reason)
        }
    };
    if matches.first().map(|first| first.rule.line) != verdict.rule().map(|rule| rule.line) {
        return Err(Error::inconsistent("the deciding rule is not the first that matches"));
    }
    let (path, changes) = (path.as_bytes().to_vec(), changes(located.path, dialect));
    Ok(DialectVerdict { dialect, path, changes, verdict, reason, matches })
}

/// The ruling in force at a time, from the snapshots of an archive.
#[derive(Clone, Debug)]
pub(crate) struct InForce {
    /// The time.
    pub at: UtcTime,
    /// The ruling, and since when.
    pub ruling_in_force: RulingInForce,
    /// The snapshot of the ruling.
    pub snapshot: Sighting,
}

impl InForce {
    /// The ruling at `at`; `None` if nothing is known about that time, or robots.txt has no
    /// history.
    fn new(known: &OriginHistory, at: UtcTime) -> Option<InForce> {
        let ruling_in_force = known.at(at, BeforeFirst::AsFirst)?;
        let snapshot = known.snapshot(&ruling_in_force)?;
        Some(InForce { at, ruling_in_force, snapshot })
    }
}

#[cfg(test)]
mod tests {
    use super::checked_crawler::CheckedCrawler;
    use super::*;
    use crate::archive::Store;
    use crate::crawlers::registry::Registry;

    const TEXT: &str = "\
user-agent: *
disallow: /a
user-agent: GoogleBot/2.1
disallow: /
allow: /a
allow: /b/index.html
disallow: /%7euser
disallow: /a/b
disallow: /a/b*
disallow: /a/b*
allow: /tie
disallow: /t*e
user-agent: empty
disallow:
user-agent: nothing";

    fn now() -> UtcTime {
        UtcTime::from_unix_seconds(0).unwrap()
    }

    /// Tests whether `crawler` (a crawler, or `=token`) may request `url` according to [`TEXT`],
    /// with the deciding line and the reason; `differs` means that RFC 9309 gives another verdict
    /// or line.
    #[track_caller]
    fn check(
        crawler: &str,
        url: &str,
        expected: (bool, Option<u32>, DecisionReason),
        differs: bool,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("robots.txt");
        std::fs::write(&path, TEXT).unwrap();
        let registry = Registry::builtin();
        let store = Store::open(&path).unwrap();
        let (judge, crawler) = match crawler.strip_prefix('=') {
            Some(token) => {
                let crawler = CheckedCrawler::ad_hoc(token);
                let profile = crawler.ad_hoc_profile().unwrap();
                (Judge::ad_hoc(store, profile, Dialect::Google).unwrap(), crawler)
            }
            None => {
                let judge = Judge::of_rules_alone(store, &registry, Dialect::Google).unwrap();
                (judge, CheckedCrawler::named(&registry, crawler).unwrap())
            }
        };
        let located = locate(&judge, url.as_bytes(), None, now()).unwrap();
        let explanation = explain(&judge, crawler.asker(), &located).unwrap().unwrap();
        let asked = &explanation.asked;
        assert_eq!((asked.is_allowed(), asked.line(), asked.reason), expected, "{url}");
        assert_eq!(explanation.is_dialect_decisive(), differs, "{url}: {:?}", explanation.other);
    }

    #[test]
    fn each_reason_is_given() {
        use DecisionReason::*;
        check("Googlebot", "/robots.txt#x", (true, None, RobotsTxtItself), false);
        check("AdsBot-Google", "/a", (true, None, NoGroup), false);
        check("=nothing", "/a", (true, None, NoRules), false);
        check("bingbot", "/b", (true, None, NoMatch), false);
        check("=empty", "/a", (true, Some(14), EmptyDisallow), false);
        check("bingbot", "https://a.example/a", (false, Some(2), OnlyMatch), false);
        check("Googlebot-Image", "/x", (false, Some(4), OnlyMatch), false);
        check("Googlebot", "/a", (true, Some(5), LongerThan(1)), false);
        check("Googlebot", "/a/b", (false, Some(9), LongerThan(3)), false);
        check("Googlebot", "/tie", (true, Some(11), AllowWinsTie(1)), false);
        check("Googlebot", "/%7Euser", (false, Some(7), LongestOfAgreeing), false);
    }

    #[test]
    fn the_other_dialect_is_shown_where_it_differs() {
        use DecisionReason::*;
        check("Googlebot", "/b/", (true, Some(6), LongerThan(1)), true);
        check("Googlebot", "/~user", (false, Some(4), OnlyMatch), true);
        check("bingbot", "/%61", (true, None, NoMatch), true);
    }

    #[test]
    fn what_cannot_be_decided_says_why() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.example"), TEXT).unwrap();
        let directory = dir.path().join("b.example");
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("robots.txt"), TEXT).unwrap();
        let registry = Registry::builtin();
        let judge =
            Judge::new(Store::open(dir.path()).unwrap(), &registry, Dialect::Google).unwrap();
        std::fs::remove_dir_all(directory).unwrap();
        let undecided = |url: &str, origin: Option<&Origin>| {
            locate(&judge, url.as_bytes(), origin, now()).map(|located| located.origin).unwrap_err()
        };
        for url in ["", "a.example", "mailto:x", "*"] {
            assert_eq!(undecided(url, None), Undecided::NoUrl, "{url}");
        }
        assert_eq!(undecided("http://a b/", None), Undecided::NoHost);
        assert_eq!(undecided("/x", None), Undecided::NoOrigin);
        let unknown = Origin::parse(b"https://c.example").unwrap();
        let expected = Undecided::UnknownOrigin(unknown.clone());
        assert_eq!(undecided("https://c.example/x", None), expected);
        assert_eq!(undecided("/x", Some(&unknown)), expected);
        let Undecided::Unreadable(why) = undecided("https://b.example/x", None) else {
            panic!("it was removed")
        };
        assert!(why.starts_with("cannot read robots.txt "), "{why}");
        let known = Origin::parse(b"https://a.example").unwrap();
        assert!(locate(&judge, b"/x", Some(&known), now()).is_ok());
        let unneeded = locate(&judge, b"https://c.example/robots.txt", None, now()).unwrap();
        assert!(unneeded.file.is_none());
        let crawler = registry.find("GPTBot").unwrap();
        let explanation = explain(&judge, crawler.into(), &unneeded).unwrap().unwrap();
        assert_eq!(explanation.asked.reason, DecisionReason::RobotsTxtItself);
    }
}
