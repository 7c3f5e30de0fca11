//! Signed requests: `crawlers import-keys`, and audits with `--signature-keys`.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::signature::{Ed25519KeyPair, KeyPair};

use super::identity::{BINGBOT, GPTBOT};
use super::program::{Ran, Sandbox};
use crate::random::Random;

pub const DUCK: &str = "DuckAssistBot/1.2; (+http://duckduckgo.com/duckassistbot.html)";
pub const CHROME: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
                      Chrome/140.0.0.0 Safari/537.36";

/// 1 March 2026, 12:00 UTC.
pub const NOON: i64 = 1_772_366_400;

/// An agent with a key.
pub struct Signer {
    host: &'static str,
    key: Ed25519KeyPair,
}

impl Signer {
    pub fn new(host: &'static str, seed: u8) -> Signer {
        Signer { host, key: Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap() }
    }

    fn x(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.key.public_key().as_ref())
    }

    fn thumbprint(&self) -> String {
        let jwk = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, self.x());
        BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, jwk.as_bytes()))
    }

    pub fn directory(&self) -> String {
        format!(r#"{{"keys": [{{"kty": "OKP", "crv": "Ed25519", "x": "{}"}}]}}"#, self.x())
    }

    /// The headers of a request to `host`, with a signature that was made at `created`.
    pub fn headers(&self, host: &str, created: i64, nonce: &str) -> [String; 3] {
        let sign = |base: &[u8]| self.key.sign(base).as_ref().to_vec();
        headers((self.host, &self.thumbprint()), host, created, nonce, sign)
    }
}

/// The headers of a request to `host` by `agent` with the key `keyid`.
pub fn headers(
    (agent, keyid): (&str, &str),
    host: &str,
    created: i64,
    nonce: &str,
    sign: impl Fn(&[u8]) -> Vec<u8>,
) -> [String; 3] {
    let covered = format!(
        "(\"@authority\" \"signature-agent\";key=\"s\");created={created};expires={};\
         keyid=\"{keyid}\";nonce=\"{nonce}\";tag=\"web-bot-auth\"",
        created + 60,
    );
    let agent = format!("\"https://{agent}\"");
    let base = format!(
        "\"@authority\": {host}\n\"signature-agent\";key=\"s\": {agent}\n\"@signature-params\": \
         {covered}"
    );
    let signature = BASE64_STANDARD.encode(sign(base.as_bytes()));
    [format!("s={agent}"), format!("s={covered}"), format!("s=:{signature}:")]
}

/// A line of Caddy, `second` seconds after noon.
pub fn line(second: i64, client: &str, user_agent: &str, headers: Option<[String; 3]>) -> String {
    let mut all = serde_json::json!({ "User-Agent": [user_agent] });
    if let Some([agent, input, signature]) = headers {
        all["Signature-Agent"] = serde_json::json!([agent]);
        all["Signature-Input"] = serde_json::json!([input]);
        all["Signature"] = serde_json::json!([signature]);
    }
    let line = serde_json::json!({
        "level": "info", "ts": NOON + second, "logger": "http.log.access",
        "request": {"remote_ip": client, "proto": "HTTP/2.0", "method": "GET",
            "host": "example.com", "uri": "/private/", "headers": all, "tls": {"version": 772}},
        "status": 200, "size": 5
    });
    format!("{line}\n")
}

pub fn signed(signer: &Signer, second: i64, client: &str, user_agent: &str, nonce: &str) -> String {
    let headers = signer.headers("example.com", NOON + second, nonce);
    line(second, client, user_agent, Some(headers))
}

pub fn sandbox(log: &[String]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private/\n");
    sandbox.write("access.log", log.concat());
    sandbox
}

pub fn import(sandbox: &Sandbox, signer: &Signer, day: &str) -> Ran {
    sandbox.write(&format!("copies/{}-{day}.json", signer.host), signer.directory());
    sandbox.run("crawlers import-keys keys copies")
}

pub fn audit(sandbox: &Sandbox, arguments: &str) -> Ran {
    sandbox.run(&format!(
        "audit --robots robots.txt --origin https://example.com -o report {arguments} access.log"
    ))
}

fn signatures(sandbox: &Sandbox) -> Vec<String> {
    let table = sandbox.table("report/signatures.csv");
    table.cells(
        "crawler agent_name signature reason requests violations repeated from_other_addresses",
    )
}

fn identities(sandbox: &Sandbox) -> Vec<String> {
    sandbox.table("report/summary.csv").cells("crawler identity requests violations")
}

/// DuckAssistBot's own key makes it verified; a browser with a signature is named; the others are
/// what they claim to be.
#[test]
fn a_signature_says_who_it_was() {
    let duck = Signer::new("assistbot.duckduckgo.com", 1);
    let openai = Signer::new("chatgpt.com", 2);
    let stranger = Signer::new("agent.example", 3);
    let forger = Signer::new("assistbot.duckduckgo.com", 4);
    let mut changed = duck.headers("example.com", NOON, "c");
    changed[1] = changed[1].replace("expires=", "expires=1");
    let log = [
        signed(&duck, 0, "192.0.2.1", DUCK, "a"),
        line(1, "192.0.2.1", DUCK, None),
        // The same signature again, and from elsewhere.
        line(2, "192.0.2.1", DUCK, Some(duck.headers("example.com", NOON, "a"))),
        line(3, "203.0.113.9", DUCK, Some(duck.headers("example.com", NOON, "a"))),
        signed(&openai, 4, "192.0.2.2", CHROME, "b"),
        line(5, "192.0.2.2", CHROME, None),
        line(6, "192.0.2.3", DUCK, Some(changed)),
        line(7, "192.0.2.3", DUCK, Some(duck.headers("other.example", NOON, "d"))),
        line(3_600, "192.0.2.3", DUCK, Some(duck.headers("example.com", NOON, "e"))),
        signed(&forger, 8, "192.0.2.4", DUCK, "f"),
        signed(&stranger, 9, "192.0.2.5", "NobodyKnowsThisBot/1.0", "g"),
        // Another agent's key does not make a crawler.
        signed(&openai, 10, "192.0.2.2", DUCK, "h"),
    ];
    let sandbox = sandbox(&log);
    import(&sandbox, &duck, "2026-02-27").exits(0);
    let ran = import(&sandbox, &openai, "2026-02-27").exits(0);
    assert_eq!(ran.stdout, "1 version of directories of keys added; 1 duplicate skipped\n");
    let ran = audit(&sandbox, "--signature-keys keys").exits(0);
    assert_eq!(
        signatures(&sandbox),
        [
            "(browser) | ChatGPT agent | signed |  | 1 | 0 | 0 | 0",
            "(unnamed) |  | unchecked | no-directory | 1 | 0 |  | ",
            "DuckAssistBot | DuckAssistbot | invalid | expired | 1 | 0 |  | ",
            "DuckAssistBot | DuckAssistbot | invalid | mismatch | 2 | 0 |  | ",
            "DuckAssistBot | DuckAssistbot | signed |  | 3 | 0 | 2 | 3",
            "DuckAssistBot | DuckAssistbot | invalid | unknown-key | 1 | 0 |  | ",
            "DuckAssistBot | ChatGPT agent | signed |  | 1 | 0 | 0 | 0",
        ]
    );
    assert_eq!(
        identities(&sandbox),
        ["DuckAssistBot | verified | 3 | 0", "DuckAssistBot | unverified | 6 | 0"]
    );
    let proofs = sandbox.table("report/verification.csv").cells("identity proof requests");
    assert_eq!(proofs, ["verified | signature | 3", "unverified | nothing | 6"]);
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "note: identity of 9 requests decided by: signatures 33.3 %, nothing 66.7 %",
        "note: 10 requests with a signature: signed 5, invalid 4, unchecked 1; see signatures.csv",
        "note: keys of agents that signed requests are not known: \
         https://agent.example/.well-known/http-message-signatures-directory; download them with: \
         botaudit crawlers fetch-keys DIR AGENT, and use --signature-keys DIR",
    ] {
        assert!(text.contains(expected), "{expected}\n{}", ran.stdout);
    }
    // Without keys, nothing is said against anybody.
    audit(&sandbox, "--force").exits(0);
    assert!(signatures(&sandbox).iter().all(|row| row.contains("unchecked | no-directory")));
}

/// The key was published later than 14 days after the request, or withdrawn before it.
#[test]
fn keys_count_at_their_time() {
    let (old, new) =
        (Signer::new("assistbot.duckduckgo.com", 1), Signer::new("assistbot.duckduckgo.com", 2));
    let log = [signed(&old, 0, "192.0.2.1", DUCK, "a"), signed(&new, 0, "192.0.2.1", DUCK, "b")];
    let states = |days: &[(&Signer, &str)]| {
        let sandbox = sandbox(&log);
        for (signer, day) in days {
            import(&sandbox, signer, day).exits(0);
        }
        audit(&sandbox, "--signature-keys keys").exits(0);
        let table = sandbox.table("report/signatures.csv");
        table.cells("signature reason requests")
    };
    let other_time = "unchecked | no-directory-of-that-time | 1";
    assert_eq!(states(&[(&old, "2026-01-10")]), [other_time, "signed |  | 1"]);
    assert_eq!(states(&[(&old, "2026-02-20")]), ["signed |  | 1", "invalid | unknown-key | 1"]);
    assert_eq!(states(&[(&old, "2026-02-01"), (&new, "2026-04-01")]), ["signed |  | 2"]);
    assert_eq!(
        states(&[(&old, "2026-01-10"), (&new, "2026-02-20")]),
        ["signed |  | 1", "invalid | unknown-key | 1"]
    );
}

/// Wherever a report shows violations, it says how many are signed.
#[test]
fn signed_violations_are_shown_as_such() {
    let openai = Signer::new("chatgpt.com", 2);
    let log = [
        signed(&openai, 0, "192.0.2.1", GPTBOT, "a"),
        line(1, "192.0.2.1", GPTBOT, None),
        signed(&openai, 2, "192.0.2.1", GPTBOT, "b"),
        line(3, "192.0.2.1", BINGBOT, None),
    ];
    let sandbox = sandbox(&log);
    import(&sandbox, &openai, "2026-02-27").exits(0);
    let ran = audit(&sandbox, "--signature-keys keys --evidence requests.csv").exits(0);
    let violations = sandbox.table("report/violations.csv").cells("crawler requests signed");
    assert_eq!(violations, ["GPTBot | 3 | 2", "bingbot | 1 | 0"]);
    assert!(ran.stdout.contains("; 2 of 3 violations signed\n"), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches(" signed\n").count(), 1, "{}", ran.stdout);
    for by in ["rule", "origin"] {
        let ran =
            sandbox.run(&format!("report report/report.tally --format text --by {by}")).exits(0);
        let is_said = ran.stdout.lines().any(|line| line.trim() == "2 of 4 violations signed");
        assert!(is_said, "{}", ran.stdout);
    }
    let page = sandbox.text("report/report.html");
    assert!(page.contains("2 of these requests, by a key of their agent"), "{page}");
    let rows = sandbox.run("report report/report.tally --format jsonl --table violations").exits(0);
    assert!(rows.stdout.lines().next().is_some_and(|row| row.contains("\"signed\":2")), "{rows:?}");
    let directory = "https://chatgpt.com/.well-known/http-message-signatures-directory";
    let evidence = sandbox.table("requests.csv").cells("crawler signed_by signature_key");
    let by_openai = format!("GPTBot | {directory} | {}", openai.thumbprint());
    assert_eq!(evidence, [&by_openai, "GPTBot |  | ", &by_openai, "bingbot |  | "]);
    let words =
        ["deny", "report", "--for", "nginx", "--where", "violations > 0 and crawler = 'GPTBot'"];
    let rules = sandbox.run_words(&words, b"").exits(0);
    assert!(
        rules.stdout.contains("GPTBot (OpenAI): 3 violations (2 signed) in 3 requests"),
        "{}",
        rules.stdout
    );
}

/// A line of AWS WAF with these headers and a label of Bot Control.
fn waf_line(second: i64, user_agent: &str, signature: Option<[String; 3]>, label: &str) -> String {
    let pair = |name: &str, value: &str| serde_json::json!({ "name": name, "value": value });
    let mut headers = vec![pair("host", "example.com"), pair("user-agent", user_agent)];
    let names = ["signature-agent", "signature-input", "Signature"];
    let signature = signature.iter().flat_map(|headers| names.iter().zip(headers));
    headers.extend(signature.map(|(name, value)| pair(name, value)));
    let mut labels = vec![serde_json::json!({"name": "awswaf:managed:aws:bot-control:signal:x"})];
    if !label.is_empty() {
        let label = format!("awswaf:managed:aws:bot-control:web_bot_auth:{label}");
        labels.insert(0, serde_json::json!({ "name": label }));
    }
    let line = serde_json::json!({
        "timestamp": (NOON + second) * 1000 + 7, "formatVersion": 1, "webaclId": "arn:aws:wafv2:x",
        "terminatingRuleId": "Default_Action", "action": "ALLOW", "ruleGroupList": [],
        "nonTerminatingMatchingRules": [{"ruleId": "r", "action": "COUNT"}],
        "responseCodeSent": null,
        "httpRequest": {"clientIp": "192.0.2.1", "country": "US", "headers": headers,
            "uri": "/private/", "args": "a=b", "httpVersion": "HTTP/2.0", "httpMethod": "GET",
            "requestId": "1"},
        "labels": labels
    });
    format!("{line}\n")
}

/// AWS WAF's word counts where there is no better one, and verifies nobody.
#[test]
fn what_the_edge_said_is_its_word() {
    let duck = Signer::new("assistbot.duckduckgo.com", 1);
    let openai = Signer::new("chatgpt.com", 2);
    let by = |signer: &Signer, nonce: &str| Some(signer.headers("example.com", NOON, nonce));
    let mut changed = duck.headers("example.com", NOON, "c");
    changed[1] = changed[1].replace("expires=", "expires=1");
    let log = [
        waf_line(0, DUCK, by(&duck, "a"), "invalid"),
        waf_line(1, DUCK, by(&openai, "b"), "verified"),
        waf_line(2, DUCK, Some(changed), "verified"),
        waf_line(3, DUCK, None, "verified"),
        waf_line(4, GPTBOT, by(&openai, "d"), "expired"),
        waf_line(5, GPTBOT, by(&openai, "e"), "unknown_bot"),
        waf_line(6, GPTBOT, by(&openai, "f"), "invalid"),
        waf_line(7, GPTBOT, by(&openai, "g"), ""),
        waf_line(8, GPTBOT, None, ""),
        waf_line(9, CHROME, by(&openai, "h"), "verified"),
    ];
    let sandbox = sandbox(&log);
    import(&sandbox, &duck, "2026-02-27").exits(0);
    let ran = audit(&sandbox, "--signature-keys keys").exits(0);
    let table = sandbox.table("report/signatures.csv");
    assert_eq!(
        table.cells("crawler agent_name signature reason requests violations repeated"),
        [
            "(browser) | ChatGPT agent | edge-verified | edge | 1 | 0 | ",
            "DuckAssistBot |  | edge-verified | edge | 1 | 0 | ",
            "DuckAssistBot | DuckAssistbot | invalid | mismatch | 1 | 0 | ",
            "DuckAssistBot | DuckAssistbot | signed |  | 1 | 0 | 0",
            "DuckAssistBot | ChatGPT agent | edge-verified | edge | 1 | 0 | ",
            "GPTBot | ChatGPT agent | unchecked | edge-expired | 1 | 1 | ",
            "GPTBot | ChatGPT agent | unchecked | edge-invalid | 1 | 1 | ",
            "GPTBot | ChatGPT agent | unchecked | edge-unknown-bot | 1 | 1 | ",
            "GPTBot | ChatGPT agent | unchecked | no-directory | 1 | 1 | ",
        ]
    );
    assert_eq!(
        sandbox.table("report/verification.csv").cells("crawler identity proof requests"),
        [
            "DuckAssistBot | verified | signature | 1",
            "DuckAssistBot | unverified | nothing | 3",
            "GPTBot | unverified | nothing | 5",
        ]
    );
    let clients = sandbox.table("report/clients.csv").cells("class requests");
    assert_eq!(clients, ["crawler-signed | 1", "crawler-unverified | 8", "browser | 1"]);
    let violations = sandbox.table("report/violations.csv");
    assert_eq!(violations.cells("crawler requests signed"), ["GPTBot | 5 | 0"]);
    assert_eq!(
        violations.cells("example_target first_seen_utc"),
        ["/private/?a=b | 2026-03-01T12:00:04Z"]
    );
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "9 requests with a signature: signed 1, invalid 1, edge-verified 3, unchecked 4;";
    assert!(text.contains(note), "{text}");
    ran.complains("has neither statuses nor sizes of most answers");
}

/// Whatever stands in the three headers, each request with a signature is in one row.
#[test]
fn damaged_headers_are_counted() {
    let duck = Signer::new("assistbot.duckduckgo.com", 1);
    let mut generator = Random(7);
    let mut random = |below| generator.below(below);
    let (mut log, mut expected) = (Vec::new(), 0);
    for second in 0..3_000 {
        let mut headers = duck.headers("example.com", NOON + second, "n").map(String::into_bytes);
        for _ in 0..=random(3) {
            let text = &mut headers[random(3)];
            let at = random(text.len() + 1);
            match random(4) {
                0 => text.truncate(at),
                1 => text.insert(at, b"()\";=:, @-\\\0"[random(11)]),
                2 if at < text.len() => text[at] = random(128) as u8,
                _ => drop(text.drain(at.saturating_sub(9)..at)),
            }
        }
        let headers = headers.map(|text| String::from_utf8(text).unwrap());
        expected += u64::from(!matches!(headers[1].as_str(), "" | "-"));
        let user_agent = [DUCK, GPTBOT, CHROME, "NobodyKnowsThisBot/1.0"][random(4)];
        log.push(line(second, "192.0.2.1", user_agent, Some(headers)));
    }
    let sandbox = sandbox(&log);
    import(&sandbox, &duck, "2026-02-27").exits(0);
    audit(&sandbox, "--signature-keys keys").exits(0);
    let table = sandbox.table("report/signatures.csv");
    assert_eq!(table.sum("requests"), expected);
    let words: std::collections::BTreeSet<String> = table.cells("signature").into_iter().collect();
    assert!(words.contains("invalid") && words.contains("unchecked"), "{words:?}");
    assert_eq!(sandbox.table("report/clients.csv").sum("requests"), 3_000);
}

/// Days apart and merged give the same table.
#[test]
fn tallies_of_signed_requests_merge() {
    let duck = Signer::new("assistbot.duckduckgo.com", 1);
    let log: Vec<String> = (0..40)
        .map(|at| {
            let client = format!("192.0.2.{}", at % 3);
            let headers = duck.headers("example.com", NOON + at / 7, &format!("n{}", at % 11));
            line(at, &client, DUCK, Some(headers))
        })
        .collect();
    let sandbox = sandbox(&log);
    import(&sandbox, &duck, "2026-02-27").exits(0);
    audit(&sandbox, "--signature-keys keys").exits(0);
    let whole = sandbox.text("report/signatures.csv");
    assert_eq!(
        signatures(&sandbox),
        ["DuckAssistBot | DuckAssistbot | signed |  | 40 | 0 | 29 | 40"]
    );
    for (name, part) in [("a", &log[..13]), ("b", &log[13..])] {
        sandbox.write(&format!("{name}.log"), part.concat());
        let settings = "--robots robots.txt --origin https://example.com --signature-keys keys";
        sandbox.run(&format!("audit {settings} --partial {name}.tally {name}.log")).exits(0);
    }
    sandbox.run("merge a.tally b.tally -o all.tally").exits(0);
    sandbox.run("report all.tally -o merged").exits(0);
    assert_eq!(sandbox.text("merged/signatures.csv"), whole);
}
