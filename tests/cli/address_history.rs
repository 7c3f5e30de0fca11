//! Address lists that change: `crawlers import-ranges`, and identities by lists of the time.

use std::process::Command;

use super::identity::{GOOGLEBOT, GPTBOT, audit, identities, proofs, request, sandbox};
use super::program::Sandbox;

fn git(sandbox: &Sandbox, folder: &str, day: &str, arguments: &[&str]) {
    let date = format!("{day}T12:00:00Z");
    let ran = Command::new("git")
        .args(["-c", "user.name=x", "-c", "user.email=x@example.com"])
        .args(arguments)
        .current_dir(sandbox.path(folder))
        .envs([("GIT_COMMITTER_DATE", &date), ("GIT_AUTHOR_DATE", &date)])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// A request in March 2026 is judged by the lists before and after it.
#[test]
fn dated_copies_decide_for_their_time() {
    let gptbot = ["20.171.206.7", "20.171.207.7", "20.171.208.7", "203.0.113.5"];
    let sandbox = sandbox(&gptbot.map(|client| request(client, GPTBOT)));
    // The requests are of 1 March.
    sandbox.write("copies/GPTBot_20260220_120000.txt", "20.171.206.0/24");
    sandbox.write("copies/2026-03-03/gptbot.json", r#"{"prefixes": ["20.171.207.0/24"]}"#);
    let later = r#"{"formatVersion": "1.0", "creationTime": "2026-06-01T00:00:00Z",
        "prefixes": [{"ipv4Prefix": "20.171.208.0/24", "service": "GPTBot"}]}"#;
    sandbox.write("copies/gptbot/v3.json", "not here");
    sandbox.write("copies/gptbot.json", later);
    sandbox.write("copies/README.md", "lists");
    let import = "crawlers import-ranges ranges copies";
    let ran = sandbox.run(import).exits(0);
    assert_eq!(ran.stdout, "3 versions of lists added; 0 duplicates skipped\n", "{ran:?}");
    let ran = sandbox.run(import).exits(0);
    assert_eq!(ran.stdout, "0 versions of lists added; 3 duplicates skipped\n", "{ran:?}");
    audit(&sandbox, "--ip-ranges ranges").exits(0);
    let expected = ["GPTBot | verified | 2 | 2", "GPTBot | spoofed | 2 | 2"];
    assert_eq!(identities(&sandbox), expected);
    // The newest list is that of June.
    assert_eq!(proofs(&sandbox), ["verified | archived-list | 2", "spoofed | address-list | 2"]);
    // Without the list of 3 March the next one is too late to contradict.
    std::fs::remove_dir_all(sandbox.path("ranges")).unwrap();
    std::fs::remove_dir_all(sandbox.path("copies/2026-03-03")).unwrap();
    sandbox.run(import).exits(0);
    let ran = audit(&sandbox, "--ip-ranges ranges").exits(0);
    let expected = ["GPTBot | verified | 2 | 2", "GPTBot | unverified | 2 | 2"];
    assert_eq!(identities(&sandbox), expected);
    let by_proof =
        ["verified | address-list | 1", "verified | archived-list | 1", "unverified | nothing | 2"];
    assert_eq!(proofs(&sandbox), by_proof);
    let expected = "note: identity of 4 requests decided by: address lists 25.0 %, archived lists \
                    25.0 %, nothing 50.0 %; see verification.csv\n";
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    assert!(text.contains(expected.trim_end()), "{}", ran.stdout);
    let by_proof = &sandbox.json("report/run.json")["requests_by_proof"];
    assert_eq!((&by_proof["archived-list"], &by_proof["dns"]), (&1.into(), &0.into()));
    assert!(ran.stdout.contains("has 2 versions from 2026-02-20 to 2026-06-01"), "{}", ran.stdout);
}

#[test]
fn the_history_of_a_repository_and_a_directory_with_its_own_are_imported() {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no git on this machine");
        return;
    }
    let sandbox = sandbox(
        &["66.249.64.5", "66.249.65.5", "66.249.66.5"].map(|client| request(client, GOOGLEBOT)),
    );
    sandbox.write("lists/README.md", "lists of others");
    git(&sandbox, "lists", "2026-01-01", &["init", "-q"]);
    for (day, list) in [
        ("2026-02-01", "66.249.64.0/24"),
        ("2026-02-22", "66.249.65.0/24"),
        ("2026-02-24", ""),
        ("2026-02-25", "66.249.65.0/24"),
        ("2026-03-10", "66.249.67.0/24"),
    ] {
        sandbox.write("lists/ips/googlebot.ips", list);
        git(&sandbox, "lists", day, &["add", "-A"]);
        git(&sandbox, "lists", day, &["commit", "-q", "-m", day]);
    }
    // The list was empty once, which is a mistake of the mirror.
    let ran = sandbox.run("crawlers import-ranges ranges --git lists").exits(3);
    assert!(ran.stdout.contains("4 versions of lists added"), "{ran:?}");
    assert!(ran.stderr.contains("ips/googlebot.ips in commit "), "{ran:?}");
    assert!(ran.stderr.contains("it contains no address"), "{ran:?}");
    let check = |ranges: &str| {
        audit(&sandbox, &format!("--ip-ranges {ranges}")).exits(0);
        let expected = ["Googlebot | verified | 1 | 1", "Googlebot | spoofed | 2 | 2"];
        assert_eq!(identities(&sandbox), expected, "{ranges}");
    };
    check("ranges");
    sandbox.run("crawlers import-ranges -q copy ranges").exits(0);
    check("copy");
    let ran = sandbox.run("crawlers import-ranges one --git lists/ips/googlebot.ips").exits(3);
    assert!(ran.stdout.contains("4 versions"), "{ran:?}");
    let ran = sandbox.run("crawlers import-ranges one --git ranges").exits(3);
    assert!(ran.stderr.contains("git reports: "), "{ran:?}");
}

#[test]
fn mistakes_of_an_import_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("a/list.txt", "192.0.2.1");
    sandbox.write("gptbot.json", "192.0.2.1");
    sandbox.write("gptbot-2026-03-01.json", "<html>");
    for (arguments, code, expected) in [
        ("ranges a", 2, "no file has the name of a known list"),
        ("ranges a/list.txt", 3, "its name is not that of a known list"),
        ("ranges gptbot.json", 3, "the time of the fetch is not known"),
        ("ranges gptbot-2026-03-01.json", 3, "not a list of addresses: an HTML page"),
        ("ranges none", 2, "cannot read none"),
        ("a a", 2, "is an input (PATH) and cannot be overwritten"),
        ("ranges --at now gptbot.json", 2, "now"),
        ("ranges --url https://example.com/x a", 2, "is not the list of a known crawler"),
        ("ranges --at 2026-03-01 gptbot.json", 0, ""),
        ("ranges --url https://openai.com/gptbot.json --at modified a", 0, ""),
    ] {
        let ran = sandbox.run(&format!("crawlers import-ranges {arguments}")).exits(code);
        assert!(ran.stderr.contains(expected), "{arguments}: {}", ran.stderr);
    }
    sandbox.write("ranges/history/manifest.json", "{");
    let ran = sandbox.run("crawlers import-ranges ranges gptbot.json --at 2026-03-01").exits(2);
    assert!(ran.stderr.contains("manifest.json: EOF"), "{ran:?}");
}
