//! Finds the changes of the rules for a crawler in the history of an origin.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use crate::crawlers::crawler::CrawlerId;
use crate::matcher::compiled::CompiledPolicy;
use crate::mutex::lock;
use crate::robots::model::{Directive, Rule};
use crate::time::UtcTime;
use crate::url::path::prepare;

use super::origin_history::{CHANGES_MAX, OriginHistory, RuleChange, RuleChanges, Touched};
use super::robots::{BoundRules, Robots};
use super::{Judge, by_crawler::ByCrawler, profile::Asker, timeline::Period};

/// A version of a robots.txt and its rules for a crawler; `None` if there is none.
type BoundVersion<'r> = (Option<&'r Arc<Robots>>, Option<Arc<BoundRules>>);

/// Directive and pattern of a rule.
type Content<'a> = (bool, &'a [u8]);

impl Judge {
    /// The changes of the rules for `asker` at an origin with the history `known`, the earliest
    /// first. None if it is uncertain in any of its versions which group binds `asker`, or if it has another name there.
    #[inline]
    pub(crate) fn rule_changes<'a, 'n>(
        &self,
        known: &'a OriginHistory,
        asker: impl Into<Asker<'n>>,
    ) -> &'a [RuleChange] {
        let asker = asker.into();
        let crawler = asker.crawler;
        match &known.changes {
            None => &[],
            Some(_) if known.versions().any(|robots| self.is_named_in(robots, asker)) => &[],
            Some(changes) => {
                let changes = changes.get_or_init(|| RuleChanges {
                    by_crawler: ByCrawler::new(self.profiles.len),
                    by_rules: Mutex::default(),
                });
                let search = || self.shared_changes(changes, known, crawler);
                changes.by_crawler.get_or_init(crawler, search)
            }
        }
    }

    fn shared_changes(
        &self,
        changes: &RuleChanges,
        known: &OriginHistory,
        crawler: CrawlerId,
    ) -> Arc<[RuleChange]> {
        let periods = known.periods();
        let versions = periods.iter().filter_map(|period| known.rules(period.ruling));
        let mut bindings = versions.map(|robots| self.kept_binding(robots, crawler));
        if bindings.any(|binding| !binding.others.is_empty()) {
            return Arc::default();
        }
        let bound: Vec<BoundVersion<'_>> = periods
            .iter()
            .map(|period| self.bound_version(known.rules(period.ruling), crawler))
            .collect();
        let address = |(_, rules): &BoundVersion<'_>| {
            rules.as_ref().map_or(0, |rules| Arc::as_ptr(rules) as usize)
        };
        let key: Box<[usize]> = bound.iter().map(address).collect();
        if let Some(known) = lock(&changes.by_rules).get(&key) {
            return Arc::clone(known);
        }
        // Computed without the lock, so that others do not have to wait.
        let found = self.find_changes(&periods, &bound, crawler);
        Arc::clone(lock(&changes.by_rules).entry(key).or_insert(found))
    }

    /// `robots` with its rules for `crawler`.
    fn bound_version<'r>(
        &self,
        robots: Option<&'r Arc<Robots>>,
        crawler: CrawlerId,
    ) -> BoundVersion<'r> {
        let rules = robots.map(|robots| Arc::clone(&self.kept_binding(robots, crawler).rules));
        (robots, rules)
    }

    fn find_changes(
        &self,
        periods: &[Period],
        bound: &[BoundVersion<'_>],
        crawler: CrawlerId,
    ) -> Arc<[RuleChange]> {
        let mut changes: Vec<RuleChange> = Vec::new();
        for (periods, versions) in periods.windows(2).zip(bound.windows(2)) {
            let since = changes.last().map(|last| last.before);
            let times = (since, periods[0].last, periods[1].first);
            changes.extend(self.change(crawler, [&versions[0], &versions[1]], times));
        }
        changes.drain(..changes.len().saturating_sub(CHANGES_MAX));
        changes.into()
    }

    fn change(
        &self,
        crawler: CrawlerId,
        versions: [&BoundVersion<'_>; 2],
        (since, after, before): (Option<UtcTime>, UtcTime, UtcTime),
    ) -> Option<RuleChange> {
        if let [(_, Some(old)), (_, Some(new))] = versions
            && Arc::ptr_eq(&old.policy, &new.policy)
        {
            return None;
        }
        let [old_rules, new_rules] = versions.map(|(robots, _)| match robots {
            Some(robots) => self.select(robots, crawler).rules(),
            None => Vec::new(),
        });
        let differing_rules = symmetric_difference(&old_rules, &new_rules);
        if differing_rules.is_empty() {
            return None;
        }
        let dfa_cache = Arc::clone(&lock(&self.dfa_cache));
        let (dialect, limits) = (self.dialect, &self.limits);
        let differing =
            CompiledPolicy::with_dfa_cache(&differing_rules, dialect, limits, &dfa_cache);
        let [old, new] = versions.map(|(_, rules)| rules.clone());
        let (disallows, allows) = (false, false);
        let mut change =
            RuleChange { after, before, since, disallows, allows, differing, old, new };
        for path in differing_rules.iter().flat_map(|rule| self.matching_paths(rule)) {
            match change.touched(&path) {
                Some(Touched { is_allowed: true, .. }) => change.allows = true,
                Some(_) => change.disallows = true,
                None => {}
            }
        }
        Some(change)
    }

    /// Two paths that `rule` matches, in nearly all cases.
    fn matching_paths(&self, rule: &Rule) -> [Vec<u8>; 2] {
        let pattern = rule.pattern.strip_suffix(b"$").unwrap_or(&rule.pattern);
        let path: Vec<u8> = pattern.iter().copied().filter(|byte| *byte != b'*').collect();
        let longer = [&path[..], b"x"].concat();
        [path, longer].map(|path| prepare(&path, self.dialect, &mut Vec::new()).as_bytes().to_vec())
    }
}

/// The rules that only one of both lists has, without empty ones, which decide nothing.
fn symmetric_difference<'a>(old: &[&'a Rule], new: &[&'a Rule]) -> Vec<&'a Rule> {
    fn content(rule: &Rule) -> Content<'_> {
        (rule.directive == Directive::Allow, &rule.pattern)
    }
    let contents = |rules: &[&'a Rule]| -> BTreeSet<Content<'a>> {
        rules.iter().map(|rule| content(rule)).collect()
    };
    let (in_old, in_new) = (contents(old), contents(new));
    let is_in_one = |rule: &&&Rule| {
        !rule.pattern.is_empty()
            && in_old.contains(&content(rule)) != in_new.contains(&content(rule))
    };
    old.iter().chain(new).filter(is_in_one).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::snapshot::{Failure, Fetch, SnapshotOutcome};
    use crate::archive::writer::NewSnapshot;
    use crate::archive::{Store, reader::Archive};
    use crate::crawlers::registry::Registry;
    use crate::judge::HostSource;
    use crate::url::origin::Origin;
    use crate::url::path::Dialect;

    const OK: SnapshotOutcome = SnapshotOutcome::Status(200);
    const TIMEOUT: SnapshotOutcome = SnapshotOutcome::Failure(Failure::Timeout);

    fn time(seconds: i64) -> UtcTime {
        UtcTime::from_unix_seconds(seconds).unwrap()
    }

    /// A change as `after before: newly disallowed, newly allowed`, and the effect on some paths.
    #[track_caller]
    fn check(crawler: &str, snapshots: &[(i64, SnapshotOutcome, &str)], expected: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive");
        let origin = Origin::parse(b"https://a.example").unwrap();
        let mut writer = Archive::writer(&path).unwrap();
        for (seconds, outcome, body) in snapshots {
            let (fetched_at, outcome) = (time(*seconds), *outcome);
            let fetch = Fetch { fetched_at, outcome, max_age_seconds: None, chain: Vec::new() };
            let (body, source) = (body.as_bytes().to_vec().into(), "test".to_owned());
            writer.push(NewSnapshot { origin: origin.clone(), fetch, source, body }).unwrap();
        }
        writer.flush().unwrap();
        let registry = Registry::builtin();
        let judge = Judge::new(Store::open(&path).unwrap(), &registry, Dialect::Google).unwrap();
        let known = judge.known(&origin, HostSource::Own).unwrap();
        let changes = judge.rule_changes(&known, registry.find(crawler).unwrap());
        let found: Vec<String> = changes
            .iter()
            .map(|change| {
                let RuleChange { after, before, since, disallows, allows, .. } = change;
                let times = [Some(*after), Some(*before), *since];
                let times = times.map(|time| time.map_or(-1, UtcTime::unix_seconds));
                let paths =
                    ["/", "/a", "/a/b", "/c"].map(|path| match change.touched(path.as_bytes()) {
                        None => "=".to_owned(),
                        Some(Touched { is_allowed, line }) => {
                            format!("{}{line}", if is_allowed { '+' } else { '-' })
                        }
                    });
                format!("{times:?} {disallows} {allows} {}", paths.join(" "))
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_change_lies_between_the_last_old_and_the_first_new_copy() {
        let open = "User-agent: *\nDisallow:\n";
        let snapshots = [
            (10, OK, open),
            (20, OK, "# the same\n\nUser-agent: *\nDisallow:\n"),
            (30, TIMEOUT, ""),
            (40, OK, "User-agent: *\nDisallow: /a\nAllow: /a/b\n"),
            (50, TIMEOUT, ""),
            (60, OK, "User-agent: *\nDisallow: /a\nAllow: /a/b\n"),
            (70, SnapshotOutcome::Status(404), ""),
        ];
        let expected = ["[20, 40, -1] true false = -2 = =", "[60, 70, 40] false true = +2 = ="];
        check("GPTBot", &snapshots, &expected);
    }

    #[test]
    fn only_rules_that_bind_the_crawler_count() {
        let snapshots = [
            (10, OK, "User-agent: *\nDisallow: /a\n"),
            (20, OK, "User-agent: GPTBot\nDisallow: /\nAllow: /$\nUser-agent: *\nDisallow: /a\n"),
            (30, OK, "User-agent: GPTBot\nAllow: /$\nDisallow: /\nUser-agent: *\nDisallow: /c\n"),
        ];
        check("GPTBot", &snapshots, &["[10, 20, -1] true false = = = -2"]);
        check("bingbot", &snapshots, &["[20, 30, -1] true true = +5 +5 -5"]);
        // It ignores `*`.
        check("AdsBot-Google", &snapshots, &[]);
    }

    #[test]
    fn the_latest_changes_are_kept() {
        let bodies = ["User-agent: *\nDisallow: /c\n", "User-agent: *\nDisallow: /a\n"];
        let snapshots: Vec<_> =
            (0..CHANGES_MAX + 3).map(|at| (at as i64, OK, bodies[at % 2])).collect();
        let expected: Vec<String> = (2..CHANGES_MAX + 2)
            .map(|after| {
                let (is, was) = if after % 2 == 0 { ("-2", "+2") } else { ("+2", "-2") };
                format!("[{after}, {}, {after}] true true = {is} {is} {was}", after + 1)
            })
            .collect();
        check("bingbot", &snapshots, &expected.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
