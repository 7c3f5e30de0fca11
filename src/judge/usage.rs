//! Preferences about the use of what a crawler fetches: see [`crate::robots::usage`].
//!
//! They change no verdict. A preference applies to a path that the crawler may request. Of the lines
//! for the crawler, those with the longest matching path decide together: for each kind of use the
//! most restrictive value. Kinds that they do not name are unknown; shorter paths are not asked. A
//! group that names a control token of the crawler's operator, such as Google-Extended, reserves
//! what it disallows. If an earlier copy of robots.txt that the crawler may still have says
//! something else, the preference is `changed-recently`.

use serde::{Deserialize, Serialize};

use crate::crawlers::crawler::CrawlerId;
use crate::matcher::{glob::shape, pattern, select::GroupChoice};
use crate::robots::model::{ParsedRobotsTxt, ProductToken};
use crate::robots::usage::{UsageCategory, UsagePreference, UsageSignal};
use crate::url::path::PathQuery;

use super::profile::{Asker, CrawlerProfile};
use super::robots::{CrawlerUsage, Kind, Robots, RobotsId, kinds};
use super::verdict::{DatedVerdict, JudgedAt};
use super::{Judge, origin_history::OriginHistory, timeline::Ruling};

/// The preference that a version of robots.txt states about one kind of use, or `None` if it states none.
type Stated = Option<(UsagePreference, u32)>;

/// A preference that applied to a request.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct StatedPreference {
    /// The version of robots.txt in force.
    pub robots: RobotsId,
    /// The line that states it, 1-based.
    pub line: u32,
    /// The form of the statement.
    pub signal: UsageSignal,
    /// The kind of use.
    pub category: UsageCategory,
    /// The preference.
    pub preference: UsagePreference,
}

impl Judge {
    /// The same judge, which ignores preferences of these forms.
    #[must_use]
    pub(crate) fn ignoring_usage(self, ignored_usage: Vec<UsageSignal>) -> Judge {
        Judge { ignored_usage, ..self }
    }

    /// The preferences about the purpose of `crawler` that applied to a request for `path` with the
    /// verdict `dated`; none if the crawler may not request it.
    #[inline]
    pub(crate) fn usage(
        &self,
        known: Option<&OriginHistory>,
        dated: &DatedVerdict<'_>,
        who: (Asker<'_>, Option<PathQuery<'_>>),
        at: JudgedAt,
    ) -> Vec<StatedPreference> {
        match dated.robots.filter(|robots| robots.usage.is_some()) {
            Some(robots) => self.usage_in(robots, known, who, at),
            None => Vec::new(),
        }
    }

    fn usage_in(
        &self,
        robots: &Robots,
        known: Option<&OriginHistory>,
        (asker, path): (Asker<'_>, Option<PathQuery<'_>>),
        at: JudgedAt,
    ) -> Vec<StatedPreference> {
        let (Some(known), Some(path)) = (known, path) else { return Vec::new() };
        let mut stated = self.stated(robots, asker, path);
        if stated.iter().all(Option::is_none) {
            return Vec::new();
        }
        if let JudgedAt::Time(time, before) = at
            && let Some(in_force) = known.at(time, before)
        {
            let held = known.held(&in_force, time).filter(|held| *held != Ruling::Unreachable);
            for earlier in held.map(|held| known.rules(held)) {
                let earlier = earlier.map(|earlier| self.stated(earlier, asker, path));
                for (at, stated) in stated.iter_mut().enumerate() {
                    let earlier = earlier.as_ref().and_then(|earlier| *earlier.get(at)?);
                    if let Some((preference, _)) = stated
                        && earlier.map(|(earlier, _)| earlier) != Some(*preference)
                    {
                        *preference = UsagePreference::ChangedRecently;
                    }
                }
            }
        }
        let (kinds, robots) = (self.crawler_usage(robots, asker.crawler).kinds, robots.id);
        let of_controls = std::iter::repeat((UsageSignal::ProductToken, UsageCategory::AiTraining));
        let kinds = kinds.iter().copied().chain(of_controls).zip(stated);
        let preference = |((signal, category), stated): (Kind, Stated)| {
            let (preference, line) = stated?;
            Some(StatedPreference { robots, line, signal, category, preference })
        };
        kinds.filter_map(preference).collect()
    }

    /// Whether `text` states anything about use.
    pub(super) fn states_usage(&self, text: &ParsedRobotsTxt) -> bool {
        let mut controls = self.profiles.controls.iter().map(|control| self.profiles.get(*control));
        let is_named =
            |control: &CrawlerProfile| matches!(control.bound_by(text), GroupChoice::Token(_));
        !text.usage.is_empty() || controls.any(is_named)
    }

    fn crawler_usage<'r>(&self, robots: &'r Robots, crawler: CrawlerId) -> &'r CrawlerUsage {
        let by_crawler = robots.usage.as_ref().expect("only asked for if it states something");
        let profile = self.profiles.get(crawler);
        by_crawler.get_or_init(crawler, || self.find_usage(robots, crawler, profile))
    }

    fn find_usage(
        &self,
        robots: &Robots,
        crawler: CrawlerId,
        profile: &CrawlerProfile,
    ) -> CrawlerUsage {
        let is_used = |signal: &UsageSignal| !self.ignored_usage.contains(signal);
        let facts = self.profiles.facts(crawler);
        let kinds = facts.map_or(&[][..], |facts| kinds(&facts.purpose));
        let controls = self.profiles.controls.iter().copied().filter(|control| {
            let is_of = |of: &str| {
                facts.is_some_and(|facts| facts.has_one_operator() && facts.operator == of)
            };
            let has_reuse =
                facts.is_some_and(|facts| ["search", "ai-training"].contains(&&*facts.purpose));
            *control != crawler
                && has_reuse
                && is_used(&UsageSignal::ProductToken)
                && self.profiles.facts(*control).is_some_and(|control| is_of(&control.operator))
        });
        let bound_by = profile.bound_by(&robots.text);
        let is_meant = |token: &ProductToken| match bound_by {
            GroupChoice::Token(_) => token.names(profile.group(bound_by)),
            GroupChoice::Star => token.is_star(),
            GroupChoice::Nothing => false,
        };
        let mut statements: Vec<(Box<[u8]>, usize)> = Vec::new();
        for (at, usage) in robots.text.usage.iter().enumerate() {
            let is_of_kind = kinds.iter().any(|(signal, _)| *signal == usage.signal);
            if is_of_kind
                && is_used(&usage.signal)
                && usage.product_tokens(&robots.text).iter().any(is_meant)
            {
                statements.push((pattern::prepare(&usage.path, self.dialect).into(), at));
            }
        }
        statements.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        CrawlerUsage { kinds, statements: statements.into(), controls: controls.collect() }
    }

    /// What `robots` states about a path: for each kind of the crawler, then for each control token.
    fn stated(&self, robots: &Robots, asker: Asker<'_>, path: PathQuery<'_>) -> Vec<Stated> {
        if robots.usage.is_none() {
            return Vec::new();
        }
        let of_names = self.is_named_in(robots, asker).then(|| {
            let profile = self.profiles.get(asker.crawler).named(asker.names);
            self.find_usage(robots, asker.crawler, &profile)
        });
        let usage = of_names.as_ref().unwrap_or_else(|| self.crawler_usage(robots, asker.crawler));
        let is_silent = usage.statements.is_empty() && usage.controls.is_empty();
        let is_allowed = || self.decide(robots, asker, path).is_some_and(|by| by.allowed);
        if is_silent || !is_allowed() {
            return Vec::new();
        }
        let mut stated = vec![None; usage.kinds.len()];
        for signal in [UsageSignal::ContentUsage, UsageSignal::ContentSignal] {
            let of_signal = usage.statements.iter().filter_map(|(pattern, at)| {
                let statement = &robots.text.usage[*at];
                (statement.signal == signal).then_some((pattern, statement))
            });
            let is_match = |pattern: &[u8]| shape(pattern, self.dialect).is_match(path.as_bytes());
            let mut matching = of_signal.filter(|(pattern, _)| is_match(pattern)).peekable();
            let Some(length) = matching.peek().map(|(pattern, _)| pattern.len()) else { continue };
            for (_, statement) in matching.take_while(|(pattern, _)| pattern.len() == length) {
                for (kind, stated) in usage.kinds.iter().zip(&mut stated) {
                    let preference = statement.preference(kind.1).filter(|_| kind.0 == signal);
                    let found = preference.map(|preference| (preference, statement.path.line));
                    *stated = crate::merge::least(*stated, found);
                }
            }
        }
        stated.extend(usage.controls.iter().map(|control| {
            let binding = self.kept_binding(robots, *control);
            let decision = self.decide(robots, *control, path).filter(|_| binding.is_named)?;
            let preference = match decision.allowed {
                true => UsagePreference::Permitted,
                false => UsagePreference::Reserved,
            };
            Some((preference, decision.line?))
        }));
        stated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Store;
    use crate::crawlers::registry::Registry;
    use crate::judge::HostSource;
    use crate::url::origin::Origin;
    use crate::url::path::{Dialect, prepare};

    /// The preferences for `crawler` and a path, as `category=preference line`.
    fn stated(judge: &Judge, crawler: &str, path: &str) -> String {
        let crawler = Registry::builtin().find(crawler).unwrap();
        let origin = Origin::parse(b"https://a.example").unwrap();
        let known = judge.known(&origin, HostSource::Own);
        let mut scratch = Vec::new();
        let path = Some(prepare(path.as_bytes(), judge.dialect(), &mut scratch));
        let at = JudgedAt::Newest;
        let dated = judge.verdict(known.as_deref(), crawler, path, at);
        let stated = judge.usage(known.as_deref(), &dated, (crawler.into(), path), at);
        let stated = stated.iter().map(|stated| {
            let StatedPreference { category, preference, line, .. } = stated;
            format!("{}={} {line}", category.as_str(), preference.as_str())
        });
        stated.collect::<Vec<_>>().join(", ")
    }

    fn judge(text: &str) -> Judge {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("robots.txt");
        std::fs::write(&path, text.replace(" · ", "\n").replace("CU", "Content-Usage:")).unwrap();
        Judge::new(Store::open(&path).unwrap(), &Registry::builtin(), Dialect::Google).unwrap()
    }

    /// `train` is what a training crawler finds, and `search` what a search engine does.
    #[track_caller]
    fn check(text: &str, path: &str, [train, search]: [&str; 2]) {
        let judge = judge(text);
        let [train, search] = [("ClaudeBot", "train-ai=", train), ("bingbot", "search=", search)]
            .map(|(crawler, category, expected)| {
                let stated = stated(&judge, crawler, path);
                let expected = if expected.is_empty() {
                    String::new()
                } else {
                    format!("{category}{expected}")
                };
                (stated, expected)
            });
        assert_eq!((train.0, search.0), (train.1, search.1), "{text} {path}");
    }

    #[test]
    fn statements_of_the_draft_are_combined_as_it_says() {
        const TWO: &str = "User-agent: * · Allow: / · Disallow: /never/ · CU train-ai=n · \
                           CU /ai-ok/ train-ai=y · User-agent: ClaudeBot · Allow: / · CU train-ai=y";
        let [no, yes] = ["reserved", "permitted"];
        let of = |what: &str, line: u32| format!("{what} {line}");
        check("User-agent: * · Allow: / · CU train-ai=n", "/x", [&of(no, 3), ""]);
        check(TWO, "/never/t", [&of(yes, 8), ""]);
        let two = judge(TWO);
        for (path, expected) in [
            ("/test", "train-ai=reserved 4"),
            ("/never/t", ""),
            ("/ai-ok/t", "train-ai=permitted 5"),
        ] {
            assert_eq!(stated(&two, "GPTBot", path), expected, "{path}");
        }
        check("User-agent: * · CU train-ai=n", "/x", [&of(no, 2), ""]);
        check("CU train-ai=n · User-agent: * · Allow: /", "/x", ["", ""]);
        check(
            "User-agent: * · CU train-ai=n · Allow: / · User-agent: ClaudeBot · Disallow: /x",
            "/y",
            ["", ""],
        );
        let merged = "User-agent: ClaudeBot · Allow: / · CU train-ai=n · User-agent: ClaudeBot · Allow: / · \
                      CU /p train-ai=y";
        check(merged, "/p/1", [&of(yes, 6), ""]);
        check(merged, "/q", [&of(no, 3), ""]);
        let star = |lines: &str| format!("User-agent: * · Allow: / · {lines}");
        for (lines, path, expected) in [
            ("CU /p train-ai=y · CU /p train-ai=n", "/p/1", [&*of(no, 4), ""]),
            ("CU /p train-ai=n · CU /p train-ai=y", "/p/1", [&of(no, 3), ""]),
            ("CU /p train-ai=n · CU /p search=y", "/p/1", [&of(no, 3), &of(yes, 4)]),
            ("CU train-ai=n, search=y · CU /p train-ai=y", "/p/1", [&of(yes, 4), ""]),
            ("CU train-ai=n · CU / train-ai=y", "/x", [&of(yes, 4), ""]),
            ("CU train-ai=y · CU /*.pdf$ train-ai=n", "/a.pdf", [&of(no, 4), ""]),
            ("CU train-ai=y · CU /*.pdf$ train-ai=n", "/a.pdf?x", [&of(yes, 3), ""]),
            ("CU /?b train-ai=y · CU /*b train-ai=n", "/?b", [&of(no, 4), ""]),
            ("CU train-ai=n · CU /p train-ai", "/p/1", ["", ""]),
            ("CU /index.html train-ai=n", "/", ["", ""]),
            ("CU /a%20b train-ai=n", "/a b", [&of(no, 3), ""]),
            ("CU /a%2fb train-ai=n", "/a%2Fb", [&of(no, 3), ""]),
            ("Disallow: /p · CU /p train-ai=y", "/p/1", ["", ""]),
            ("CU train-ai=n", "/robots.txt", ["", ""]),
        ] {
            check(&star(lines), path, expected);
        }
        // Google's parser sees one group, whose rules are those of verdicts.
        let clash = "User-agent: ClaudeBot · CU train-ai=n · User-agent: bingbot · CU search=n · \
                     Allow: / · Disallow: /p";
        check(clash, "/p/1", ["", ""]);
        check(clash, "/q", [&of(no, 2), &of(no, 4)]);
    }

    #[test]
    fn purposes_decide_which_kinds_of_use_matter() {
        let judge = judge(
            "User-agent: * · Content-Signal: search=yes, ai-train=no, ai-input=no, use=reference · \
             Content-Signal: /b use=full · Content-Signal: /b use=immediate, ai-train=no · Allow: /",
        );
        for (crawler, path, expected) in [
            ("GPTBot", "/a", "ai-train=reserved 2"),
            ("OAI-SearchBot", "/a", "search=permitted 2, ai-input=reserved 2, use=reference 2"),
            ("OAI-SearchBot", "/b", "use=immediate 4"),
            ("ChatGPT-User", "/a", "ai-input=reserved 2, use=reference 2"),
            ("bingbot", "/a", "search=permitted 2"),
            ("AhrefsBot", "/a", ""),
        ] {
            assert_eq!(stated(&judge, crawler, path), expected, "{crawler} {path}");
        }
    }

    #[test]
    fn control_tokens_reserve_what_their_groups_disallow() {
        let text = "User-agent: Google-Extended · Disallow: /secret/ · Allow: /open/ · \
                    User-agent: Googlebot · Disallow: /never/ · Content-Usage: search=y";
        let ignored = vec![UsageSignal::ProductToken];
        for (path, expected, without) in [
            ("/secret/a", "search=permitted 6, ai-training=reserved 2", "search=permitted 6"),
            ("/open/a", "search=permitted 6, ai-training=permitted 3", "search=permitted 6"),
            ("/a", "search=permitted 6", "search=permitted 6"),
            ("/never/a", "", ""),
        ] {
            assert_eq!(stated(&judge(text), "Googlebot", path), expected, "{path}");
            let ignoring = judge(text).ignoring_usage(ignored.clone());
            assert_eq!(stated(&ignoring, "Googlebot", path), without, "{path}");
            assert_eq!(stated(&judge(text), "bingbot", path), "", "another operator: {path}");
        }
        // Neither a crawler of another purpose nor the token itself is asked for reuse.
        for crawler in ["AdsBot-Google", "Google-Extended"] {
            assert_eq!(stated(&judge(text), crawler, "/secret/a"), "", "{crawler}");
        }
        // Only the group `*` binds it. The groups for all crawlers have no statement about use.
        let star = judge("User-agent: * · Disallow: / · User-agent: Googlebot · Allow: /");
        assert_eq!(stated(&star, "Googlebot", "/a"), "");
    }
}
