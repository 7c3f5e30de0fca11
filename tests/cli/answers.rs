//! What the server answered, by what robots.txt asks for: against a recount of the lines, and in words.

use std::collections::BTreeMap;

use super::program::Sandbox;
use crate::random::Random;

const ROBOTS: &str = "User-agent: *\nDisallow: /private\n";

const AGENTS: [(&str, &str); 3] = [
    ("GPTBot", "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"),
    ("OAI-SearchBot", "Mozilla/5.0 (compatible; OAI-SearchBot/1.3; +https://openai.com/searchbot)"),
    ("CCBot", "CCBot/2.0 (https://commoncrawl.org/faq/)"),
];

/// Each status and its kind of answer.
const ANSWERS: [(u16, &str); 12] = [
    (200, "ok"),
    (202, "challenged"),
    (206, "ok"),
    (304, "not-modified"),
    (302, "redirected"),
    (401, "refused"),
    (402, "payment-required"),
    (429, "refused"),
    (404, "not-found"),
    (418, "other-client-error"),
    (500, "server-error"),
    (999, "other"),
];

/// Each target and its verdict.
const TARGETS: [(&str, &str); 4] = [
    ("/robots.txt", "robots-txt"),
    ("/a", "allowed"),
    ("/private/1", "violation"),
    ("*", "not-judged"),
];

fn line(
    day: u32,
    second: usize,
    agent: usize,
    target: &str,
    (status, bytes): (u16, u64),
) -> String {
    let (time, agent) = (
        format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60),
        AGENTS[agent].1,
    );
    format!(
        "192.0.2.1 - - [{day:02}/Mar/2026:{time} +0000] \"GET {target} HTTP/1.1\" {status} {bytes} \"-\" \"{agent}\"\n"
    )
}

#[test]
fn answers_are_those_of_the_lines() {
    let (sandbox, mut random) = (Sandbox::new(), Random::new());
    sandbox.write("robots.txt", ROBOTS);
    let mut expected: BTreeMap<[&str; 3], [u64; 2]> = BTreeMap::new();
    let mut parts = [String::new(), String::new()];
    for second in 0..1500 {
        let (agent, bytes) = (random.below(AGENTS.len()), random.below(1000) as u64);
        let ((status, answer), (target, verdict)) =
            (ANSWERS[random.below(ANSWERS.len())], TARGETS[random.below(TARGETS.len())]);
        parts[random.below(2)] += &line(1, second, agent, target, (status, bytes));
        let sums = expected.entry([AGENTS[agent].0, verdict, answer]).or_default();
        *sums = [sums[0] + 1, sums[1] + bytes];
    }
    let expected = expected.into_iter().map(|(names, sums)| (names.join(" | "), sums));
    let mut expected: Vec<String> = expected
        .map(|(names, [requests, bytes])| format!("{names} | {requests} | {bytes}"))
        .collect();
    expected.sort();
    sandbox.write("0.log", &parts[0]);
    sandbox.write("1.log", &parts[1]);
    let audit = "audit -q --robots robots.txt --origin https://a.example";
    sandbox.run(&format!("{audit} -o whole 0.log 1.log")).exits(0);
    for part in [0, 1] {
        sandbox.run(&format!("{audit} --partial {part}.tally {part}.log")).exits(0);
    }
    sandbox.run("merge 0.tally 1.tally -o merged.tally").exits(0);
    sandbox.run("report merged.tally -o merged").exits(0);
    for report in ["whole", "merged"] {
        let table = sandbox.table(&format!("{report}/answers.csv"));
        let mut found = table.cells("crawler verdict answer requests bytes");
        found.sort();
        assert_eq!(found, expected, "{report}");
        let statuses = sandbox.table(&format!("{report}/statuses.csv"));
        assert_eq!(table.sum("requests"), statuses.sum("requests"));
    }
}

/// The corners: allowed and refused, disallowed and served, disallowed and refused; nothing is said of what is as usual.
#[test]
fn who_is_treated_against_robots_txt_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", ROBOTS);
    let summary = |report: &str, log: String| {
        sandbox.write("access.log", log);
        let audit = "audit --robots robots.txt --origin https://a.example access.log -o";
        let stdout = sandbox.run(&format!("{audit} {report}")).exits(0).stdout;
        let lines = stdout.split("\n  ").map(|line| line.replace("\n    ", " "));
        lines.collect::<Vec<String>>().join("\n")
    };
    let each = |count: usize, agent: usize, target: &str, status: u16| -> String {
        (0..count).map(|second| line(20, second, agent, target, (status, 9))).collect()
    };
    let usual = each(50, 0, "/a", 200) + &each(9, 1, "/a", 403) + &each(9, 2, "/private", 200);
    let words = ["allowed but refused", "disallowed but served", "refused as robots.txt asks"];
    let text = summary("usual", usual.clone());
    assert!(words.iter().all(|words| !text.contains(words)), "too few requests: {text}");
    let text = summary(
        "report",
        usual
            + &each(41, 1, "/a", 403)
            + &each(30, 0, "/private", 200)
            + &each(10, 0, "/private", 403)
            + &each(60, 2, "/private", 402),
    );
    for expected in [
        "allowed but refused: OAI-SearchBot (unverified) 50 of 50 since 2026-03-20",
        "disallowed but served: GPTBot (unverified) 30 of 40 since 2026-03-20",
        "refused as robots.txt asks: CCBot (unverified) 60 of 69 since 2026-03-20",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
        let mut sentence = expected.to_owned();
        sentence[..1].make_ascii_uppercase();
        assert!(
            sandbox.text("report/report.html").contains(&format!("<p>{sentence}.</p>")),
            "{sentence}"
        );
    }
}
