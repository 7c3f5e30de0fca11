use crate::archive::Store;
use crate::crawlers::own_names::own_names;
use crate::crawlers::{identify::Identified, registry::Registry};
use crate::judge::profile::group_of_rule;
use crate::judge::verdict::{JudgedAt, Verdict};
use crate::judge::{HostSource, Judge};
use crate::matcher::reference;
use crate::random::Random;
use crate::robots::model::{Group, Rule, StarGroups};
use crate::robots::parse::parse;
use crate::url::origin::Origin;
use crate::url::path::{Dialect, prepare};

use super::*;

/// `allowed`, `violation` or `ambiguous` for each path, as the judge says for `user_agent`.
fn judged(robots_txt: &str, user_agent: &str, paths: &[&str]) -> Vec<&'static str> {
    let (_file, judge, registry) = judge(robots_txt);
    verdicts(&judge, registry, user_agent, paths)
}

fn judge(robots_txt: &str) -> (tempfile::TempDir, Judge, &'static Registry) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("robots.txt");
    std::fs::write(&file, robots_txt).unwrap();
    let registry = Registry::kept();
    let judge = Judge::of_everyone(Store::open(&file).unwrap(), registry, Dialect::Google);
    (directory, judge.unwrap(), registry)
}

fn verdicts(
    judge: &Judge,
    registry: &Registry,
    user_agent: &str,
    paths: &[&str],
) -> Vec<&'static str> {
    let Identified::Crawler(crawler) = registry.identify(user_agent.as_bytes()) else {
        panic!("{user_agent}")
    };
    let names = own_names(&registry.crawler(crawler).product_tokens, user_agent.as_bytes());
    let asker = Asker { crawler, names: &names };
    let origin = Origin::parse(b"https://a.example").unwrap();
    let known = judge.known(&origin, HostSource::Own);
    let constant = judge.constant_rules(known.as_deref(), crawler).unwrap();
    let of_path = |path: &&str| {
        let mut scratch = Vec::new();
        let path = Some(prepare(path.as_bytes(), Dialect::Google, &mut scratch));
        let verdict = judge.verdict(known.as_deref(), asker, path, JudgedAt::Newest).verdict;
        if !constant.name_another(judge, asker) {
            assert_eq!(constant.verdict(path).verdict, verdict, "{user_agent}");
        }
        match verdict {
            Verdict::Allowed(_) => "allowed",
            Verdict::Violation(_) => "violation",
            Verdict::Ambiguous => "ambiguous",
            other => panic!("{other:?}"),
        }
    };
    paths.iter().map(of_path).collect()
}

/// The same from the text alone, with nothing kept: for each of the names in the header, the rules of the groups that
/// have it; else those for the first product token that a group has; else those for `*`.
fn plain(robots_txt: &str, header_names: &[&str], tokens: &[&str], path: &str) -> &'static str {
    let (robots, _) = parse(robots_txt.as_bytes());
    let groups_for = |name: &str| -> Vec<&Group> {
        let has = |group: &&Group| {
            let mut written = group.product_tokens.iter().map(|token| &token.written);
            written.any(|written| written.eq_ignore_ascii_case(name.as_bytes()))
        };
        robots.groups.iter().filter(has).collect()
    };
    let decide = |groups: &[&Group]| {
        let rules: Vec<&Rule> = groups.iter().flat_map(|group| &group.rules).collect();
        let mut scratch = Vec::new();
        let path = prepare(path.as_bytes(), Dialect::Google, &mut scratch);
        reference::decide(&rules, Dialect::Google, path.as_bytes()).allowed()
    };
    let is_rank = |name: &str| tokens.iter().position(|token| token.eq_ignore_ascii_case(name));
    let is_beaten = |name: &str| {
        header_names.iter().any(|other| {
            let by_row = is_rank(other).zip(is_rank(name)).is_some_and(|(a, b)| a < b);
            let lower = (other.to_lowercase(), name.to_lowercase());
            let both_in_row = is_rank(other).is_some() && is_rank(name).is_some();
            let by_length = !both_in_row && lower.0.starts_with(&format!("{}-", lower.1));
            !groups_for(other).is_empty() && (by_row || by_length)
        })
    };
    let named = header_names.iter().filter(|name| !groups_for(name).is_empty());
    let mut answers: Vec<bool> =
        named.filter(|name| !is_beaten(name)).map(|name| decide(&groups_for(name))).collect();
    if answers.is_empty() {
        let of_row = tokens.iter().map(|token| groups_for(token));
        let of_row = of_row.into_iter().find(|groups| !groups.is_empty());
        answers.push(decide(&of_row.unwrap_or_else(|| groups_for("*"))));
    }
    if tokens == ["Googlebot"] && !groups_for("Googlebot-News").is_empty() {
        answers.push(decide(&groups_for("Googlebot-News")));
    }
    match (answers.contains(&true), answers.contains(&false)) {
        (true, false) => "allowed",
        (false, true) => "violation",
        _ => "ambiguous",
    }
}

const PATHS: [&str; 5] = ["/", "/a", "/a/b", "/b", "/c"];

/// Random user agents of crawlers and random robots.txt files: the judge, which keeps what it finds, and
/// [`plain`], which keeps nothing.
#[test]
fn the_judge_agrees_with_a_plain_search() {
    let mut random = Random::new();
    let crawlers = ["Googlebot", "Googlebot-Image", "GPTBot", "bingbot", "heritrix"];
    let others = ["AcmeBot", "AcmeBot-Image", "Acme", "Googlebot-News", "GPTBot", "heritrix"];
    let groups = [&crawlers[..], &others[..], &["*", "nobody"]].concat();
    let rules = ["/", "/a", "/a/b", "/*b", "/c$", ""];
    let mut found = std::collections::BTreeMap::new();
    for _ in 0..150 {
        let mut text = String::new();
        for _ in 0..random.below(5) {
            for _ in 0..=random.below(2) {
                text += &format!("User-agent: {}\n", groups[random.below(groups.len())]);
            }
            for _ in 0..=random.below(2) {
                let directive = ["Allow", "Disallow", "Disallow"][random.below(3)];
                text += &format!("{directive}: {}\n", rules[random.below(rules.len())]);
            }
        }
        let (_file, judge, registry) = judge(&text);
        for _ in 0..12 {
            let crawler = crawlers[random.below(crawlers.len())];
            let mut names = vec![crawler];
            for _ in 0..random.below(3) {
                names.insert(random.below(names.len() + 1), others[random.below(others.len())]);
            }
            let of_name = |name: &&str| format!("{name}/1.0");
            let user_agent = names.iter().map(of_name).collect::<Vec<_>>().join(" (compatible) ");
            let Identified::Crawler(id) = registry.identify(user_agent.as_bytes()) else {
                panic!("{user_agent}")
            };
            let tokens = &registry.crawler(id).product_tokens;
            assert_eq!(registry.crawler(id).star, StarGroups::Honoured);
            let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
            let answers = verdicts(&judge, registry, &user_agent, &PATHS);
            for (path, answer) in PATHS.iter().zip(answers) {
                assert_eq!(
                    answer,
                    plain(&text, &names, &tokens, path),
                    "{user_agent} {path}\n{text}"
                );
                *found.entry(answer).or_insert(0) += 1;
            }
        }
    }
    assert!(found.len() == 3 && found.values().all(|times| *times > 100), "{found:?}");
}

#[track_caller]
fn check(robots_txt: &str, user_agent: &str, expected: &str) {
    let text = robots_txt.replace(" | ", "\n");
    assert_eq!(judged(&text, user_agent, &["/x"]), [expected], "{user_agent}\n{text}");
}

#[test]
fn a_client_follows_the_group_of_its_own_product() {
    let own = "User-agent: * | Disallow: / | User-agent: AcmeArchive | Allow: /";
    check(own, "AcmeArchive (compatible; heritrix/3.4.0 +https://acme.example)", "allowed");
    check(own, "Mozilla/5.0 (compatible; heritrix/3.4.0 +https://acme.example)", "violation");
    let closed = "User-agent: AcmeArchive | Disallow: /";
    check(closed, "AcmeArchive/1.0 (heritrix/3.4.0)", "violation");
    check(closed, "Mozilla/5.0 (compatible; heritrix/3.4.0)", "allowed");
    // Both products have groups: nobody can know which it follows.
    let both = "User-agent: AcmeArchive | Disallow: / | User-agent: heritrix | Allow: /";
    check(both, "AcmeArchive (compatible; heritrix/3.4.0 +https://acme.example)", "ambiguous");
    let same = "User-agent: AcmeArchive | Disallow: / | User-agent: heritrix | Disallow: /x";
    check(same, "AcmeArchive (compatible; heritrix/3.4.0 +https://acme.example)", "violation");
}

#[test]
fn crawlers_with_one_user_agent_are_not_told_apart() {
    let smartphone = "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) \
                      Chrome/130.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
    let news_only = "User-agent: Googlebot | Disallow: / | User-agent: Googlebot-News | Allow: /";
    check(news_only, smartphone, "ambiguous");
    check(news_only, "Googlebot-News", "allowed");
    check(news_only, "Googlebot-Image/1.0", "violation");
    let no_news = "User-agent: Googlebot-News | Disallow: /";
    check(no_news, smartphone, "ambiguous");
    let both = "User-agent: Googlebot-News | Disallow: / | User-agent: * | Disallow: /x";
    check(both, smartphone, "violation");
    // A token for the use of pages, not a crawler.
    check("User-agent: Google-Extended | Disallow: /", smartphone, "allowed");
}

#[test]
fn a_rule_is_quoted_with_its_own_group() {
    let (text, _) =
        parse(b"User-agent: *\nDisallow: /\nUser-agent: Acme/2\nUser-agent: b\nDisallow: /x\n");
    for (line, group, expected) in
        [(2, "*", "*"), (5, "*", "Acme"), (5, "b", "b"), (5, "GPTBot", "Acme")]
    {
        let found = group_of_rule(&text, line, group.as_bytes());
        assert_eq!(&*found, expected.as_bytes(), "{line} {group}");
    }
}
