//! Folders about one crawler, to be sent.

use serde_json::Value;

use super::program::{Ran, Sandbox, line};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

/// A user agent and a target that try to leave their places in text, CSV and JSON.
const HOSTILE_AGENT: &str =
    "GPTBot \\\"},{\\\"category\\\":\\\"x\\x1b[2J\\r\\n.\\r\\n=cmd|' /C calc'!A0";
const HOSTILE_TARGET: &str = "/private/\\x0a\\x0aSubject: paid\\x22,=1+1";

fn audited(flags: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nAllow: /x\nDisallow: /private\n");
    let lines = [
        line(1, "/robots.txt", 200, GPTBOT),
        line(60, "/private/1?token=secret", 200, GPTBOT),
        line(61, "/private/2", 404, GPTBOT),
        line(62, HOSTILE_TARGET, 200, HOSTILE_AGENT),
        line(63, "/open", 200, GPTBOT),
        line(64, "/private/3", 200, BINGBOT),
        line(65, "/private/4", 200, GPTBOT).replacen("192.0.2.7", "2001:db8::5", 1),
    ];
    sandbox.write("access.log", lines.concat());
    let audit = "audit -q --robots robots.txt --origin https://a.example -o report";
    sandbox.run(&format!("{audit} {flags} access.log")).exits(0);
    sandbox
}

fn evidence(sandbox: &Sandbox, more: &str) -> Ran {
    let words = "evidence report --crawler gptbot --origin https://A.example:443/";
    sandbox.run(&format!("{words} {more}"))
}

#[test]
fn a_folder_has_what_is_needed_to_understand_the_case() {
    let sandbox = audited("--evidence report/evidence.csv.gz");
    let ran = evidence(&sandbox, "-o folder").exits(0);
    assert_eq!(ran.stdout, "folder: 8 files; read letter.txt before you send it\n");
    ran.complains("note: there is no xarf.json, because the requests have no addresses");
    let names = sandbox.names("folder");
    let [_, _, _, marked, robots, ..] = &names[..] else { panic!("{names:?}") };
    assert_eq!(names[..3], ["SHA256SUMS", "letter.txt", "requests.csv"]);
    assert!(robots.starts_with("robots-") && marked.ends_with(".marked.txt"), "{names:?}");
    assert_eq!(names[5..], ["robots-fetches.csv", "summary.csv", "violations.csv"]);
    assert_eq!(sandbox.text(&format!("folder/{robots}")), sandbox.text("robots.txt"));
    assert!(sandbox.text(&format!("folder/{marked}")).contains("\n>>>    3  Disallow: /private\n"));
    for name in ["requests.csv", "summary.csv", "violations.csv", "robots-fetches.csv"] {
        let table = sandbox.text(&format!("folder/{name}"));
        assert!(table.contains("GPTBot") && !table.contains("bingbot"), "{name}: {table}");
    }
    let letter = sandbox.text("folder/letter.txt");
    for part in [
        "Subject: Requests against robots.txt by GPTBot at https://a.example, 2026-03-01 to",
        "contain 4 requests to https://a.example with the user agent of GPTBot (OpenAI)\n",
        "made at 2026-03-01T00:01:00Z, the last at 2026-03-01T00:01:05Z (UTC)",
        "4 requests unverified: the address was not checked; any client can send this name\n",
        "4 requests: robots.txt line 3, disallow: /private (group *), 2026-03-01T00:01:00Z",
        "successful fetches: 1, 2026-03-01T00:00:01Z",
        "4 requests came after the same user agent had fetched robots.txt\n",
        "2026-03-01T00:01:01Z - \"GET /private/2\" 404 100 \"Mozilla/5.0 (compatible; GPTBot/1.2;",
    ] {
        assert!(letter.contains(part), "{part}: {letter}");
    }
    assert!(!letter.contains("192.0.2"), "{letter}");
    assert!(!letter.lines().any(|line| line.starts_with("Subject: paid")), "{letter}");
    assert!(!letter.contains('\x1b') && !letter.contains('\r'));
    let check = std::process::Command::new("sha256sum")
        .args(["-c", "--quiet", "SHA256SUMS"])
        .current_dir(sandbox.path("folder"))
        .status();
    assert!(check.is_ok_and(|status| status.success()));
}

/// Each required field of the schemas `xarf-core` and `connection-scraping` of XARF 4.2, and each
/// field with a closed set of values or a limit.
#[track_caller]
fn check_xarf(message: &Value, address: &str) {
    let text = |name: &str| message[name].as_str().unwrap_or_else(|| panic!("{name}: {message}"));
    assert_eq!(text("xarf_version"), "4.2.0");
    let id: Vec<&str> = text("report_id").split('-').collect();
    assert_eq!(id.iter().map(|part| part.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
    assert!(id[2].starts_with('4') && "89ab".contains(&id[3][..1]));
    for name in ["timestamp", "first_seen", "last_seen"] {
        let is_time = text(name).parse::<jiff::Timestamp>().is_ok() && text(name).ends_with('Z');
        assert!(is_time, "{name}: {message}");
    }
    for party in ["reporter", "sender"] {
        let party = message[party].as_object().unwrap();
        let names: Vec<&str> = party.keys().map(String::as_str).collect();
        assert_eq!(names, ["org", "contact", "domain"]);
        assert_eq!(party["contact"], "abuse@a.example");
        assert_eq!(party["domain"], "a.example");
    }
    assert_eq!(text("source_identifier"), address);
    let classified = ["category", "type", "protocol", "evidence_source"].map(text);
    assert_eq!(classified, ["connection", "scraping", "tcp", "automated_filter"]);
    assert_eq!(message["destination_port"], 443);
    assert_eq!(message["respects_robots_txt"], false);
    for name in ["total_requests", "unique_urls", "data_volume"] {
        assert!(message[name].as_u64().is_some_and(|count| count > 0), "{name}: {message}");
    }
    assert!(text("description").chars().count() <= 1000);
    assert!(text("user_agent").contains("GPTBot") && text("bot_signature") == "GPTBot");
    assert_eq!(message["tags"], serde_json::json!(["tool:botaudit"]));
    let [item] = message["evidence"].as_array().unwrap().as_slice() else { panic!("{message}") };
    let names: Vec<&str> = item.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["content_type", "description", "payload", "size"]);
    assert!(item["payload"].as_str().unwrap().len() as u64 >= item["size"].as_u64().unwrap());
}

#[test]
fn each_address_has_a_message_of_its_own() {
    let sandbox = audited("--evidence all.csv --ip full");
    let flags = "--requests-file all.csv --contact abuse@a.example -o folder";
    assert_eq!(evidence(&sandbox, flags).exits(0).stderr, "");
    let first = sandbox.json("folder/xarf.json");
    check_xarf(&first, "192.0.2.7");
    assert_eq!((&first["total_requests"], &first["unique_urls"]), (&3.into(), &3.into()));
    check_xarf(&sandbox.json("folder/xarf-2.json"), "2001:db8::5");
    let text = sandbox.text("folder/xarf.json");
    assert!(!text.contains('\x1b') && !text.contains("\"category\": \"x"), "{text}");
}

#[test]
fn nothing_is_sent_of_what_the_audit_left_out() {
    let sandbox = audited("--evidence all.csv --ip mask --strip-query");
    evidence(&sandbox, "--requests-file all.csv -o folder").exits(0);
    for name in ["letter.txt", "requests.csv", "violations.csv"] {
        let text = sandbox.text(&format!("folder/{name}"));
        assert!(!text.contains("secret") && !text.contains("192.0.2.7"), "{name}: {text}");
    }
    assert!(sandbox.text("folder/letter.txt").contains(" 192.0.2.0/24 \"GET /private/1?\""));
}

#[test]
fn mistakes_are_explained() {
    let sandbox = audited("--evidence all.csv");
    let run = |words: &str| sandbox.run(&format!("evidence report {words} -o folder")).exits(2);
    run("--crawler GPTBot --origin https://b.example")
        .complains("no violation by GPTBot at https://b.example, only at https://a.example");
    run("--crawler CCBot --origin https://a.example").complains(
        "the report has no violation by CCBot at https://a.example, or at any other origin",
    );
    run("--crawler GPTBott --origin https://a.example")
        .complains("unknown crawler 'GPTBott' (did you mean GPTBot?); to list all names, run: ");
    let gptbot = "--crawler GPTBot --origin https://a.example";
    run(&format!("{gptbot} --requests-file access.log"))
        .complains("is not the evidence of this report");
    sandbox.write("only.tally", std::fs::read(sandbox.path("report/report.tally")).unwrap());
    let of_tally = format!("evidence only.tally {gptbot} --requests-file access.log -o folder");
    sandbox.run(&of_tally).exits(2).complains("is not an evidence file");
    run(&format!("{gptbot} --contact x")).complains("write an address such as abuse@example.com");
    assert!(!sandbox.path("folder").exists());
    evidence(&sandbox, "-o folder").exits(0).complains("add --requests-file FILE");
    evidence(&sandbox, "-o folder").exits(2).complains("folder: already exists");
    evidence(&sandbox, "-o report").exits(2).complains("report: already exists");
}

/// Somebody may have changed the evidence file.
#[test]
fn an_edited_evidence_file_ends_no_line_of_the_letter() {
    let sandbox = audited("--evidence all.csv --ip full");
    let text = sandbox.text("all.csv").replace("192.0.2.7", "\"x\n\nSubject: paid\x1b[1m\"");
    sandbox.write("all.csv", text.replace("2026-03-01T00:01:00Z", "\"0\nSubject: paid\""));
    // Of a report, it would be refused.
    sandbox.write("only.tally", std::fs::read(sandbox.path("report/report.tally")).unwrap());
    let words =
        "evidence only.tally --crawler gptbot --origin https://a.example --contact a@b.example";
    sandbox.run(&format!("{words} --requests-file all.csv -o folder")).exits(0);
    let letter = sandbox.text("folder/letter.txt");
    assert!(letter.contains("\\x0ASubject: paid\\x1B[1m"), "{letter}");
    assert!(!letter.contains("\nSubject: paid") && !letter.contains('\x1b'), "{letter}");
}

/// The requests of others in its name are not its own.
#[test]
fn what_others_did_is_the_subject_only_if_there_is_nothing_else() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", line(9, "/private", 200, GPTBOT));
    let list = r#"{"creationTime":"2026-03-01","prefixes":[{"ipv4Prefix":"198.51.100.0/24"}]}"#;
    sandbox.write("ranges/gptbot.json", list);
    let audit = "audit -q --robots robots.txt --ip-ranges ranges --origin https://a.example";
    sandbox.run(&format!("{audit} -o report access.log")).exits(0);
    evidence(&sandbox, "-o folder").exits(0);
    let letter = sandbox.text("folder/letter.txt");
    let expected = "1 request spoofed: the address does not belong to the operator
Checked by the list";
    assert!(letter.contains(expected), "{letter}");
}

/// The file of another audit has other requests, and an edited one may have any.
#[test]
fn the_evidence_of_another_audit_is_refused() {
    let sandbox = audited("--evidence evidence.csv.gz");
    let digest = sandbox.json("report/run.json")["evidence_digest"].clone();
    let sum = std::process::Command::new("sha256sum").arg(sandbox.path("evidence.csv.gz")).output();
    let sum = String::from_utf8(sum.unwrap().stdout).unwrap();
    assert_eq!(digest.as_str(), Some(&*format!("sha256:{}", &sum[..64])));
    let with = "--requests-file evidence.csv.gz -o";
    evidence(&sandbox, &format!("{with} one")).exits(0);
    // A report that is drawn again has the same evidence.
    sandbox.run("report report").exits(0);
    assert_eq!(sandbox.json("report/run.json")["evidence_digest"], digest);
    evidence(&sandbox, &format!("{with} two")).exits(0);
    let words = "evidence report/report.tally --crawler gptbot --origin https://a.example";
    sandbox.run(&format!("{words} {with} three")).exits(0);

    sandbox.write("later.log", line(90, "/private/9", 200, GPTBOT));
    let later = "audit -q --robots robots.txt --origin https://a.example -o later later.log";
    sandbox.run(&format!("{later} --evidence evidence.csv.gz")).exits(0);
    let why = "evidence.csv.gz: is not the evidence of this report (its SHA-256";
    evidence(&sandbox, &format!("{with} four")).exits(2).complains(why);
    sandbox.run(&format!("{words} {with} four")).exits(2).complains(why);
    assert!(!sandbox.path("four").exists());
    // A report of tallies has no evidence of its own.
    sandbox.run("report report/report.tally -o drawn").exits(0);
    assert!(sandbox.json("drawn/run.json").get("evidence_digest").is_none());
}

/// Without a name, those that ignore robots.txt are written to, at each origin.
#[test]
fn all_that_ignore_robots_txt_get_a_letter() {
    let sandbox = Sandbox::new();
    sandbox.write("robots/a.example.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("robots/b.example.txt", "User-agent: *\nDisallow: /private\n");
    let at = |host: &str, agent: &str, target: &str, times: u32| {
        let lines =
            (0..times).map(|at| format!("{host}:443 {}", line(at % 60, target, 200, agent)));
        lines.collect::<String>()
    };
    let log = [
        at("a.example", GPTBOT, "/robots.txt", 1),
        at("a.example", GPTBOT, "/private", 30),
        at("b.example", GPTBOT, "/robots.txt", 1),
        at("b.example", GPTBOT, "/private", 90),
        at("a.example", BINGBOT, "/robots.txt", 1),
        at("a.example", BINGBOT, "/", 300),
        at("a.example", BINGBOT, "/private", 1),
    ];
    sandbox.write("access.log", log.concat());
    sandbox.run("audit -q --robots robots -o report access.log").exits(0);
    let ran = sandbox.run("evidence report -o letters").exits(0);
    assert_eq!(
        ran.stdout,
        "letters: 2 folders, listed in index.csv; read each letter.txt before you send it\n"
    );
    assert_eq!(
        sandbox.names("letters"),
        ["001-GPTBot-b.example", "002-GPTBot-a.example", "index.csv"]
    );
    assert_eq!(
        sandbox.table("letters/index.csv").cells("folder origin conduct violations"),
        [
            "001-GPTBot-b.example | https://b.example | ignores | 90",
            "002-GPTBot-a.example | https://a.example | ignores | 30",
        ]
    );
    let letter = sandbox.text("letters/001-GPTBot-b.example/letter.txt");
    assert!(letter.contains("contain 90 requests to https://b.example"), "{letter}");
    assert!(sandbox.text("letters/002-GPTBot-a.example/SHA256SUMS").contains("  letter.txt\n"));

    let names = |flags: &str, to: &str| {
        sandbox.run(&format!("evidence report {flags} -o {to}")).exits(0);
        sandbox.names(to)
    };
    assert_eq!(names("--origin https://a.example", "a"), ["001-GPTBot-a.example", "index.csv"]);
    assert_eq!(names("--crawler bingbot", "b"), ["001-bingbot-a.example", "index.csv"]);
    sandbox
        .run("evidence report --origin https://c.example -o c")
        .exits(2)
        .complains("no crawler in this report ignores robots.txt");
    sandbox
        .run("evidence report --crawler ClaudeBot -o c")
        .exits(2)
        .complains("the report has no violation by ClaudeBot");
    assert!(!sandbox.path("c").exists());
}
