//! One log with all kinds of clients: each stands in its class, by the proof that there is.

use super::identity::{BINGBOT, GOOGLEBOT, GPTBOT};
use super::program::Sandbox;
use super::signatures::{CHROME, DUCK, Signer, audit, import, line, signed};

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// Requests of 1 March 2026 in a log of Caddy.
fn log(duck: &Signer, openai: &Signer) -> Vec<String> {
    vec![
        // An agent that signs, with its own user agent, and with that of a browser.
        signed(duck, 0, "192.0.2.1", DUCK, "a"),
        signed(openai, 1, "192.0.2.2", CHROME, "b"),
        // One whose signature is of another time.
        line(2, "192.0.2.1", DUCK, Some(duck.headers("example.com", 1_772_000_000, "c"))),
        // An agent with the user agent of a browser, from an address of its operator.
        line(3, "20.171.206.8", CHROME, None),
        line(4, "20.171.206.8", GPTBOT, None),
        // An address that only an earlier list had.
        line(5, "20.171.205.8", GPTBOT, None),
        line(6, "203.0.113.5", GOOGLEBOT, None),
        // The only list of this crawler is of last year.
        line(7, "203.0.113.6", BINGBOT, None),
        line(8, "203.0.113.7", "PhotoAgent/1.0", None),
        line(9, "203.0.113.8", "curl/8.5.0", None),
        line(10, "203.0.113.9", BROWSER, None),
        "not a request\n".to_owned(),
    ]
}

fn audited() -> Sandbox {
    let duck = Signer::new("assistbot.duckduckgo.com", 1);
    let openai = Signer::new("chatgpt.com", 2);
    let sandbox = super::signatures::sandbox(&log(&duck, &openai));
    import(&sandbox, &duck, "2026-02-27").exits(0);
    import(&sandbox, &openai, "2026-02-27").exits(0);
    for (name, list) in [
        ("gptbot-2026-02-27.txt", "20.171.205.0/24"),
        ("gptbot-2026-03-03.txt", "20.171.206.0/24"),
        ("common-crawlers-2026-02-27.txt", "66.249.64.0/24"),
        ("bingbot-2025-06-01.txt", "157.55.39.0/24"),
    ] {
        sandbox.write(&format!("lists/{name}"), list);
    }
    sandbox.run("crawlers import-ranges ranges lists").exits(0);
    audit(&sandbox, "--signature-keys keys --ip-ranges ranges").exits(0);
    sandbox
}

#[test]
fn each_client_stands_in_its_class_with_its_proof() {
    let sandbox = audited();
    let clients = sandbox.table("report/clients.csv");
    assert_eq!(
        clients.cells("day class operator requests proof"),
        [
            "2026-03-01 | crawler-verified |  | 2 | ",
            "2026-03-01 | crawler-signed |  | 1 | ",
            "2026-03-01 | crawler-unverified |  | 2 | ",
            "2026-03-01 | crawler-spoofed |  | 1 | ",
            "2026-03-01 | tool |  | 1 | ",
            "2026-03-01 | automated |  | 1 | ",
            "2026-03-01 | disguised | OpenAI | 1 | address-list",
            "2026-03-01 | disguised | OpenAI | 1 | signature",
            "2026-03-01 | browser |  | 1 | ",
            " | rejected |  | 1 | ",
        ]
    );
    let lines = &sandbox.json("report/run.json")["lines"]["lines"];
    assert_eq!((clients.sum("requests"), lines), (12, &12.into()));
    let proofs = sandbox.table("report/verification.csv");
    let proofs = proofs.cells("crawler identity proof requests");
    for expected in [
        "DuckAssistBot | verified | signature | 1",
        "DuckAssistBot | unverified | nothing | 1",
        "GPTBot | verified | address-list | 1",
        "GPTBot | verified | archived-list | 1",
        "Googlebot | spoofed | address-list | 1",
        "bingbot | unverified | nothing | 1",
    ] {
        assert!(proofs.iter().any(|row| row == expected), "{expected}: {proofs:?}");
    }
    let signatures = sandbox.table("report/signatures.csv");
    assert_eq!(
        signatures.cells("crawler agent_name signature reason requests"),
        [
            "(browser) | ChatGPT agent | signed |  | 1",
            "DuckAssistBot | DuckAssistbot | invalid | expired | 1",
            "DuckAssistBot | DuckAssistbot | signed |  | 1",
        ]
    );
}

#[test]
fn the_page_names_each_class() {
    let sandbox = audited();
    let page = sandbox.text("report/report.html");
    for words in [
        "known crawlers, verified by their signature",
        "known crawlers, unverified",
        "spoofed crawlers",
        "other automated clients",
        "browsers' user agents from addresses of crawlers of OpenAI",
        "browsers' user agents in requests that OpenAI signed",
        "browsers and apps",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // The same from the tally, and from parts of the log.
    sandbox.run("report report/report.tally -o again").exits(0);
    let lines = sandbox.text("access.log");
    let (settings, mut parts) =
        ("--robots robots.txt --origin https://example.com --signature-keys keys", Vec::new());
    for (number, part) in lines.split_inclusive('\n').collect::<Vec<_>>().chunks(7).enumerate() {
        sandbox.write(&format!("{number}.log"), part.concat());
        let audit = format!("audit {settings} --ip-ranges ranges");
        sandbox.run(&format!("{audit} --partial {number}.tally {number}.log")).exits(0);
        parts.push(format!("{number}.tally"));
    }
    sandbox.run(&format!("merge {} -o all.tally", parts.join(" "))).exits(0);
    sandbox.run("report all.tally -o merged").exits(0);
    for table in ["clients.csv", "verification.csv", "signatures.csv"] {
        let expected = sandbox.text(&format!("report/{table}"));
        assert_eq!(sandbox.text(&format!("again/{table}")), expected, "{table}");
        assert_eq!(sandbox.text(&format!("merged/{table}")), expected, "{table}");
    }
}
