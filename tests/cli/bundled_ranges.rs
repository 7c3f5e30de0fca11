//! Identities by the address lists that come with the program.

use super::identity::{BYTESPIDER, GPTBOT, audit, identities, on, proofs, request, sandbox};
use super::program::{Sandbox, repository};

/// A network of GPTBot that comes with the program.
const OF_GPTBOT: &str = "20.171.206.7";

const OF_BINGBOT: &str = "bingbot | verified | 1 | 1";

const BROWSER: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                       Chrome/140.0.0.0 Safari/537.36";

/// The day of the lists in the program, as the file has it.
fn day_of_lists() -> String {
    let path = repository().join("src/crawlers/bundled_ranges.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find(|line| line.starts_with("list https://openai.com/gptbot.json "));
    line.unwrap().split(' ').nth(2).unwrap()[..10].to_owned()
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn notes(sandbox: &Sandbox) -> Vec<String> {
    let notes = sandbox.json("report/run.json")["notes"].clone();
    notes.as_array().unwrap().iter().map(|note| note.as_str().unwrap().to_owned()).collect()
}

/// The first run of an audit, without network and options: it verifies what it can, and accuses nobody.
#[test]
fn a_first_run_verifies_and_says_how_old_the_lists_are() {
    let day = day_of_lists();
    // Of the day of the lists: an address that no list has proves nothing even then.
    let date: jiff::civil::Date = day.parse().unwrap();
    let of_lists = date.strftime("%d/%b/%Y").to_string();
    let log = [
        request(OF_GPTBOT, GPTBOT),
        request(OF_GPTBOT, BYTESPIDER),
        request("203.0.113.5", GPTBOT),
        request("20.171.206.0", GPTBOT),
        request("10.0.0.1", GPTBOT),
        request(OF_GPTBOT, BROWSER),
    ];
    let log = log.map(|line| on("01/Mar/2026", &line));
    let near = on(&of_lists, &request("203.0.113.6", GPTBOT));
    let sandbox = sandbox(&log);
    sandbox.write("access.log", log.concat() + &near);
    let ran = audit(&sandbox, "").exits(0);
    let expected = [
        "Bytespider | unverified | 1 | 1",
        "GPTBot | verified | 2 | 2",
        "GPTBot | unverified | 2 | 2",
        "GPTBot | not-on-list | 1 | 1",
    ];
    assert_eq!(identities(&sandbox), expected);
    let expected = [
        "unverified | nothing | 1",
        "verified | bundled-list | 2",
        "unverified | nothing | 2",
        "not-on-list | bundled-list | 1",
    ];
    assert_eq!(proofs(&sandbox), expected);
    let run = sandbox.json("report/run.json");
    assert_eq!(run["requests_by_proof"]["bundled-list"], 3);
    assert_eq!(run["requests_by_proof"]["nothing"], 3);
    assert!(run["options"].get("no_bundled_ranges").is_none());
    let notes = notes(&sandbox);
    assert_eq!(
        notes[0],
        "identity of 6 requests decided by: lists of botaudit 50.0 %, nothing 50.0 %; see \
         verification.csv"
    );
    let distance = jiff::civil::date(2026, 3, 1).until(date).unwrap().get_days();
    assert_eq!(
        notes[1],
        format!(
            "verified by address lists that come with botaudit: 2 requests; the lists are of {day}, \
             {distance} days after the first request; for newer ones run: botaudit crawlers \
             fetch-ranges DIR, then add --ip-ranges DIR"
        )
    );
    let start = format!(
        "not on the address lists of OpenAI that come with botaudit: 1 request; the lists are of \
         {day}"
    );
    assert!(notes[2].starts_with(&start), "{notes:?}");
    assert_eq!((notes.len(), ran.stderr.as_str()), (3, ""));
    assert!(ran.stdout.contains("not on list: 1 request, "), "{}", ran.stdout);
    // The letter says what was compared, and never that it was not.
    sandbox.run("evidence report --crawler GPTBot --origin https://example.com -o case").exits(0);
    let letter = sandbox.text("case/letter.txt").replace('\n', " ");
    assert!(
        letter.contains(&format!(
            "1 request not-on-list: the address is not on OpenAI's list of addresses of {day}, which"
        )),
        "{letter}"
    );
    assert!(joined(&ran.stdout).contains(&notes[1]), "{}", ran.stdout);
    assert!(sandbox.text("report/report.html").contains("address lists that come with botaudit"));
    // What an operator has today says nothing about a browser of another day.
    let classes = sandbox.table("report/clients.csv").cells("class requests");
    assert!(!classes.iter().any(|row| row.starts_with("disguised")), "{classes:?}");
    // The lists lie after some requests and near others.
    sandbox.write("access.log", on("01/Mar/2027", &log[0]));
    audit(&sandbox, "").exits(0);
    let note = &self::notes(&sandbox)[1];
    assert!(note.contains(&format!("of {day}, ")) && note.contains(" before the last"), "{note}");
}

/// The first address of a list is what the client wrote.
#[test]
fn a_forged_list_of_addresses_verifies_nobody() {
    let forged = |log: &str| {
        let sandbox = sandbox(&[log.to_owned()]);
        audit(&sandbox, "").exits(0);
        let untrusted = (identities(&sandbox), proofs(&sandbox));
        audit(&sandbox, "--trusted-proxy 10.0.0.0/8").exits(0);
        (untrusted, proofs(&sandbox))
    };
    let json = |list: &str| {
        format!(
            "{{\"time\":\"2026-03-01T00:00:10Z\",\"client_ip\":\"{list}\",\"method\":\"GET\",\
             \"uri\":\"/private/\",\"status\":200,\"user_agent\":\"{GPTBOT}\"}}\n"
        )
    };
    let of_client = |list: &str| [request(list, GPTBOT), json(list)];
    let unverified = vec!["GPTBot | unverified | 1 | 1".to_owned()];
    for log in of_client(&format!("{OF_GPTBOT}, 203.0.113.99")) {
        let (untrusted, trusted) = forged(&log);
        assert_eq!(untrusted, (unverified.clone(), vec!["unverified | forwarded | 1".to_owned()]));
        assert_eq!(trusted, ["unverified | nothing | 1"], "{log}");
    }
    for log in of_client(&format!("203.0.113.99, {OF_GPTBOT}, 10.0.0.1")) {
        let (untrusted, trusted) = forged(&log);
        assert_eq!(untrusted.0, unverified);
        assert_eq!(trusted, ["verified | bundled-list | 1"], "{log}");
    }
}

#[test]
fn an_option_switches_the_lists_off() {
    let sandbox = sandbox(&[request(OF_GPTBOT, GPTBOT)]);
    audit(&sandbox, "--no-bundled-ranges").exits(0);
    assert_eq!(identities(&sandbox), ["GPTBot | unverified | 1 | 1"]);
    assert_eq!(proofs(&sandbox), [""; 0]);
    let note = "identities were not verified: any client can claim to be a crawler; use \
                --ip-ranges or --verify-dns";
    assert_eq!(notes(&sandbox), [note]);
    assert_eq!(sandbox.json("report/run.json")["options"]["no_bundled_ranges"], true);
    // Without the option, the note says that the lists did not help.
    sandbox.write("access.log", request("203.0.113.5", GPTBOT));
    audit(&sandbox, "").exits(0);
    assert_eq!(proofs(&sandbox), ["unverified | nothing | 1"]);
    let day = day_of_lists();
    let more = "the address lists that come with botaudit, of";
    assert_eq!(notes(&sandbox), [format!("{note}; {more} {day}, contain none of the addresses")]);
    // No list is of this crawler.
    sandbox.write("access.log", request("203.0.113.5", BYTESPIDER));
    audit(&sandbox, "").exits(0);
    assert_eq!(notes(&sandbox), [note]);
}

/// A list of the directory decides for its own times, and the lists of the program for what it lacks.
#[test]
fn a_directory_wins() {
    let log = [request(OF_GPTBOT, GPTBOT), request("157.55.39.1", super::identity::BINGBOT)];
    let sandbox = sandbox(&log);
    let list = |times: &str| {
        let manifest = format!(
            r#"{{"schema_version": 1, "lists": [{{"url": "https://openai.com/gptbot.json",
                "file": "gptbot.json", "fetched_at_utc": "2026-03-02T00:00:00Z", "size_bytes": 9,
                "seen_utc": [{times}]}}]}}"#
        );
        sandbox.write("ranges/gptbot.json", "192.0.2.7");
        sandbox.write("ranges/manifest.json", manifest);
    };
    // One version after the request, and before the lists of the program.
    list("\"2026-03-02T00:00:00Z\"");
    audit(&sandbox, "--ip-ranges ranges").exits(0);
    assert_eq!(identities(&sandbox), ["GPTBot | spoofed | 1 | 1", OF_BINGBOT]);
    // One version before the request: the lists of the program are the next ones.
    list("\"2026-02-20T00:00:00Z\"");
    audit(&sandbox, "--ip-ranges ranges").exits(0);
    assert_eq!(identities(&sandbox), ["GPTBot | verified | 1 | 1", OF_BINGBOT]);
    assert_eq!(proofs(&sandbox), ["verified | bundled-list | 1"; 2]);
    audit(&sandbox, "--ip-ranges ranges --no-bundled-ranges").exits(0);
    assert_eq!(identities(&sandbox), ["GPTBot | spoofed | 1 | 1", "bingbot | unverified | 1 | 1"]);
    // From the time of the request until today.
    list("\"2026-02-20T00:00:00Z\", \"2027-02-20T00:00:00Z\"");
    audit(&sandbox, "--ip-ranges ranges").exits(0);
    assert_eq!(identities(&sandbox), ["GPTBot | spoofed | 1 | 1", OF_BINGBOT]);
}

/// Parts of a log add up to the whole, and parts that used other lists merge as those of two directories do.
#[test]
fn tallies_with_and_without_the_lists_merge_in_any_order() {
    let log = [request(OF_GPTBOT, GPTBOT), request("203.0.113.5", GPTBOT)];
    let sandbox = sandbox(&log);
    audit(&sandbox, "").exits(0);
    let whole = sandbox.json("report/run.json");
    for (part, line, flags) in
        [("1", &log[0], ""), ("2", &log[1], ""), ("off", &log[0], "--no-bundled-ranges")]
    {
        sandbox.write(&format!("{part}.log"), line);
        let settings = "--robots robots.txt --origin https://example.com";
        sandbox
            .run(&format!("audit -q {settings} {flags} --partial {part}.tally {part}.log"))
            .exits(0);
    }
    for order in ["1.tally 2.tally", "2.tally 1.tally"] {
        sandbox.run(&format!("merge -q {order} -o sum.tally")).exits(0);
        sandbox.run("report sum.tally -o sum").exits(0);
        let sum = sandbox.json("sum/run.json");
        for field in ["notes", "requests_by_identity", "requests_by_proof", "options"] {
            assert_eq!(sum[field], whole[field], "{field}");
        }
    }
    let merged = ["2.tally off.tally", "off.tally 2.tally"].map(|order| {
        sandbox.run(&format!("merge -q {order} -o sum.tally")).exits(0);
        sandbox.run("report sum.tally -o sum").exits(0);
        let sum = sandbox.json("sum/run.json");
        (sum["notes"].clone(), sum["options"].clone(), sum["requests_by_identity"].clone())
    });
    assert_eq!(merged[0], merged[1]);
    assert!(merged[0].1.get("no_bundled_ranges").is_none());
}

#[test]
fn a_crawler_is_shown_with_the_lists_of_the_program() {
    let sandbox = Sandbox::new();
    let text = sandbox.run("crawlers show GPTBot").exits(0).stdout;
    let line = format!("https://openai.com/gptbot.json as of {}T", day_of_lists());
    assert!(text.contains(&line) && text.contains(" networks\n"), "{text}");
    let json = sandbox.run("crawlers show GPTBot --format json").exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let list = &json["ip_lists_bundled"][0];
    assert_eq!(list["url"], "https://openai.com/gptbot.json");
    assert!(list["networks"].as_u64().unwrap() > 5, "{json}");
    let none = sandbox.run("crawlers show Bytespider").exits(0).stdout;
    assert!(!none.contains("in botaudit"), "{none}");
}
