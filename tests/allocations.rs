//! A verdict allocates nothing, by any interface of the library. A batch of a list keeps no
//! robots.txt in memory.
//!
//! A program beside `all`, because it has an allocator of its own, as `damaged_tally` needs, too.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod damaged_tally;
#[path = "../src/random.rs"]
mod random;

use allocation_counter::measure;

use botaudit::archive::Store;
use botaudit::classify::answer::Detail;
use botaudit::classify::batch::{BatchContext, BatchMemory, JudgedBatch, judge};
use botaudit::classify::input_format::{CrawlerSource, InputFormat};
use botaudit::classify::known_origin::OriginCache;
use botaudit::classify::rows::InputRows;
use botaudit::crawlers::cache::UserAgentCache;
use botaudit::crawlers::registry::Registry;
use botaudit::judge::origin_history::OriginHistory;
use botaudit::judge::verdict::{JudgedAt, Verdict};
use botaudit::judge::{Judge, profile::CrawlerProfile};
use botaudit::matcher::compiled::CompiledPolicy;
use botaudit::matcher::decision::Decision;
use botaudit::matcher::limits::Limits;
use botaudit::matcher::select::{Selection, select};
use botaudit::robots::model::ParsedRobotsTxt;
use botaudit::robots::model::StarGroups;
use botaudit::robots::parse::parse;
use botaudit::url::path::Dialect;
use botaudit::url::path::prepare;
use botaudit::{Matcher, RobotsTxt};

const DIALECTS: [Dialect; 2] = [Dialect::Google, Dialect::Rfc9309];

/// Prefixes, anchors, wildcards, encoded characters, an index page, and prefixes of prefixes.
fn text(rules: usize) -> String {
    let rule = |number: usize| match number % 7 {
        0 => format!("Disallow: /{}/plain-{number}\n", "a".repeat(number % 40)),
        1 => format!("Allow: /a{number}$\n"),
        2 => format!("Disallow: /*/tail-{number}*.php$\n"),
        3 => format!("Disallow: /*?sort{number}=*&page=\n"),
        4 => format!("Allow: /b{number}/index.html\n"),
        5 => format!("Disallow: /*x%2A{number}{}%24\n", "y".repeat(200)),
        _ => format!("Disallow: /%7Euser{number}\u{e9}/\n"),
    };
    "User-agent: *\n".to_owned() + &(0..rules).map(rule).collect::<String>()
}

/// Targets as in logs; the longest is last.
fn targets() -> Vec<Vec<u8>> {
    let mut targets: Vec<Vec<u8>> = vec![
        b"/".to_vec(),
        b"".to_vec(),
        b"?q".to_vec(),
        b"/robots.txt".to_vec(),
        b"/aaaa/plain-4".to_vec(),
        b"/a8".to_vec(),
        b"/some/where/tail-9/x.php".to_vec(),
        b"/list?sort10=up&x=1&page=2#top".to_vec(),
        b"/b11/".to_vec(),
        "/%7euser6\u{e9}/ \"<\x7f".into(),
        b"/%zz%".to_vec(),
    ];
    targets.push([b"/x*12", "y".repeat(200).as_bytes(), b"$"].concat());
    targets.push([b"/".as_slice(), &b"x%2ay".repeat(400)].concat());
    targets.push(b"/aaab?sort=".repeat(800));
    targets
}

/// Decides on every target twice with the same scratch buffer, and counts allocations the second
/// time.
#[track_caller]
fn check(dialect: Dialect, what: &str, mut verdict: impl FnMut(&[u8], &mut Vec<u8>) -> Decision) {
    let targets = targets();
    let mut scratch = Vec::new();
    // The last one is the longest, so that no other needs more memory.
    targets.iter().rev().for_each(|target| _ = verdict(target, &mut scratch));
    scratch.reserve(4 * targets.last().unwrap().len());
    for target in &targets {
        let mut said = Decision::NO_RULE;
        let info = measure(|| said = verdict(target, &mut scratch));
        let shown = target[..target.len().min(60)].escape_ascii();
        assert_eq!(info.count_total, 0, "{what}, {dialect:?}: {shown} {said:?}");
    }
}

fn selection(robots: &ParsedRobotsTxt) -> Selection<'_> {
    select(robots, &["examplebot"], StarGroups::Honoured)
}

#[test]
fn the_counter_counts() {
    assert!(measure(|| drop(std::hint::black_box(vec![1]))).count_total > 0);
}

#[test]
fn a_policy_allocates_nothing_for_a_verdict() {
    // No rules, a few that are tried in order, and many in a table.
    for rules in [0, 1, 6, 7, 60, 700] {
        let (robots, _) = parse(text(rules).as_bytes());
        let selection = selection(&robots);
        let lines = selection.lines();
        for dialect in DIALECTS {
            let policy = CompiledPolicy::new(&selection.rules(), dialect, &Limits::default());
            let decide = |target: &[u8], scratch: &mut Vec<u8>| {
                policy.decide(prepare(target, dialect, scratch).as_bytes())
            };
            let what = format!("{rules} rules, not compiled yet");
            check(dialect, &what, |target, scratch| decide(target, scratch).with_lines(&lines));
            policy.compile();
            let what = format!("{rules} rules, compiled");
            check(dialect, &what, |target, scratch| decide(target, scratch).with_lines(&lines));
            let what = format!("{rules} rules, lines from the selection");
            check(dialect, &what, |target, scratch| selection.decision(decide(target, scratch)));
        }
    }
}

/// Also for URLs, and after [`Matcher::compile`].
#[test]
fn a_matcher_allocates_nothing_for_a_decision() {
    let tokens = ["examplebot-image", "examplebot"];
    for rules in [0, 1, 6, 7, 60, 700] {
        for dialect in DIALECTS {
            let robots = RobotsTxt::parse(text(rules)).with_dialect(dialect);
            let matcher = robots.matcher(tokens).unwrap();
            let decide = |target: &[u8], _: &mut Vec<u8>| matcher.decide(target);
            check(dialect, &format!("matcher of {rules} rules"), decide);
            matcher.compile();
            check(dialect, &format!("matcher of {rules} rules, compiled"), decide);
            let urls =
                targets().into_iter().map(|target| [b"https://a.example", &*target].concat());
            for url in urls {
                let path = matcher.decide(&url["https://a.example".len()..]);
                let mut decision = Decision::NO_RULE;
                let info = measure(|| decision = matcher.decide(&url));
                assert_eq!((info.count_total, decision), (0, path), "{}", url.escape_ascii());
            }
        }
    }
}

#[test]
fn a_judge_allocates_nothing_for_a_verdict() {
    let registry = Registry::builtin();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robots.txt");
    for rules in [3, 300] {
        std::fs::write(&path, text(rules)).unwrap();
        for dialect in DIALECTS {
            let judge = Judge::new(Store::open(&path).unwrap(), &registry, dialect).unwrap();
            let robots = judge.unnamed().unwrap();
            let crawler = registry.find("GPTBot").unwrap();
            check(dialect, "judge", |target, scratch| {
                judge.decide(&robots, crawler, prepare(target, dialect, scratch)).unwrap()
            });
            let known = OriginHistory::always(robots);
            // One that is bound, one that ignores `*`, one that is not bound.
            for crawler in ["GPTBot", "AdsBot-Google", "ChatGPT-User"] {
                let crawler = registry.find(crawler).unwrap();
                check(dialect, "verdict", |target, scratch| {
                    let path = prepare(target, dialect, scratch);
                    let dated = judge.verdict(Some(&known), crawler, Some(path), JudgedAt::Newest);
                    let line = dated.verdict.rule().map(|rule| rule.line);
                    Decision { allowed: !dated.verdict.is_disallowed(), line }
                });
            }
        }
    }
}

/// More files than fit in memory decide rows of one batch, which names their rules afterwards.
#[test]
fn a_batch_keeps_no_robots_txt_in_memory() {
    const ORIGINS: usize = 100;
    let dir = tempfile::tempdir().unwrap();
    let long = "x".repeat(200);
    for origin in 0..ORIGINS {
        let rules = (0..500).map(|rule| format!("Disallow: /{origin}/{long}/{rule}\n"));
        let text = format!("User-agent: *\n{}Disallow: /{origin}\n", rules.collect::<String>());
        std::fs::write(dir.path().join(format!("h{origin}.example")), text).unwrap();
    }
    let store = Store::open(dir.path()).unwrap();
    let crawlers = vec![CrawlerProfile::of_token("examplebot".to_owned())];
    let judged_by = Judge::of_many(store, crawlers, Dialect::Google, 1 << 20).unwrap();
    let crawlers = CrawlerSource::Fixed(vec!["examplebot".to_owned()]);
    let detail = Detail::Rules;
    let context =
        BatchContext { judge: &judged_by, crawlers: &crawlers, default_scheme: None, detail };
    let list: String =
        (0..ORIGINS).map(|origin| format!("http://h{origin}.example/{origin}\n")).collect();
    let mut memory =
        BatchMemory { origins: OriginCache::new(1 << 20), user_agents: UserAgentCache::default() };
    let rows = InputRows::read(&InputFormat::Lines, list.into_bytes());
    let mut judged: Option<JudgedBatch> = None;
    let info = measure(|| judged = Some(judge(&context, &InputFormat::Lines, rows, &mut memory)));
    // Together they take over 12 MB.
    assert!(info.bytes_max < 4 << 20, "{}", info.bytes_max);
    let judged = judged.unwrap();
    for (origin, outcome) in judged.outcomes.iter().enumerate() {
        let rule = judged.outcomes.rule(outcome).unwrap();
        assert_eq!((rule.line, rule.pattern), (502, format!("/{origin}").as_bytes()));
    }
}

/// Many threads decide at once.
#[test]
fn what_judges_is_shared_by_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<RobotsTxt>();
    is_shared::<Matcher>();
    is_shared::<ParsedRobotsTxt>();
    is_shared::<Selection<'_>>();
    is_shared::<CompiledPolicy>();
    is_shared::<Verdict>();
    is_shared::<Decision>();
    is_shared::<Registry>();
    is_shared::<Judge>();
    is_shared::<botaudit::judge::robots::Robots>();
    is_shared::<botaudit::url::origin::Origin>();
    is_shared::<botaudit::url::path::PathQuery<'_>>();
}
