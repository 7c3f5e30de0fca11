//! The rules for one crawler at an origin whose robots.txt is the same at all times.
//!
//! Most audits have one robots.txt for each origin. What does not depend on the path is then found once
//! for a crawler, and not again for each of its requests.

use std::sync::Arc;

use crate::crawlers::crawler::{CrawlerId, Obligation};
use crate::matcher::decision::Decision;
use crate::url::path::PathQuery;

use super::profile::Asker;
use super::restriction::Restriction;
use super::robots::{Binding, Robots};
use super::verdict::{DatedVerdict, RuleRef, Verdict};
use super::{Judge, origin_history::OriginHistory};

/// The rules for a crawler that count at all times.
#[derive(Clone, Debug)]
pub(crate) struct ConstantRules {
    robots: Arc<Robots>,
    binding: Binding,
    obligation: Obligation,
    /// Whether no group binds the crawler, which ignores `*`. The rules are then those of the `*` groups.
    is_spared: bool,
    /// Whether robots.txt has a Crawl-delay for the crawler.
    pub has_delay: bool,
    /// How robots.txt restricts the crawler.
    pub restriction: Option<Restriction>,
}

impl Judge {
    /// The rules of the only robots.txt of an origin for `crawler`, whose user agent has no other names; `None` if there is none, or if others
    /// count at other times.
    pub(crate) fn constant_rules(
        &self,
        known: Option<&OriginHistory>,
        crawler: CrawlerId,
    ) -> Option<ConstantRules> {
        let robots = Arc::clone(known?.constant().filter(|_| !self.has_history())?);
        let obligation = self.profiles.get(crawler).obligation;
        let generic = self.generic.filter(|_| self.is_exempt(&robots, crawler.into()));
        let binding = self.kept_binding(&robots, generic.unwrap_or(crawler)).clone();
        let (has_delay, restriction) = self.directives(&robots, crawler);
        Some(ConstantRules {
            robots,
            binding,
            obligation,
            is_spared: generic.is_some(),
            has_delay,
            restriction,
        })
    }
}

impl ConstantRules {
    /// Whether a group of their robots.txt has one of the other names of `asker`.
    pub(crate) fn name_another(&self, judge: &Judge, asker: Asker<'_>) -> bool {
        judge.is_named_in(&self.robots, asker)
    }

    /// The same as [`Judge::verdict`] at any time.
    #[inline]
    pub(crate) fn verdict(&self, path: Option<PathQuery<'_>>) -> DatedVerdict<'_> {
        let path = match (Verdict::without_rules(path), path) {
            (None, Some(path)) => path,
            (verdict, _) => return DatedVerdict::undated(verdict.unwrap_or(Verdict::NoPath)),
        };
        let decision = self
            .binding
            .decision(|rules| rules.policy.decide(path.as_bytes()).with_lines(&rules.lines));
        let verdict = match decision {
            Some(Decision { allowed, line }) => {
                let rule = line.map(|line| RuleRef { robots: self.robots.id, line });
                Verdict::of_rule(allowed, rule)
            }
            None => Verdict::Ambiguous,
        };
        DatedVerdict {
            verdict: verdict.for_crawler(self.is_spared, self.obligation),
            robots: Some(&self.robots),
            ..DatedVerdict::undated(verdict)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Store;
    use crate::crawlers::registry::Registry;
    use crate::judge::HostSource;
    use crate::judge::timeline::BeforeFirst;
    use crate::judge::verdict::JudgedAt;
    use crate::random::Random;
    use crate::robots::model::StarGroups;
    use crate::time::UtcTime;
    use crate::url::origin::Origin;
    use crate::url::path::Dialect;
    use crate::url::path::prepare;

    fn random_robots_txt(random: &mut Random) -> String {
        let groups = ["GPTBot", "*", "mediapartners-google", "googlebot", "nobody"];
        let rules = ["/", "/a", "/a/b", "/*a", "/a$", "*b$", "", "/robots.txt"];
        let mut text = String::new();
        for _ in 0..random.below(5) {
            text += &format!("User-agent: {}\n", groups[random.below(groups.len())]);
            for _ in 0..random.below(4) {
                let directive = ["Allow", "Disallow", "Disallow"][random.below(3)];
                text += &format!("{directive}: {}\n", rules[random.below(rules.len())]);
            }
            if random.below(4) == 0 {
                text += "Crawl-delay: 5\n";
            }
        }
        text
    }

    fn parts(dated: DatedVerdict<'_>) -> impl PartialEq + std::fmt::Debug + use<> {
        let DatedVerdict { verdict, robots, snapshot, is_before_first, is_by_logs } = dated;
        (verdict, robots.map(|robots| robots.id), snapshot, is_before_first, is_by_logs)
    }

    /// All crawlers of the registry, those that ignore `*` and those that no rule binds among them.
    #[test]
    fn constant_rules_give_the_verdict_of_the_judge() {
        let (mut random, registry) = (Random::new(), Registry::builtin());
        let origin = Origin::parse(b"https://a.example").unwrap();
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("robots.txt");
        let (mut kinds, mut found) = ([0; 5], 0);
        for round in 0..30 {
            std::fs::write(&file, random_robots_txt(&mut random)).unwrap();
            let store = Store::open(&file).unwrap();
            let judge = match round % 3 {
                0 => Judge::of_everyone(store, &registry, Dialect::Google).unwrap(),
                _ => Judge::new(store, &registry, Dialect::Google).unwrap(),
            };
            let known = judge.known(&origin, HostSource::Own);
            // Another part of them in each round; those that ignore `*` are few.
            let ignores_star =
                |at: &usize| registry.crawler(CrawlerId(*at as u16)).star == StarGroups::Ignored;
            let part = |at: &usize| at % 15 == round % 15 || ignores_star(at);
            for crawler in (0..registry.len()).filter(part).map(|at| CrawlerId(at as u16)) {
                let rules = judge.constant_rules(known.as_deref(), crawler).unwrap();
                found += 1;
                for target in ["/", "/a", "/a/b", "/xb", "/robots.txt?x", "*"] {
                    let mut scratch = Vec::new();
                    let path = (target != "*")
                        .then(|| prepare(target.as_bytes(), Dialect::Google, &mut scratch));
                    let time = UtcTime::from_unix_seconds(1_774_000_000).unwrap();
                    let at = JudgedAt::Time(time, BeforeFirst::Unknown);
                    let expected = judge.verdict(known.as_deref(), crawler, path, at);
                    let verdict = rules.verdict(path);
                    assert_eq!(parts(verdict), parts(expected), "{target}");
                    let directives = verdict.robots.map(|robots| judge.directives(robots, crawler));
                    if let Some(directives) = directives {
                        assert_eq!(directives, (rules.has_delay, rules.restriction));
                    }
                    match verdict.verdict {
                        Verdict::Allowed(_) => kinds[0] += 1,
                        Verdict::Violation(_) => kinds[1] += 1,
                        Verdict::AllowedIgnoringStar(_) => kinds[2] += 1,
                        Verdict::NotBound(Some(_)) => kinds[3] += 1,
                        Verdict::NotBound(None) => kinds[4] += 1,
                        _ => {}
                    }
                }
            }
        }
        assert!(found > 0 && kinds.iter().all(|count| *count > 5), "{kinds:?}");
    }

    /// Rules that count at some times only are no constant ones.
    #[test]
    fn an_archive_and_outages_have_no_constant_rules() {
        let registry = Registry::builtin();
        let origin = Origin::parse(b"https://a.example").unwrap();
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("robots.txt");
        std::fs::write(&file, "User-agent: *\nDisallow: /\n").unwrap();
        let store = Store::open(&file).unwrap();
        let mut judge = Judge::new(store, &registry, Dialect::Google).unwrap();
        let rules = |judge: &Judge| {
            let known = judge.known(&origin, HostSource::Own);
            judge.constant_rules(known.as_deref(), CrawlerId(0)).is_some()
        };
        assert!(rules(&judge));
        judge.add_outages([(Some(origin.clone()), (1000..1100).collect())].into());
        assert!(!rules(&judge));
        assert!(judge.constant_rules(None, CrawlerId(0)).is_none());
    }
}
