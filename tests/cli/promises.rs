//! What operators promise, beside what their crawlers did: `crawlers import-card` and `promises.csv`.

use super::program::Sandbox;

const CARD: &str = r#"{
  "client_id": "https://bot.example/card",
  "client_name": "FieldBot",
  "web_bot_auth": {
    "expected-user-agent": "FieldBot/*",
    "rfc9309-product-token": "FieldBot",
    "rfc9309-compliance": true,
    "trigger": "crawler",
    "rate-control": "Crawl-delay in robots.txt",
    "rate-expectation": "avg=1rph; max=1 rph"
  }
}"#;

const ROBOTS: &str = "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n";

const ROWS: &str = "origin crawler promise promised promised_number promise_url tested kept broken \
                    share state reason";

const AUDIT: &str = "audit -q --robots robots.txt --origin https://a.example --crawlers own.csv \
                     --session-minutes 5 --timezone UTC";

/// One line at this second of this day of March.
fn line(day: u32, second: u32, path: &str, agent: &str) -> String {
    format!(
        "192.0.2.1 - - [{day:02}/Mar/2026:{:02}:{:02}:{:02} +0000] \"GET {path} HTTP/1.1\" 200 0 \"-\" \
         \"{agent}\"\n",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// A fetch of robots.txt, and so many requests every `step` seconds, on each of these days.
fn log(days: std::ops::RangeInclusive<u32>, requests: u32, step: u32, path: &str) -> String {
    let day = |day| {
        let fetch = line(day, 0, "/robots.txt", "FieldBot/1.0");
        let others = (0..requests).map(|at| line(day, 60 + at * step, path, "FieldBot/1.0"));
        fetch + &others.collect::<String>()
    };
    days.map(day).collect()
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("card.json", CARD);
    sandbox.write("robots.txt", ROBOTS);
    sandbox.run("crawlers import-card -q card.json -o own.csv").exits(0);
    sandbox
}

fn rows(sandbox: &Sandbox, report: &str) -> Vec<String> {
    sandbox.table(&format!("{report}/promises.csv")).cells(ROWS)
}

/// Three logs of the same crawler: nothing is wrong, everything is, and nothing can be said.
#[test]
fn promises_of_a_card_are_kept_broken_or_not_tested() {
    let sandbox = sandbox();
    let start = "https://a.example | FieldBot";
    let page = "https://bot.example/card";
    sandbox.write("kept.log", log(1..=8, 20, 20, "/a"));
    sandbox.run(&format!("{AUDIT} -o kept kept.log")).exits(0);
    assert_eq!(
        rows(&sandbox, "kept"),
        [
            format!(
                "{start} | follows-robots-txt | always |  | {page} | 160 | 160 | 0 | 1.000000 | kept | "
            ),
            format!(
                "{start} | crawl-delay | always |  | {page} | 159 | 159 | 0 | 1.000000 | kept | "
            ),
            format!(
                "{start} | rate | requests-per-hour | 1 | {page} | 8 | 8 | 0 | 1.000000 | kept | "
            ),
        ]
    );
    // 40 requests and a fetch on each of 8 days: 320 requests, and 8 times 39 times of a second.
    sandbox.write("broken.log", log(1..=8, 40, 1, "/private/a"));
    sandbox.run(&format!("{AUDIT} -o broken broken.log")).exits(0);
    assert_eq!(
        rows(&sandbox, "broken"),
        [
            format!(
                "{start} | follows-robots-txt | always |  | {page} | 320 | 0 | 320 | 0.000000 | broken | "
            ),
            format!(
                "{start} | crawl-delay | always |  | {page} | 319 | 7 | 312 | 0.021944 | broken | "
            ),
            format!(
                "{start} | rate | requests-per-hour | 1 | {page} | 8 | 0 | 8 | 0.000000 | broken | "
            ),
        ]
    );
    let page_text = sandbox.text("broken/report.html");
    assert!(page_text.contains("Promises of operators"), "no section");
    assert!(page_text.contains("rate: 1 request per hour"), "no promise");
    sandbox.write("few.log", log(1..=1, 5, 1, "/private/a"));
    sandbox.run(&format!("{AUDIT} -o few few.log")).exits(0);
    assert_eq!(
        rows(&sandbox, "few"),
        [
            format!(
                "{start} | follows-robots-txt | always |  | {page} | 5 | 0 | 5 | 0.000000 | not-tested | too-few"
            ),
            format!(
                "{start} | crawl-delay | always |  | {page} | 4 | 0 | 4 | 0.000000 | not-tested | too-few"
            ),
            format!(
                "{start} | rate | requests-per-hour | 1 | {page} | 1 | 1 | 0 | 1.000000 | not-tested | too-few"
            ),
        ]
    );
    assert!(!sandbox.text("few/report.html").contains("Promises of operators"));
}

/// Each reason why nothing is said, though the numbers look bad.
#[test]
fn what_has_another_explanation_is_not_broken() {
    let sandbox = sandbox();
    let reasons = |report: &str| {
        let rows = sandbox.table(&format!("{report}/promises.csv")).cells("promise state reason");
        rows.join("\n")
    };
    // It has not read robots.txt, and sessions are not counted.
    let unread: String = log(1..=8, 40, 1, "/private/a")
        .lines()
        .filter(|line| !line.contains("robots"))
        .map(|line| format!("{line}\n"))
        .collect();
    sandbox.write("unread.log", unread);
    let audit = AUDIT.replace("--session-minutes 5 ", "");
    sandbox.run(&format!("{audit} -o unread unread.log")).exits(0);
    let found = reasons("unread");
    assert!(found.contains("follows-robots-txt | not-tested | not-read"), "{found}");
    assert!(found.contains("crawl-delay | not-tested | no-sessions"), "{found}");
    // The log names no host, so that it may have several.
    let audit = AUDIT.replace("--origin https://a.example ", "");
    sandbox.run(&format!("{audit} -o unnamed unread.log")).exits(0);
    let found = reasons("unnamed");
    assert!(found.contains("rate | not-tested | several-origins"), "{found}");
    assert!(found.contains("crawl-delay | not-tested | several-origins"), "{found}");
    // People ask for its requests; conditions; words without a number; no page.
    let own = sandbox.text("own.csv").replace(",no,,yes,", ",yes,,yes,");
    assert_ne!(own, sandbox.text("own.csv"));
    sandbox.write("own.csv", own.replace(",1\n", ",\n"));
    sandbox.write("broken.log", log(1..=8, 40, 1, "/private/a"));
    sandbox.run(&format!("{AUDIT} -o person broken.log")).exits(0);
    let found = reasons("person");
    assert!(found.contains("follows-robots-txt | not-tested | not-bound"), "{found}");
    assert!(found.contains("crawl-delay | not-tested | not-bound"), "{found}");
    assert!(found.contains("rate | not-tested | no-number"), "{found}");
    let text = "name,user_agent_regex,rep_applies,crawl_delay,evidence\n\
                FieldBot,FieldBot,partial,partial,operator-doc\n";
    sandbox.write("own.csv", text);
    sandbox.run(&format!("{AUDIT} -o partial broken.log")).exits(0);
    let found = reasons("partial");
    assert!(found.contains("follows-robots-txt | not-tested | promised-in-part"), "{found}");
    assert!(found.contains("crawl-delay | not-tested | promised-in-part"), "{found}");
    sandbox.write("own.csv", text.replace("operator-doc", "registry"));
    sandbox.run(&format!("{AUDIT} -o others broken.log")).exits(0);
    assert_eq!(reasons("others"), "", "only the operator can promise");
}

/// Spoofed requests are not those of the crawler.
#[test]
fn spoofed_requests_break_no_promise() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", ROBOTS);
    let agent = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
    sandbox.write("access.log", log(1..=8, 40, 1, "/private/a").replace("FieldBot/1.0", agent));
    let list = r#"{"creationTime": "2026-03-01T00:00:00", "prefixes": [{"ipv4Prefix": "198.51.100.0/24"}]}"#;
    sandbox.write("ranges/gptbot.json", list);
    let audit = "audit -q --robots robots.txt --origin https://a.example";
    sandbox.run(&format!("{audit} -o plain access.log")).exits(0);
    let found = sandbox.table("plain/promises.csv").cells("crawler identity promise state");
    assert!(
        found.contains(&"GPTBot | unverified | follows-robots-txt | broken".to_owned()),
        "{found:?}"
    );
    sandbox.run(&format!("{audit} --ip-ranges ranges -o spoofed access.log")).exits(0);
    let found = sandbox.table("spoofed/promises.csv").cells("crawler identity promise state");
    assert_eq!(found, Vec::<String>::new());
}

const CHANGES: &str = "name,user_agent_regex,evidence,reaction_promise,reaction_hours,promise_url,\
    robots_cache_promise,robots_cache_hours\n\
    InTimeBot,InTimeBot,operator-doc,a day,24,https://bot.example/,two days,48\n\
    LateBot,LateBot,operator-doc,a day,24,https://bot.example/,two days,48\n\
    BlindBot,BlindBot,operator-doc,a day,24,https://bot.example/,two days,48\n\
    StrayBot,StrayBot,operator-doc,a day,24,https://bot.example/,two days,48\n\
    ShortBot,ShortBot,operator-doc,a day,24,https://bot.example/,an hour,1\n";

/// robots.txt disallows /shop between the 9th and the 10th.
#[test]
fn changes_and_copies_are_tested_by_their_hours() {
    let sandbox = Sandbox::new();
    sandbox.write("old.txt", "User-agent: *\nDisallow: /old\n");
    sandbox.write("new.txt", "User-agent: *\nDisallow: /shop\n");
    let manifest = "origin,fetched_at,status,path,max_age\n\
                    https://a.example,2026-03-01,200,old.txt,\n\
                    https://a.example,2026-03-09,200,old.txt,\n\
                    https://a.example,2026-03-10,200,new.txt,\n\
                    https://a.example,2026-03-30,200,new.txt,\n";
    sandbox.write("manifest.csv", manifest);
    sandbox.run("robots import -q -a db manifest.csv").exits(0);
    sandbox.write("own.csv", CHANGES);
    let daily = |days: std::ops::RangeInclusive<u32>, hour: u32, path: &str, agent: &str| {
        days.map(|day| line(day, hour * 3600, path, agent)).collect::<String>()
    };
    sandbox.write(
        "access.log",
        [
            // Obeys after its fetch.
            daily(1..=9, 12, "/shop/1", "InTimeBot"),
            daily(1..=30, 13, "/about", "InTimeBot"),
            daily(1..=30, 6, "/robots.txt", "InTimeBot"),
            // Goes on after it, and fetches robots.txt no more.
            daily(1..=30, 12, "/shop/1", "LateBot"),
            daily(1..=10, 6, "/robots.txt", "LateBot"),
            // Goes on, but does not fetch it.
            daily(1..=30, 12, "/shop/1", "BlindBot"),
            daily(1..=1, 6, "/robots.txt", "BlindBot"),
            // Three strays among a hundred times as many before.
            (1..=8)
                .map(|day| {
                    (0..40)
                        .map(|at| line(day, 50_000 + at, "/shop/1", "StrayBot"))
                        .collect::<String>()
                })
                .collect(),
            daily(12..=14, 12, "/shop/1", "StrayBot"),
            daily(1..=30, 6, "/robots.txt", "StrayBot"),
            daily(1..=30, 13, "/about", "ShortBot"),
            daily(1..=30, 6, "/robots.txt", "ShortBot"),
        ]
        .concat(),
    );
    sandbox
        .run("audit -q --robots db --origin https://a.example --crawlers own.csv -o out access.log")
        .exits(0);
    let table = sandbox.table("out/promises.csv");
    let found = table.cells("crawler promise promised_number tested kept broken state reason");
    let expected = [
        "BlindBot | change-within | 24 | 0 | 0 | 0 | not-tested | too-few",
        // From the third day on, the copy is older than 48 hours.
        "BlindBot | copy-at-most | 48 | 30 | 2 | 28 | broken | ",
        "InTimeBot | change-within | 24 | 1 | 1 | 0 | kept | ",
        "InTimeBot | copy-at-most | 48 | 39 | 39 | 0 | kept | ",
        "LateBot | change-within | 24 | 1 | 0 | 1 | broken | ",
        "LateBot | copy-at-most | 48 | 30 | 11 | 19 | broken | ",
        "ShortBot | change-within | 24 | 0 | 0 | 0 | not-tested | too-few",
        "ShortBot | copy-at-most | 1 | 0 | 0 | 0 | not-tested | no-times",
        "StrayBot | change-within | 24 | 1 | 1 | 0 | kept | ",
        "StrayBot | copy-at-most | 48 | 323 | 323 | 0 | kept | ",
    ];
    assert_eq!(found, expected);
    // After the promised day LateBot requests /shop 20 times.
    for (requests, expected) in
        [(20, "1 | 0 | 1 | broken | "), (21, "0 | 0 | 0 | not-tested | too-few")]
    {
        sandbox
            .run(&format!(
                "audit -q --robots db --origin https://a.example --crawlers own.csv \
                 --reaction-requests {requests} -o often access.log"
            ))
            .exits(0);
        let found = sandbox.table("often/promises.csv");
        let found = found.cells("crawler promise tested kept broken state reason");
        let expected = format!("LateBot | change-within | {expected}");
        assert!(found.contains(&expected), "{found:?}");
    }
    // Who obeys before the promised time has passed keeps the promise.
    sandbox.write("month.csv", CHANGES.replace("a day,24", "a month,720"));
    sandbox
        .run(
            "audit -q --robots db --origin https://a.example --crawlers month.csv -o month \
             access.log",
        )
        .exits(0);
    let found =
        sandbox.table("month/promises.csv").cells("crawler promise tested kept broken state");
    assert!(
        found.contains(&"InTimeBot | change-within | 1 | 1 | 0 | kept".to_owned()),
        "{found:?}"
    );
    sandbox.run("audit -q --robots new.txt --origin https://a.example --crawlers own.csv -o plain access.log").exits(0);
    let found = sandbox.table("plain/promises.csv").cells("crawler promise state reason");
    assert!(
        found.contains(&"LateBot | change-within | not-tested | no-archive".to_owned()),
        "{found:?}"
    );
    // A failed fetch may explain an old copy.
    let failed = line(15, 0, "/robots.txt", "LateBot").replace(" 200 0 ", " 503 0 ");
    sandbox.write("access.log", sandbox.text("access.log") + &failed);
    sandbox.run("audit -q --robots db --origin https://a.example --crawlers own.csv -o failed access.log").exits(0);
    let found = sandbox.table("failed/promises.csv").cells("crawler promise state reason");
    assert!(
        found.contains(&"LateBot | copy-at-most | not-tested | failed-fetches".to_owned()),
        "{found:?}"
    );
}

#[test]
fn merged_parts_have_the_promises_of_the_whole() {
    let sandbox = sandbox();
    sandbox.write("a.log", log(1..=4, 40, 1, "/private/a"));
    sandbox.write("b.log", log(5..=8, 40, 9, "/a"));
    sandbox.run(&format!("{AUDIT} -o whole a.log b.log")).exits(0);
    sandbox.run(&format!("{AUDIT} --partial a.tally a.log")).exits(0);
    sandbox.run(&format!("{AUDIT} --partial b.tally b.log")).exits(0);
    sandbox.run("merge -q b.tally a.tally -o all.tally").exits(0);
    sandbox.run("report all.tally -o merged").exits(0);
    assert_eq!(sandbox.text("merged/promises.csv"), sandbox.text("whole/promises.csv"));
    // By counting lines: half of the requests are violations; no time between two is 10 seconds, but
    // for those between days.
    let found = sandbox.table("whole/promises.csv").cells("promise tested kept broken");
    let expected =
        ["follows-robots-txt | 320 | 160 | 160", "crawl-delay | 318 | 6 | 312", "rate | 8 | 0 | 8"];
    assert_eq!(found, expected);
}

/// Other rows and columns of a list stay, and a mistake in one card does not stop the others.
#[test]
fn cards_are_added_to_a_list_without_losing_rows() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "own.csv",
        "name,user_agent_regex,notes\nmybot,\"mybot,x\",\"say \"\"hi\"\"\"\nfieldbot,fb,\n",
    );
    sandbox.write("card.json", CARD);
    sandbox.write("bad.json", "{\"client_name\": \"Bad\",\n\"purpose\": 5,\n\"trigger\": 5}");
    let ran = sandbox.run("crawlers import-card card.json bad.json -o own.csv").exits(3);
    assert!(
        ran.stderr.contains("bad.json:2: purpose must be a text")
            && ran.stderr.contains("bad.json:3: trigger"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("own.csv: 0 crawlers added, 1 replaced"), "{}", ran.stdout);
    let own = sandbox.text("own.csv");
    // A column that is new to the list says of its rows what they said before.
    let mybot = own.lines().nth(1).unwrap();
    assert!(mybot.starts_with("mybot,\"mybot,x\",\"say \"\"hi\"\"\","), "{own}");
    assert_eq!(mybot.matches("mybot").count(), 3, "{own}");
    assert_eq!(own.lines().count(), 3, "{own}");
    sandbox.run("crawlers check-registry own.csv").exits(0);
    let before = own;
    let ran = sandbox.run("crawlers import-card bad.json -o own.csv").exits(2);
    assert!(ran.stderr.contains("no card was imported"), "{}", ran.stderr);
    assert_eq!(sandbox.text("own.csv"), before);
    // A list with a mistake is not touched, and an input is not an output.
    sandbox.write("wrong.csv", "name,user_agent_regex\nmybot,(\n");
    sandbox.run("crawlers import-card card.json -o wrong.csv").exits(2);
    assert_eq!(sandbox.text("wrong.csv"), "name,user_agent_regex\nmybot,(\n");
    sandbox.run("crawlers import-card card.json -o card.json").exits(2);
    assert_eq!(sandbox.text("card.json"), CARD);
    let ran = sandbox
        .run("crawlers import-card -q card.json --replace GPTBot --url https://bot.example/card")
        .exits(0);
    assert!(ran.stderr.contains("replaces the built-in crawler GPTBot"), "{}", ran.stderr);
    assert!(ran.stdout.contains("\nGPTBot,bot.example,"), "{}", ran.stdout);
    // Nobody replaces a built-in crawler by the name in a card.
    sandbox.write("mimic.json", CARD.replace("name\": \"FieldBot", "name\": \"GPTBot"));
    for arguments in ["mimic.json", "card.json --name gptbot"] {
        let ran = sandbox.run(&format!("crawlers import-card {arguments} -o own.csv")).exits(2);
        let name = if arguments.contains("--name") { "gptbot" } else { "GPTBot" };
        let why = format!("{name} is a built-in crawler; to replace it, use --replace '{name}'");
        assert!(ran.stderr.contains(&why), "{}", ran.stderr);
        assert_eq!(sandbox.text("own.csv"), before);
    }
    let ran = sandbox.run("crawlers import-card card.json --replace FieldBot").exits(2);
    assert!(ran.stderr.contains("no built-in crawler has the name 'FieldBot'"), "{}", ran.stderr);
    sandbox.write("huge.json", format!("{{\"client_name\": \"{}\"}}", "x".repeat(300_000)));
    let ran = sandbox.run("crawlers import-card huge.json -o own.csv").exits(2);
    assert!(ran.stderr.contains("larger than 256 KiB"), "{}", ran.stderr);
}
