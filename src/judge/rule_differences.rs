//! The rules that only one of two versions of a robots.txt has for a crawler, and what they change.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use botaudit_robots::named_enum;

use crate::matcher::{compiled::CompiledPolicy, limits::Limits};
use crate::robots::model::{Directive, ParsedRobotsTxt, Rule};
use crate::url::path::{Dialect, prepare};

use super::profile::CrawlerProfile;
use super::restriction::{ROBOTS_TXT, paths_of};

named_enum! {
    /// What a change does to the paths that a crawler may request.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub(crate) enum Effect {
        /// No path is allowed or disallowed by it.
        None = "none",
        /// Some paths are newly disallowed.
        Tightened = "tightened",
        /// Some paths are newly allowed.
        Loosened = "loosened",
        /// Some are newly disallowed, and others newly allowed.
        Both = "both",
    }
}

impl Effect {
    /// The effect of both.
    pub(crate) fn and(self, other: Effect) -> Effect {
        match (self, other) {
            (Effect::None, effect) | (effect, Effect::None) => effect,
            (one, other) if one == other => one,
            _ => Effect::Both,
        }
    }
}

/// A rule that only one version has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleDifference<'a> {
    /// Whether the new version has it.
    pub is_added: bool,
    /// The first such rule.
    pub rule: &'a Rule,
    /// The effect on paths that it decides.
    pub effect: Effect,
}

/// Directive and pattern of a rule.
type Content<'a> = (Directive, &'a [u8]);

/// The places of the rules of both versions in memory.
type RulePlaces = [Box<[usize]>; 2];

/// Two versions of a robots.txt; `None` is one without rules.
#[derive(Debug)]
pub(crate) struct Versions<'a> {
    old: Option<&'a ParsedRobotsTxt>,
    new: Option<&'a ParsedRobotsTxt>,
    /// Many crawlers follow the same groups.
    known: HashMap<RulePlaces, Rc<[RuleDifference<'a>]>>,
}

impl<'a> Versions<'a> {
    /// These versions.
    pub(crate) fn new(
        old: Option<&'a ParsedRobotsTxt>,
        new: Option<&'a ParsedRobotsTxt>,
    ) -> Versions<'a> {
        Versions { old, new, known: HashMap::new() }
    }

    /// The rules for the crawler `profile` that only one version has: first the removed ones, then
    /// the added ones, each in the order of the file. The order of rules and repetitions are no
    /// difference.
    pub(crate) fn differences(&mut self, profile: &CrawlerProfile) -> Rc<[RuleDifference<'a>]> {
        let rules = |text: Option<&'a ParsedRobotsTxt>| {
            text.map_or_else(Vec::new, |text| profile.select(text).rules())
        };
        let both = [rules(self.old), rules(self.new)];
        let places = both.each_ref().map(|rules| rules.iter().map(|rule| place(rule)).collect());
        let found = || differences([&both[0], &both[1]]).into();
        Rc::clone(self.known.entry(places).or_insert_with(found))
    }
}

fn place(rule: &Rule) -> usize {
    std::ptr::from_ref(rule) as usize
}

fn differences<'a>([old, new]: [&[&'a Rule]; 2]) -> Vec<RuleDifference<'a>> {
    let (in_old, in_new) = (Contents::new(old), Contents::new(new));
    let mut found = in_old.without(&in_new, false);
    found.extend(in_new.without(&in_old, true));
    if !found.is_empty() {
        add_effects([old, new], &mut found);
    }
    found
}

/// The rules of a version: those with an empty pattern decide nothing.
struct Contents<'a> {
    rules: Vec<&'a Rule>,
    known: HashSet<Content<'a>>,
}

impl<'a> Contents<'a> {
    /// The first of each content.
    fn new(rules: &[&'a Rule]) -> Contents<'a> {
        let mut known = HashSet::new();
        let is_first = |rule: &&'a Rule| !rule.pattern.is_empty() && known.insert(content(rule));
        let rules = rules.iter().copied().filter(is_first).collect();
        Contents { rules, known }
    }

    /// Those that `other` does not have.
    fn without(&self, other: &Contents<'a>, is_added: bool) -> Vec<RuleDifference<'a>> {
        let rules = self.rules.iter().filter(|rule| !other.known.contains(&content(rule)));
        rules.map(|rule| RuleDifference { is_added, rule, effect: Effect::None }).collect()
    }
}

fn content(rule: &Rule) -> Content<'_> {
    (rule.directive, &rule.pattern)
}

/// The rules of both versions with which a rule is combined to find paths that both match.
const COMBINED_MAX: usize = 16;

/// The longest pattern of such a rule.
const OTHER_BYTES_MAX: usize = 256;

/// Texts that are part of paths which `pattern` matches: with its wildcards empty and filled.
fn parts_of(pattern: &[u8]) -> [Vec<u8>; 2] {
    let text = pattern.strip_suffix(b"$").unwrap_or(pattern);
    [&b""[..], b"~"].map(|wildcard| {
        let part = filled(text, wildcard);
        part.into_iter().skip_while(|byte| *byte == b'/').collect()
    })
}

/// `text` with `part` in place of each wildcard.
fn filled(text: &[u8], part: &[u8]) -> Vec<u8> {
    let bytes =
        text.iter().flat_map(|byte| if *byte == b'*' { part } else { std::slice::from_ref(byte) });
    bytes.copied().collect()
}

/// Paths that `pattern` matches, and some of them that have one of `parts`.
fn tried_paths(pattern: &[u8], parts: &BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
    let text = pattern.strip_suffix(b"$").unwrap_or(pattern);
    let mut paths = paths_of(pattern);
    for other in parts {
        let filled = filled(text, other);
        let rooted = if filled.starts_with(b"/") { filled } else { [b"/", &*filled].concat() };
        if text.len() == pattern.len() {
            paths.push([&*rooted, other].concat());
        }
        paths.push(rooted);
    }
    paths
}

/// Tries some paths that each of `found` matches. Where both versions decide differently, a rule
/// that only one of them has decides in it: that rule has the effect.
fn add_effects([old, new]: [&[&Rule]; 2], found: &mut [RuleDifference<'_>]) {
    let policies =
        [old, new].map(|rules| CompiledPolicy::new(rules, Dialect::Google, &Limits::default()));
    let places: HashMap<(bool, Content<'_>), usize> =
        found.iter().enumerate().map(|(at, of)| ((of.is_added, content(of.rule)), at)).collect();
    let mut effects = vec![Effect::None; found.len()];
    let mut scratch = Vec::new();
    let all = new.iter().chain(old).map(|rule| &*rule.pattern);
    let mut others: Vec<&[u8]> = all.filter(|pattern| pattern.len() <= OTHER_BYTES_MAX).collect();
    // Those with wildcards match most.
    others.sort_by_key(|pattern| !pattern.contains(&b'*'));
    others.truncate(COMBINED_MAX);
    let parts = others.into_iter().flat_map(parts_of).collect();
    for difference in &*found {
        for path in tried_paths(&difference.rule.pattern, &parts) {
            let prepared = prepare(&path, Dialect::Google, &mut scratch);
            let path = prepared.as_bytes();
            let [before, after] = policies.each_ref().map(|policy| policy.decide(path));
            if before.allowed() == after.allowed() || path.starts_with(ROBOTS_TXT) {
                continue;
            }
            let effect = if after.allowed() { Effect::Loosened } else { Effect::Tightened };
            for (is_added, decision, rules) in [(false, before, old), (true, after, new)] {
                let rule = decision.rule().map(|at| content(rules[at]));
                let place = rule.and_then(|rule| places.get(&(is_added, rule)));
                if let Some(&at) = place {
                    effects[at] = effects[at].and(effect);
                }
            }
        }
    }
    for (difference, effect) in found.iter_mut().zip(effects) {
        difference.effect = effect;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::reference;
    use crate::random::Random;
    use crate::robots::parse::parse_body;

    /// Each rule that differs, as `-disallow /a 2 loosened`.
    #[track_caller]
    fn check(old: &str, new: &str, expected: &[&str]) {
        let texts = [old, new].map(parse);
        let mut versions = Versions::new(texts[0].as_ref(), texts[1].as_ref());
        let profile = CrawlerProfile::of_token("GPTBot".to_owned());
        let found: Vec<String> = versions.differences(&profile).iter().map(text).collect();
        assert_eq!(found, expected, "{old} -> {new}");
    }

    /// `none` stands for no robots.txt.
    fn parse(rules: &str) -> Option<ParsedRobotsTxt> {
        let text = format!("User-agent: *\n{}", rules.replace(" | ", "\n"));
        (rules != "none").then(|| parse_body(text.as_bytes()))
    }

    fn text(of: &RuleDifference<'_>) -> String {
        let sign = if of.is_added { '+' } else { '-' };
        let (directive, line) = (of.rule.directive.as_str(), of.rule.line);
        let pattern = String::from_utf8_lossy(&of.rule.pattern);
        format!("{sign}{directive} {pattern} {line} {}", of.effect.as_str())
    }

    #[test]
    fn effects_belong_to_the_rules_that_decide() {
        check("none", "Disallow: /a", &["+disallow /a 2 tightened"]);
        check("Disallow: /a", "none", &["-disallow /a 2 loosened"]);
        check("none", "none", &[]);
        check("Disallow: /a | Disallow: /b", "Disallow: /b | Disallow: /a", &[]);
        check("Disallow: /a", "Disallow: /a | Disallow: /a | Allow:", &[]);
        check("Disallow: /a", "Disallow: /", &["-disallow /a 2 none", "+disallow / 2 tightened"]);
        check(
            "Disallow: /a",
            "Disallow: /ab",
            &["-disallow /a 2 loosened", "+disallow /ab 2 none"],
        );
        check("Allow: /a", "Disallow: /a", &["-allow /a 2 tightened", "+disallow /a 2 tightened"]);
        check(
            "Disallow: /a | Allow: /a/b",
            "Disallow: / | Allow: /a",
            &[
                "-disallow /a 2 loosened",
                "-allow /a/b 3 none",
                "+disallow / 2 tightened",
                "+allow /a 3 loosened",
            ],
        );
        // Wildcards of two rules overlap, as in /a/x.php.
        check(
            "Disallow: * | Allow: /*/x",
            "Disallow: /*.php$ | Allow: /*/x",
            &["-disallow * 2 loosened", "+disallow /*.php$ 2 tightened"],
        );
        // A longer rule of both versions decides.
        check("Allow: /ab*", "Allow: /ab* | Disallow: /ab", &["+disallow /ab 3 none"]);
        // Only robots.txt itself is touched.
        check(
            "Allow: /",
            "Disallow: /robots.txt",
            &["-allow / 2 none", "+disallow /robots.txt 2 none"],
        );
    }

    /// The effect of all rules together is that on all short paths, by the slow matcher.
    #[test]
    fn effects_are_those_of_a_slow_judge() {
        let patterns =
            ["/", "/a", "/a/", "/b", "/ab", "/a$", "/*b", "/a*b$", "*", "/*$", "/*/b", "/*ab$"];
        let mut paths = vec!["/".to_owned()];
        for at in 0..341 {
            let longer = ["a", "b", "/", "~"].map(|letter| format!("{}{letter}", paths[at]));
            paths.extend(longer);
        }
        let mut random = Random::new();
        let (mut seen, mut missed) = ([0; 4], 0);
        for _ in 0..500 {
            let [old, new] = [(); 2].map(|()| {
                let rules = (0..random.below(5)).map(|_| {
                    let word = ["Allow", "Disallow"][random.below(2)];
                    format!("{word}: {}", patterns[random.below(patterns.len())])
                });
                rules.collect::<Vec<_>>().join(" | ")
            });
            let texts = [&old, &new].map(|rules| parse(rules).unwrap());
            let mut versions = Versions::new(Some(&texts[0]), Some(&texts[1]));
            let profile = CrawlerProfile::of_token("GPTBot".to_owned());
            let found = versions.differences(&profile);
            let effect = found.iter().fold(Effect::None, |all, of| all.and(of.effect));
            let is_allowed = |text: &ParsedRobotsTxt, path: &str| {
                let rules = profile.select(text).rules();
                reference::decide(&rules, Dialect::Google, path.as_bytes()).allowed()
            };
            let slow = paths.iter().fold(Effect::None, |all, path| {
                match texts.each_ref().map(|text| is_allowed(text, path)) {
                    [true, false] => all.and(Effect::Tightened),
                    [false, true] => all.and(Effect::Loosened),
                    _ => all,
                }
            });
            missed += usize::from(effect != slow);
            // Each effect has a path.
            assert_eq!(effect.and(slow), slow, "{old} -> {new}");
            seen[effect as usize] += 1;
        }
        assert!(missed <= 8, "{missed}");
        assert!(seen.iter().all(|times| *times > 10), "{seen:?}");
    }
}
