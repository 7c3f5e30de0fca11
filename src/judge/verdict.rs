//! The verdict on one request. All jobs use it.
//!
//! Every job (audit, classify, check, what-if) reports a [`Verdict`]. The checks are, in order: a
//! target without a path; `/robots.txt`, which may always be requested; an unknown origin or time;
//! the ruling in force; and whether it binds the crawler.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::crawlers::crawler::{CrawlerId, Obligation};
use crate::matcher::decision::Decision;
use crate::matcher::select::{Selection, select};
use crate::robots::model::StarGroups;
use crate::time::UtcTime;
use crate::url::path::{Dialect, PathQuery};

use super::crawl_delay::{Bound, DelayAndBound};
use super::origin_history::OriginHistory;
use super::profile::{Asker, CrawlerProfile};
use super::restriction::{Restriction, RestrictionKind};
use super::robots::{BoundRules, Robots, RobotsId};
use super::timeline::{BeforeFirst, Ruling, RulingInForce};
use super::{Judge, by_crawler::ByCrawler};

/// Whether a crawler may request a target, and whether the request broke a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// The target has no path that a rule could be compared with.
    NoPath,
    /// It is `/robots.txt`, which may always be requested.
    RobotsTxt,
    /// Nothing is known about the origin at that time.
    Unknown,
    /// Several groups may bind the crawler, and they decide differently: see [`candidates`](super::candidates). Counts
    /// as unknown.
    Ambiguous,
    /// robots.txt could not be fetched at that time: closed for the time being. Never a violation.
    Unreachable,
    /// Allowed by this rule; `None` if no rule matches, or there is no robots.txt.
    Allowed(Option<RuleRef>),
    /// Allowed only because the crawler is documented to ignore `*`; this rule of `*` disallows it.
    AllowedIgnoringStar(RuleRef),
    /// Disallowed by this rule, but the crawler may still have a copy that allows it.
    Grace(RuleRef),
    /// Disallowed by this rule, and by all copies that the crawler may have.
    Violation(RuleRef),
    /// The rules do not bind the crawler. The rule is the one that would make it a violation, if
    /// any.
    NotBound(Option<RuleRef>),
}

/// A rule of a version of a robots.txt; a pair in files.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(from = "(RobotsId, u32)", into = "(RobotsId, u32)")]
pub struct RuleRef {
    /// The version.
    pub robots: RobotsId,
    /// 1-based.
    pub line: u32,
}

impl From<RuleRef> for (RobotsId, u32) {
    fn from(rule: RuleRef) -> (RobotsId, u32) {
        (rule.robots, rule.line)
    }
}

impl From<(RobotsId, u32)> for RuleRef {
    fn from((robots, line): (RobotsId, u32)) -> RuleRef {
        RuleRef { robots, line }
    }
}

/// When a request is judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JudgedAt {
    /// At a time; the second value tells how times before the first snapshot are judged.
    Time(UtcTime, BeforeFirst),
    /// By the newest snapshot, without older copies.
    Newest,
}

/// A verdict, and the ruling in force.
#[derive(Clone, Copy, Debug)]
pub struct DatedVerdict<'a> {
    /// The verdict.
    pub verdict: Verdict,
    /// The version of robots.txt whose rules were in force; `None` if none were, or they were not
    /// needed.
    pub robots: Option<&'a Arc<Robots>>,
    /// When the snapshot in force was fetched; `None` for a single file.
    pub snapshot: Option<UtcTime>,
    /// The request was made before the first snapshot of its origin.
    pub is_before_first: bool,
    /// An outage from logs decided.
    pub is_by_logs: bool,
}

impl Verdict {
    /// The verdict if it does not depend on a robots.txt, else `None`.
    #[inline]
    pub(crate) fn without_rules(path: Option<PathQuery<'_>>) -> Option<Verdict> {
        match path {
            None => Some(Verdict::NoPath),
            Some(path) if path.is_robots_txt() => Some(Verdict::RobotsTxt),
            Some(_) => None,
        }
    }

    /// Whether a rule in force disallows it, also for crawlers that it does not bind.
    pub fn is_disallowed(self) -> bool {
        matches!(self, Verdict::Violation(_) | Verdict::Grace(_) | Verdict::NotBound(Some(_)))
    }

    /// The rule that decided for the crawler: not one that it ignores.
    pub fn rule(self) -> Option<RuleRef> {
        match self {
            Verdict::Allowed(rule) | Verdict::NotBound(rule) => rule,
            Verdict::Grace(rule) | Verdict::Violation(rule) => Some(rule),
            Verdict::NoPath
            | Verdict::RobotsTxt
            | Verdict::Unknown
            | Verdict::Ambiguous
            | Verdict::Unreachable
            | Verdict::AllowedIgnoringStar(_) => None,
        }
    }

    /// The same verdict by no certain rule.
    #[inline]
    pub(crate) fn without_its_rule(self) -> Verdict {
        let none = RuleRef { robots: RobotsId(0), line: 0 };
        match self {
            Verdict::Allowed(_) => Verdict::Allowed(None),
            Verdict::AllowedIgnoringStar(_) => Verdict::AllowedIgnoringStar(none),
            Verdict::Grace(_) => Verdict::Grace(none),
            Verdict::Violation(_) => Verdict::Violation(none),
            Verdict::NotBound(rule) => Verdict::NotBound(rule.map(|_| none)),
            Verdict::NoPath
            | Verdict::RobotsTxt
            | Verdict::Unknown
            | Verdict::Ambiguous
            | Verdict::Unreachable => self,
        }
    }

    /// The verdict by the rule that decides on a path, without older copies.
    #[inline]
    pub(super) fn of_rule(allowed: bool, rule: Option<RuleRef>) -> Verdict {
        match (allowed, rule) {
            (true, rule) => Verdict::Allowed(rule),
            (false, rule) => Verdict::Violation(rule.expect("what is disallowed is so by a rule")),
        }
    }

    /// The verdict for a crawler. If `is_spared`, no group binds it, it ignores `*`, and this is the verdict
    /// by the `*` groups.
    #[inline]
    pub(super) fn for_crawler(self, is_spared: bool, obligation: Obligation) -> Verdict {
        match (is_spared, self) {
            (false, verdict) => verdict.of_obligation(obligation),
            (true, Verdict::Violation(rule)) => Verdict::AllowedIgnoringStar(rule),
            (true, Verdict::Allowed(_) | Verdict::Grace(_)) => Verdict::Allowed(None),
            (true, verdict) => verdict,
        }
    }

    /// The verdict for a crawler with this obligation.
    fn of_obligation(self, obligation: Obligation) -> Verdict {
        match (self, obligation) {
            (Verdict::NoPath | Verdict::RobotsTxt, _) | (_, Obligation::Bound) => self,
            (Verdict::Violation(rule), _) => Verdict::NotBound(Some(rule)),
            (_, _) => Verdict::NotBound(None),
        }
    }
}

impl<'a> DatedVerdict<'a> {
    /// A verdict without a ruling in force.
    #[inline]
    pub(super) fn undated(verdict: Verdict) -> DatedVerdict<'a> {
        DatedVerdict {
            verdict,
            robots: None,
            snapshot: None,
            is_before_first: false,
            is_by_logs: false,
        }
    }
}

impl Judge {
    /// The verdict on the request of `asker` for `path`, prepared in the judge's dialect (`None`:
    /// the target has none), at an origin with the history `known`. Allocates nothing for a crawler whose user agent
    /// has no other names.
    pub fn verdict<'a, 'n>(
        &self,
        known: Option<&'a OriginHistory>,
        asker: impl Into<Asker<'n>>,
        path: Option<PathQuery<'_>>,
        at: JudgedAt,
    ) -> DatedVerdict<'a> {
        let decide = |robots: &Robots, asker: Asker<'_>, path: PathQuery<'_>| {
            self.decide(robots, asker, path)
        };
        self.verdict_by(decide, known, asker.into(), path, at)
    }

    /// The verdict on the request of a crawler outside the registry, by the groups for its `name`, or else
    /// by the `*` groups, as for `generic`.
    pub(crate) fn verdict_by_name<'a>(
        &self,
        known: Option<&'a OriginHistory>,
        (name, generic): (&[u8], CrawlerId),
        path: Option<PathQuery<'_>>,
        at: JudgedAt,
    ) -> DatedVerdict<'a> {
        let decide = |robots: &Robots, asker: Asker<'_>, path: PathQuery<'_>| {
            let rules = self.rules_named(robots, name);
            let rules = rules.unwrap_or_else(|| &self.kept_binding(robots, asker.crawler).rules);
            Some(rules.policy.decide(path.as_bytes()).with_lines(&rules.lines))
        };
        self.verdict_by(decide, known, generic.into(), path, at)
    }

    /// The rules of the groups of `robots` for `name`; `None` if it has none.
    pub(super) fn rules_named<'r>(
        &self,
        robots: &'r Robots,
        name: &[u8],
    ) -> Option<&'r Arc<BoundRules>> {
        let make = || {
            let selection = select(&robots.text, &[name], StarGroups::Honoured);
            robots.share(&selection, || self.compile(&selection, self.dialect))
        };
        robots.by_name.get(&robots.text, name, make)
    }

    /// The same in any dialect; `path` must be prepared in it.
    pub(crate) fn verdict_in<'a>(
        &self,
        dialect: Dialect,
        known: Option<&'a OriginHistory>,
        asker: Asker<'_>,
        path: Option<PathQuery<'_>>,
        at: JudgedAt,
    ) -> DatedVerdict<'a> {
        let decide = |robots: &Robots, asker: Asker<'_>, path: PathQuery<'_>| {
            self.decide_in(dialect, robots, asker, path)
        };
        self.verdict_by(decide, known, asker, path, at)
    }

    #[inline]
    fn verdict_by<'a>(
        &self,
        decide: impl Fn(&Robots, Asker<'_>, PathQuery<'_>) -> Option<Decision>,
        known: Option<&'a OriginHistory>,
        asker: Asker<'_>,
        path: Option<PathQuery<'_>>,
        at: JudgedAt,
    ) -> DatedVerdict<'a> {
        let obligation = self.profiles.get(asker.crawler).obligation;
        let unknown = DatedVerdict::undated(Verdict::Unknown.of_obligation(obligation));
        let path = match (Verdict::without_rules(path), path) {
            (None, Some(path)) => path,
            (verdict, _) => return DatedVerdict::undated(verdict.unwrap_or(Verdict::NoPath)),
        };
        let Some(known) = known else { return unknown };
        let in_force = match at {
            JudgedAt::Time(time, before) => known.at(time, before),
            JudgedAt::Newest => known.newest(),
        };
        let Some(in_force) = in_force else {
            return DatedVerdict { is_before_first: true, ..unknown };
        };
        let robots = known.rules(in_force.ruling);
        let mut is_spared = false;
        let verdict = match (in_force.ruling, robots) {
            (Ruling::Unreachable, _) => Verdict::Unreachable,
            (Ruling::AllowAll(_), _) | (Ruling::Rules(_), None) => Verdict::Allowed(None),
            (Ruling::Rules(_), Some(robots)) => {
                let by_rules = ByRules { known, robots, in_force, at };
                let generic = self.generic.filter(|_| self.is_exempt(robots, asker));
                let asker = generic.map_or(asker, Asker::from);
                let decide_as = |robots: &Robots| decide(robots, asker, path);
                is_spared = generic.is_some();
                by_rules.verdict(decide_as)
            }
        };
        DatedVerdict {
            verdict: verdict.for_crawler(is_spared, obligation),
            robots,
            snapshot: known.snapshot(&in_force).map(|snapshot| snapshot.fetched_at),
            is_before_first: in_force.age_seconds.is_some_and(|age| age < 0),
            is_by_logs: in_force.is_by_logs(),
        }
    }

    /// Whether `robots` has a Crawl-delay for `asker`, valid or not, and how it restricts it,
    /// bound or not: `None` if it disallows nothing.
    #[inline]
    pub(crate) fn directives<'n>(
        &self,
        robots: &Robots,
        asker: impl Into<Asker<'n>>,
    ) -> (bool, Option<Restriction>) {
        let directives = self.delay_and_bound(robots, asker.into());
        (directives.crawl_delay.is_some(), directives.restriction)
    }

    /// The Crawl-delay of `robots` for `asker`, in milliseconds; `None` if it sets no limit.
    pub(crate) fn crawl_delay(&self, robots: &Robots, asker: Asker<'_>) -> Option<u64> {
        let at = self.delay_and_bound(robots, asker).crawl_delay?;
        robots.text.crawl_delays[at].milliseconds.filter(|delay| *delay > 0)
    }

    /// Whether `asker` goes free because it is documented to ignore `*`, and `robots` names it
    /// nowhere.
    #[inline]
    pub(super) fn is_spared_by_star(&self, robots: &Robots, asker: Asker<'_>) -> bool {
        let ignores_star = self.profiles.get(asker.crawler).star == StarGroups::Ignored;
        ignores_star && self.delay_and_bound(robots, asker).bound == Bound::No
    }

    /// Whether a bound crawler goes free because of that: the `*` groups tell what it ignores.
    #[inline]
    pub(super) fn is_exempt(&self, robots: &Robots, asker: Asker<'_>) -> bool {
        self.profiles.get(asker.crawler).obligation == Obligation::Bound
            && self.is_spared_by_star(robots, asker)
    }

    fn delay_and_bound(&self, robots: &Robots, asker: Asker<'_>) -> DelayAndBound {
        let new = |profile: &CrawlerProfile| {
            let binding = self.binding(robots, asker);
            let rules = &binding.rules;
            let decide = |path: &[u8]| rules.policy.decide(path);
            let kind = |selection: &Selection<'_>| {
                let kind = || RestrictionKind::of(&selection.rules(), self.dialect, decide);
                *rules.restriction.get_or_init(kind)
            };
            let found = DelayAndBound::new(&robots.text, profile, kind);
            // Reports quote the delay of the row's own group, and nobody knows which of several groups counts.
            let is_sure = binding.others.is_empty() && profile.own == 0;
            let bound = if binding.others.is_empty() { found.bound } else { Bound::Yes };
            DelayAndBound { crawl_delay: found.crawl_delay.filter(|_| is_sure), bound, ..found }
        };
        if self.is_named_in(robots, asker) {
            return self.with_profile(robots, asker, new);
        }
        let crawl_delays = robots.crawl_delays.get_or_init(|| ByCrawler::new(self.profiles.len));
        *crawl_delays.get_or_init(asker.crawler, || new(self.profiles.get(asker.crawler)))
    }
}

/// The rules in force, and earlier rulings.
struct ByRules<'a> {
    known: &'a OriginHistory,
    robots: &'a Robots,
    in_force: RulingInForce,
    at: JudgedAt,
}

impl ByRules<'_> {
    /// The verdict for a crawler, by `decide`. Where an earlier ruling decides one way or the other, so does the
    /// verdict.
    #[inline]
    fn verdict(&self, decide: impl Fn(&Robots) -> Option<Decision>) -> Verdict {
        let Some(Decision { allowed, line }) = decide(self.robots) else {
            return Verdict::Ambiguous;
        };
        let rule = line.map(|line| RuleRef { robots: self.robots.id, line });
        let verdict = Verdict::of_rule(allowed, rule);
        let (Verdict::Violation(rule), JudgedAt::Time(time, _)) = (verdict, self.at) else {
            return verdict;
        };
        let allows = |held| match held {
            Ruling::Rules(_) => match self.known.rules(held) {
                Some(robots) => decide(robots).map(|decision| decision.allowed),
                None => Some(true),
            },
            Ruling::AllowAll(_) => Some(true),
            Ruling::Unreachable => Some(false),
        };
        let mut held = verdict;
        for allows in self.known.held(&self.in_force, time).map(allows) {
            match allows {
                Some(true) => return Verdict::Grace(rule),
                Some(false) => {}
                None => held = Verdict::Ambiguous,
            }
        }
        held
    }
}

#[cfg(test)]
mod tests;
