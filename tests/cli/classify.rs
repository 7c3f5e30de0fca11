//! `botaudit classify`: lists in every format; the same verdicts in every order and with any
//! memory.

use std::collections::BTreeMap;
use std::fmt::Write;

use botaudit::matcher::reference;
use botaudit::matcher::select::select;
use botaudit::robots::model::StarGroups;
use botaudit::robots::parse::parse_body;
use botaudit::url::path::Dialect;
use botaudit::url::path::prepare;

use super::program::{Ran, Sandbox, Table};
use crate::random::Random;

const TEXTS: [&str; 4] = [
    "User-agent: *\nDisallow: /a\nAllow: /a/b*c$\n",
    "User-agent: bot\nDisallow: /*x\n\nUser-agent: *\nDisallow: /\n",
    "User-agent: *\nDisallow:\n",
    "User-agent: *\nAllow: /index.html\nDisallow: /\nDisallow: /*?a=*&b\n",
];

/// Ten origins share the files; `h9` has none.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for origin in 0..9 {
        sandbox.write(&format!("robots/h{origin}.example"), TEXTS[origin % TEXTS.len()]);
    }
    sandbox
}

fn classify(sandbox: &Sandbox, arguments: &str, input: &str) -> Ran {
    let arguments = format!("classify --robots robots {arguments}");
    sandbox.run_with_input(&arguments, input.as_bytes())
}

/// The verdict and line of a URL by the reference matcher.
fn expected(url: &str) -> (String, String) {
    let rest = url.strip_prefix("https://h").unwrap();
    let origin: usize = rest[..1].parse().unwrap();
    let path = &rest["0.example".len()..];
    if origin == 9 {
        return ("unknown".to_owned(), String::new());
    }
    let robots = parse_body(TEXTS[origin % TEXTS.len()].as_bytes());
    let selection = select(&robots, &["bot"], StarGroups::Honoured);
    let mut scratch = Vec::new();
    let path = prepare(path.as_bytes(), Dialect::Google, &mut scratch);
    let decision = reference::decide(&selection.rules(), Dialect::Google, path.as_bytes());
    let decision = selection.decision(decision);
    let name = if decision.allowed { "allowed" } else { "disallowed" };
    (name.to_owned(), decision.line.map_or_else(String::new, |line| line.to_string()))
}

fn urls(random: &mut Random, origin: impl Fn(&mut Random, usize) -> usize) -> Vec<String> {
    const PIECES: [&str; 9] = ["a", "b", "c", "x", "/", "?a=", "&b", "index.html", "%41"];
    let mut urls = Vec::new();
    for number in 0..3000 {
        let mut url = format!("https://h{}.example/", origin(random, number));
        for _ in 0..random.below(6) {
            url.push_str(PIECES[random.below(PIECES.len())]);
        }
        urls.push(url);
    }
    urls
}

/// Shuffled, sorted and mostly equal origins, with much memory and with almost none.
#[test]
fn verdicts_are_those_of_the_reference_in_any_order_and_memory() {
    let sandbox = sandbox();
    let random = &mut Random(9309);
    let shuffled = urls(random, |random, _| random.below(10));
    let sorted = urls(random, |_, number| number / 300);
    let zipf = urls(random, |random, _| {
        let sides = 1 << random.below(4);
        9 - random.below(sides).min(9)
    });
    for urls in [shuffled, sorted, zipf] {
        let input = urls.join("\n");
        let mut printed = Vec::new();
        for options in ["", "--memory 0 --threads 3", "--threads 1"] {
            let ran = classify(&sandbox, &format!("--token bot -q {options} -"), &input).exits(0);
            printed.push(ran.stdout);
        }
        assert!(printed.iter().all(|text| *text == printed[0]));
        let table = Table::parse(&printed[0]);
        let cells = table.cells("url verdict rule_line");
        assert_eq!(cells.len(), urls.len());
        for (url, cells) in urls.iter().zip(cells) {
            let (verdict, line) = expected(url);
            assert_eq!(cells, format!("{url} | {verdict} | {line}"));
        }
    }
}

/// Files that do not fit in memory are read again for later batches, and somebody is told what helps.
#[test]
fn it_says_that_files_were_read_again() {
    let sandbox = Sandbox::new();
    for origin in 0..60 {
        let rules: String = (0..500).map(|rule| format!("Disallow: /{origin}/{rule}\n")).collect();
        sandbox.write(&format!("robots/h{origin}.example"), format!("User-agent: *\n{rules}"));
    }
    let mut random = Random(9309);
    let mut url = || format!("https://h{}.example/{}\n", random.below(60), random.below(60));
    let input: String = (0..6000).map(|_| url()).collect();
    let run = |options: &str| {
        let ran = classify(&sandbox, &format!("--token bot {options} -"), &input).exits(0);
        (ran.stdout, ran.stderr)
    };
    let (rows, said) = run("");
    for threads in [1, 2, 5] {
        let (rows_of_little, said) = run(&format!("--memory 1MiB --threads {threads}"));
        assert!(rows_of_little == rows, "{threads} threads");
        assert!(said.contains("--memory is full: robots.txt files were read and compiled again "));
        assert!(said.ends_with("; to avoid it, add --memory 2GiB\n"), "{said}");
    }
    assert!(!said.contains("--memory"), "{said}");
    assert!(!run("--memory 64MiB").1.contains("--memory"));
    assert_eq!(run("-q --memory 1MiB").1, "");
    // Each file is needed once, so that it does not matter that it is dropped.
    let mut sorted: Vec<&str> = input.lines().collect();
    sorted.sort_unstable();
    let sorted = sorted.join("\n");
    let said =
        classify(&sandbox, "--token bot --memory 1MiB --threads 1 -", &sorted).exits(0).stderr;
    assert!(!said.contains("--memory"), "{said}");
}

/// Fewer columns need less work and have the same cells.
#[test]
fn columns_do_not_depend_on_each_other() {
    let sandbox = sandbox();
    let random = &mut Random(12);
    let mut urls = urls(random, |random, _| random.below(10));
    urls.extend(
        ["/x", "mailto:a", "https://h9.example/robots.txt", "https://h1.example"]
            .map(str::to_owned),
    );
    let input = urls.join("\n");
    let who = "--token bot --crawler GPTBot -q";
    let whole = Table::parse(&classify(&sandbox, &format!("{who} -"), &input).exits(0).stdout);
    for columns in [
        "url verdict",
        "verdict reason crawler",
        "origin verdict",
        "url rule_line",
        "pattern directive",
        "group",
        "url snapshot",
        "snapshot origin reason",
    ] {
        let options = format!("{who} --columns {} -", columns.replace(' ', ","));
        let table = Table::parse(&classify(&sandbox, &options, &input).exits(0).stdout);
        assert!(table.cells(columns) == whole.cells(columns), "{columns}");
    }
    let wide = |options: &str| {
        let options = format!("{who} --wide {options} -");
        Table::parse(&classify(&sandbox, &options, &input).exits(0).stdout)
    };
    let of_bot = |table: &Table| table.cells("bot GPTBot").join("\n");
    assert!(of_bot(&wide("")) == of_bot(&wide("--columns url,GPTBot,bot")));
    let verdicts: Vec<String> = whole.cells("verdict");
    let expected: Vec<String> = verdicts.chunks(2).map(|pair| pair.join(" | ")).collect();
    // Crawlers precede tokens.
    assert!(wide("").cells("GPTBot bot") == expected);
}

/// A name that no group can have would be allowed everything.
#[test]
fn a_name_that_is_not_a_token_is_refused_and_a_header_has_its_own_flag() {
    let sandbox = Sandbox::new();
    let groups = "User-agent: FooBot\nUser-agent: GPTBot\nUser-agent: Y!J\nDisallow: /\n";
    sandbox.write("robots/a.example", groups);
    sandbox.write("list", "https://a.example/x\n");
    let run = |words: &[&str]| {
        let words = [&["classify", "--robots", "robots", "list", "-q"], words].concat();
        sandbox.run_words(&words, b"")
    };
    let header = "Mozilla/5.0 (compatible; FooBot/1.0; +http://foo.example)";
    let gptbot = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
    let words = ["--token", "Y!J/1.0", "--token", "GPTBot/1.2", "--user-agent", header];
    let ran = run(&[&words[..], &["--user-agent", gptbot, "--user-agent", "+x"]].concat()).exits(0);
    let table = Table::parse(&ran.stdout);
    assert_eq!(table.cells("crawler"), ["Y!J", "GPTBot", "FooBot", "GPTBot", "*"]);
    assert_eq!(table.cells("rule_line"), ["4", "4", "4", "4", ""]);
    for token in [header, "Foo Bot", "FooBot/", "FooBot/x", "*", "Foo.Bot"] {
        let sentence = format!("'{token}' is not a product token");
        let ran = run(&["--token", "a", "--token", token]).exits(2).complains(&sentence);
        assert!(token == "*" || ran.stderr.contains("use --user-agent"), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    run(&["--user-agent", "a", "--crawler-column", "b"]).exits(2).complains("cannot be used with");
}

#[test]
fn each_of_many_rules_is_named() {
    let sandbox = Sandbox::new();
    let rules: String = (0..40).map(|rule| format!("Disallow: /{rule}/\n")).collect();
    for host in ["a", "b"] {
        sandbox.write(&format!("robots/{host}.example"), format!("User-agent: *\n{rules}"));
    }
    let random = &mut Random(5);
    let (mut input, mut expected) = (String::new(), Vec::new());
    for _ in 0..2000 {
        let (host, rule) = (["a", "b"][random.below(2)], random.below(40));
        writeln!(input, "http://{host}.example/{rule}/x").unwrap();
        expected.push(format!("http://{host}.example | {} | /{rule}/", rule + 2));
    }
    let ran = classify(&sandbox, "--token bot -q -", &input).exits(0);
    assert!(Table::parse(&ran.stdout).cells("origin rule_line pattern") == expected);
}

/// Rules of single letters in all orders: each must be compared, and none matches.
#[test]
fn slow_robots_txt_are_counted() {
    let sandbox = Sandbox::new();
    let letter = |number: usize, place| char::from(b'a' + (number / place % 12) as u8);
    let rule =
        |n| format!("Disallow: /*y*{}*{}*{}*x\n", letter(n, 1), letter(n, 12), letter(n, 144));
    let rules: String = (0..1728).map(rule).collect();
    sandbox.write("robots/a.example", format!("User-agent: *\n{rules}"));
    let input = "https://a.example/xabcdefghijkly\nhttps://a.example/other\n";
    let ran = classify(&sandbox, "--token bot -", input).exits(0);
    ran.complains("more than 1,000 wildcard rules were compared for 1 path;");
    let quiet = classify(&sandbox, "--token bot -q -", "https://a.example/other\n").exits(0);
    assert_eq!(quiet.stderr, "");
}

/// The text of a robots.txt is in each row that it decides.
#[test]
fn a_long_pattern_is_cut() {
    let sandbox = Sandbox::new();
    for (origin, pattern) in [
        ("a", "/*".repeat(512)),
        ("b", "/*".repeat(513)),
        ("c", format!("/*{}ツ", "*".repeat(1021))),
    ] {
        let text = format!("User-agent: *\nDisallow: {pattern}\n");
        sandbox.write(&format!("robots/{origin}.example"), text);
    }
    let input = "https://a.example/x\nhttps://b.example/////x\nhttps://c.example/ツ\n"
        .replace("/x", &"/x".repeat(520));
    let ran = classify(&sandbox, "--token bot -q -", &input).exits(0);
    let kept = "/*".repeat(512);
    let expected = [
        format!("disallowed | {kept}"),
        format!("disallowed | {kept}…"),
        format!("disallowed | /*{}…", "*".repeat(1021)),
    ];
    assert_eq!(Table::parse(&ran.stdout).cells("verdict pattern"), expected);
}

#[test]
fn junk_is_reported_and_never_fatal() {
    let sandbox = sandbox();
    let input = "HTTPS://u:p@H0.EXAMPLE.:443/a\n h0.example/a\n/a\nmailto:a@b\nhttp://\n\n\
                 https://h9.example/\nhttps://h9.example/robots.txt?x\n\
                 https://h0.example/robots.txt\nhttps://h0.example\n";
    let ran = classify(&sandbox, "--token bot -q -", input).exits(0);
    let expected = [
        "https://h0.example | disallowed | rule",
        " | invalid-url | no-scheme",
        " | invalid-url | relative",
        " | invalid-url | no-host",
        " | invalid-url | bad-host",
        "https://h9.example | unknown | nothing-known",
        "https://h9.example | unknown | nothing-known",
        "https://h0.example | allowed | robots-txt",
        "https://h0.example | allowed | no-rule-matches",
    ];
    assert_eq!(Table::parse(&ran.stdout).cells("origin verdict reason"), expected);
    let ran =
        classify(&sandbox, "--token bot -q --default-scheme https --only disallowed -", input);
    assert_eq!(Table::parse(&ran.stdout).cells("url").len(), 2);
}

#[test]
fn tables_carry_their_columns_through() {
    let sandbox = sandbox();
    let text = "id,page,verdict\n1,https://h0.example/a,x\n\"2\",\"https://h0.example/\n,\"\"b\",\"=1\"\n3\n";
    sandbox.write("pages.csv", text);
    let ran = classify(&sandbox, "--token bot -q --column page pages.csv", "").exits(0);
    let table = Table::parse(&ran.stdout);
    let expected = [
        "1 | x | https://h0.example/a | disallowed",
        "2 | '=1 | https://h0.example/\\x0A,\"b | allowed",
        "3 |  |  | invalid-url",
    ];
    assert_eq!(table.cells("id input_verdict url verdict"), expected);

    let wide =
        "--crawler GPTBot --token bot -q --wide --column 2 --columns id,bot,GPTBot pages.csv";
    let ran = classify(&sandbox, wide, "").exits(0);
    assert_eq!(ran.stdout.lines().nth(1), Some("1,disallowed,disallowed"));
}

#[test]
fn a_record_may_span_batches() {
    let sandbox = sandbox();
    let mut text = "url,note\n".to_owned();
    for number in 0..4000 {
        let note = "line\n, \"\"quoted\"\"\r\n".repeat(number % 7);
        writeln!(text, "https://h0.example/{number},\"{note}\"").unwrap();
    }
    sandbox.write("many.csv", text);
    let options = "--token bot -q --memory 0 --columns url,verdict many.csv";
    let ran = classify(&sandbox, options, "").exits(0);
    let rows = Table::parse(&ran.stdout).cells("url");
    let expected: Vec<String> =
        (0..4000).map(|number| format!("https://h0.example/{number}")).collect();
    let differs = rows.iter().zip(&expected).position(|(row, expected)| row != expected);
    assert_eq!((rows.len(), differs), (4000, None), "{:?}", differs.map(|at| &rows[at]));
}

#[test]
fn json_lines_go_in_and_out() {
    let sandbox = sandbox();
    let input = "{\"id\":1,\"link\":\"https:\\/\\/h0.example/a\"}\nbroken\n{\"link\":null}\n";
    let options = "--token bot -q --field link --format jsonl -";
    let ran = classify(&sandbox, options, input).exits(3);
    let lines: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["input"]["id"], 1);
    assert_eq!((&lines[0]["verdict"], &lines[0]["rule_line"]), (&"disallowed".into(), &2.into()));
    assert_eq!(
        (&lines[1]["input"], &lines[1]["verdict"]),
        (&"broken".into(), &"invalid-url".into())
    );
    assert_eq!(lines[2]["reason"], "empty");
}

#[test]
fn each_row_may_name_its_crawler() {
    let sandbox = sandbox();
    let input =
        "url,ua\nhttps://h1.example/x,Mozilla/5.0 GPTBot/1.2\nhttps://h1.example/x,Firefox\n";
    let options = "-q --input-format csv --user-agent-column ua -";
    let ran = classify(&sandbox, options, input).exits(0);
    assert_eq!(
        Table::parse(&ran.stdout).cells("crawler verdict"),
        ["GPTBot | disallowed", "* | disallowed"]
    );
    let options = "-q --input-format csv --crawler-column ua -";
    let ran = classify(&sandbox, options, input).exits(3);
    let expected = " | unknown | no-such-crawler";
    assert_eq!(Table::parse(&ran.stdout).cells("crawler verdict reason")[0], expected);
    let options = "-q --input-format csv --user-agent-column ua -";
    let ran = classify(&sandbox, options, "url,ua\n/x,GPTBot/1.0\n").exits(3);
    assert_eq!(Table::parse(&ran.stdout).cells("crawler reason"), ["GPTBot | relative"]);
}

#[test]
fn rows_may_be_judged_at_a_time() {
    let sandbox = Sandbox::new();
    for (day, rule) in [("2026-01-01", "/a"), ("2026-02-01", "/b")] {
        let text = format!("User-agent: *\nDisallow: {rule}\n");
        sandbox.write(&format!("dated/h.example/{day}T00:00:00Z.txt"), text);
    }
    sandbox.run("robots import -q -a h.db dated").exits(0);
    let input = "url,t\nhttps://h.example/a,2026-01-15\nhttps://h.example/b,2026-02-01T12:00:00Z\n\
                 https://h.example/b,2026-02-03\nhttps://h.example/b,1735689600\nhttps://h.example/b,x\n";
    let options = "classify --robots h.db --token bot -q --input-format csv --time-column t -";
    let ran = sandbox.run_with_input(options, input.as_bytes()).exits(0);
    let expected = [
        "disallowed | rule | /a",
        "grace | rule | /b",
        "disallowed | rule | /b",
        "unknown | before-first-snapshot | ",
        "unknown | bad-time | ",
    ];
    assert_eq!(Table::parse(&ran.stdout).cells("verdict reason pattern"), expected);
}

#[test]
fn a_summary_adds_up() {
    let sandbox = sandbox();
    let random = &mut Random(7);
    let urls = urls(random, |random, _| random.below(10));
    let ran = classify(&sandbox, "--token bot --summary -q -", &urls.join("\n")).exits(0);
    let mut expected_counts: BTreeMap<String, u64> = BTreeMap::new();
    urls.iter().for_each(|url| *expected_counts.entry(expected(url).0).or_default() += 1);
    let table = Table::parse(&ran.stdout);
    let total = &table.cells("by urls allowed disallowed unknown")[0];
    let count = |name: &str| expected_counts[name];
    let counts = [count("allowed"), count("disallowed"), count("unknown")].map(|n| n.to_string());
    assert_eq!(*total, format!("crawler | 3000 | {}", counts.join(" | ")));
    for by in ["origin", "rule"] {
        let rows = table.cells("by disallowed");
        let rows = rows.iter().filter_map(|row| row.strip_prefix(&format!("{by} | ")));
        assert_eq!(rows.map(|n| n.parse::<u64>().unwrap()).sum::<u64>(), count("disallowed"));
    }
}

/// What is counted as others depends on the memory, not on the threads.
#[test]
fn a_summary_is_the_same_on_any_number_of_threads() {
    let sandbox = sandbox();
    let random = &mut Random(3);
    let mut input = String::new();
    for _ in 0..20_000 {
        writeln!(input, "https://{}.h{}.example/a", random.below(999), random.below(10)).unwrap();
    }
    let summaries: Vec<String> = [1, 2, 5]
        .iter()
        .map(|threads| {
            let options = format!("--token bot --summary -q --memory 1MiB --threads {threads} -");
            classify(&sandbox, &options, &input).exits(3).stdout
        })
        .collect();
    assert!(summaries[0].contains("\norigin,(others),(others),"), "{}", summaries[0].len());
    assert!(summaries.iter().all(|summary| *summary == summaries[0]));
}

/// Nothing is added up as others without a word.
#[test]
fn a_summary_says_what_does_not_fit_in_memory() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /a\n");
    let urls: String = (0..60_000).map(|n| format!("https://h{n}.example/a\n")).collect();
    sandbox.write("urls.txt", urls);
    let run = |memory: &str| {
        let arguments =
            format!("classify --robots robots.txt --token bot --summary -q {memory} urls.txt");
        let ran = sandbox.run(&arguments).exits(0);
        let table = Table::parse(&ran.stdout);
        for by in ["crawler", "origin", "rule"] {
            let rows = table.cells("by urls");
            let rows = rows.iter().filter_map(|row| row.strip_prefix(&format!("{by} | ")));
            assert_eq!(rows.map(|n| n.parse::<u64>().unwrap()).sum::<u64>(), 60_000);
        }
        (table, ran.stderr)
    };
    // 60,000 origins and 60,000 rules fit in the default.
    let (all, said) = run("");
    assert_eq!((all.rows.len(), said.as_str()), (120_001, ""));
    let (few, said) = run("--memory 4MiB");
    let others = few.cells("by crawler pattern");
    let others: Vec<&str> = others
        .iter()
        .filter_map(|row| row.split_once(" | (others) | about ").map(|(_, n)| n))
        .collect();
    let [origins, rules] = [0, 1].map(|at| {
        let number = others[at].strip_suffix(", more than --memory holds").unwrap();
        number.parse::<f64>().unwrap()
    });
    let kept = |by: &str| few.rows.iter().filter(|row| row[0] == by).count() as f64 - 1.0;
    for (about, kept) in [(origins, kept("origin")), (rules, kept("rule"))] {
        assert!(kept > 3000.0 && ((about + kept) / 60_000.0 - 1.0).abs() < 0.1, "{about} {kept}");
    }
    assert!(said.starts_with("warning: --memory is full: the counts of about "), "{said}");
    assert!(said.contains(" origins and of about "), "{said}");
    assert!(said.contains(" rules are added up as (others); for all of them, use "), "{said}");
    // The proposal is enough.
    let enough = said.trim_end().rsplit(' ').next().unwrap();
    assert_eq!(run(&format!("--memory {enough}")).0.rows.len(), 120_001, "{said}");
}

#[test]
fn exit_codes_and_files() {
    let sandbox = sandbox();
    sandbox.write("u.txt", "https://h0.example/a\n");
    sandbox.write("broken.gz", &super::program::gzip(b"https://h0.example/a\n")[..20]);
    let run = |options: &str| classify(&sandbox, options, "");
    run("--token bot -q u.txt --fail-on-disallowed").exits(1);
    run("--token bot -q broken.gz u.txt").exits(3).complains("broken.gz");
    run("--token bot -q missing").exits(2).complains("missing");
    run("-q u.txt").exits(2).complains("--token");
    run("--token bot --column url u.txt --input-format csv")
        .exits(2)
        .complains("has no column 'url'");
    run("--token bot --columns x u.txt").exits(2).complains("unknown column 'x'");
    run("--token bot -q u.txt -o out.csv.gz").exits(0);
    run("--token bot -q u.txt -o robots").exits(2);
    assert!(sandbox.names(".").contains(&"out.csv.gz".to_owned()));
    assert!(sandbox.names(".").iter().all(|name| !name.contains(".botaudit-")));
}
