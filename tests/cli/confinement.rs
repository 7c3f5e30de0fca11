//! Confined runs: what they still reach, and which commands are confined.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};

use super::program::Sandbox;

const LINE: &str = "192.0.2.1 - - [20/Mar/2026:12:00:00 +0000] \"GET /private HTTP/1.1\" 200 5 \"-\" \
                    \"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)\"\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("logs/access.log", LINE);
    sandbox.write("rules/robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("crawlers.csv", "name,user_agent_regex,product_tokens\nMyBot,mybot/,mybot\n");
    sandbox
}

/// Whether this kernel can confine a run.
fn is_possible(sandbox: &Sandbox) -> bool {
    !sandbox.run("lint -v rules/robots.txt").stderr.contains("not confined")
}

/// Runs a script of bash, in which `$B` is the program.
fn script(sandbox: &Sandbox, script: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(sandbox.path("")).stdin(Stdio::null());
    command.env("B", env!("CARGO_BIN_EXE_botaudit")).env("COLUMNS", "400");
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn every_command_that_reads_files_of_others_is_confined() {
    let sandbox = sandbox();
    if !is_possible(&sandbox) {
        return eprintln!("skipped: this kernel does not confine");
    }
    sandbox.run("audit -q --robots rules/robots.txt -o out logs/access.log").exits(0);
    sandbox
        .run("robots import -q -a db --origin a.example --at 2026-03-01 rules/robots.txt")
        .exits(0);
    let nightly = "[sites.shop]\nlogs = \"logs/access.log\"\nrobots = \"rules/robots.txt\"\n\
                   origin = \"https://a.example\"\n";
    sandbox.write("botaudit.toml", nightly);
    for (command, place) in [
        (
            "audit --robots rules/robots.txt --origin https://a.example -o again logs/access.log",
            "logs",
        ),
        ("nightly --check-config", ""),
        ("nightly --day 2026-03-20", ""),
        ("formats detect logs/access.log", "logs"),
        ("crawlers check-registry crawlers.csv", "."),
        ("crawlers list --crawlers crawlers.csv", "."),
        ("crawlers identify mybot/1.0 --crawlers crawlers.csv", "."),
        ("check --robots rules/robots.txt --crawler GPTBot /private", "rules"),
        ("lint rules/robots.txt", "rules"),
        ("report --format text out", "out"),
        ("merge -o sum.tally out", "out"),
        ("deny --for nginx out", "out"),
        ("robots list -a db", "."),
    ] {
        let ran = sandbox.run(&format!("{command} -v"));
        let note = ran.stderr.lines().find(|line| line.contains("confined by the kernel: reads "));
        let note =
            note.or_else(|| ran.stderr.lines().find(|line| line.contains("partly confined")));
        let note = note.unwrap_or_else(|| panic!("{command}: {}", ran.stderr));
        assert!(note.contains(place) && note.ends_with(", no network"), "{command}: {note}");
        assert!(ran.stderr.contains(" system calls are refused"), "{command}: {}", ran.stderr);
        let free = sandbox.run(&format!("{command} -v --no-sandbox --force")).stderr;
        assert!(!free.contains("confined") && !free.contains("system calls"), "{command}: {free}");
    }
}

/// Streams by their names, pipes, and devices, which single rights open.
#[test]
fn a_confined_run_reads_and_writes_streams_and_devices() {
    let sandbox = sandbox();
    let audit = "$B audit -q --robots rules/robots.txt --origin https://a.example";
    let summary = |out: &str| {
        let ran = sandbox.run(&format!("report --format jsonl --table violations {out}")).exits(0);
        assert!(ran.stdout.contains("\"requests\":1"), "{out}: {}{}", ran.stdout, ran.stderr);
    };
    for (number, (input, redirection)) in [
        ("-", "< logs/access.log"),
        ("/dev/stdin", "< logs/access.log"),
        ("/dev/stdin", "< <(cat logs/access.log)"),
        ("/dev/fd/7", "7< logs/access.log"),
        ("/proc/self/fd/7", "7< logs/access.log"),
        ("<(cat logs/access.log)", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("out-{number}");
        let (code, _, message) =
            script(&sandbox, &format!("{audit} -o {out} {input} {redirection}"));
        assert_eq!(code, Some(0), "{input} {redirection}: {message}");
        summary(&out);
    }
    let named = format!("mkfifo pipe && {{ cat logs/access.log > pipe & {audit} -o named pipe; }}");
    let (code, _, message) = script(&sandbox, &named);
    assert_eq!(code, Some(0), "{message}");
    summary("named");
    for (output, redirection) in [
        ("-", "> a.tally"),
        ("/dev/stdout", "> a.tally"),
        ("/dev/stdout", "| cat > a.tally"),
        ("/dev/fd/8", "8> a.tally"),
        (">(cat > a.tally; touch done)", "; while [ ! -e done ]; do sleep 0.1; done; rm done"),
    ] {
        let _ = fs::remove_file(sandbox.path("a.tally"));
        let run = format!("{audit} --partial {output} logs/access.log {redirection}");
        let (code, _, message) = script(&sandbox, &run);
        assert_eq!(code, Some(0), "{run}: {message}");
        summary("a.tally");
    }
    let (code, _, message) =
        script(&sandbox, &format!("{audit} --partial /dev/null logs/access.log"));
    assert_eq!(code, Some(0), "{message}");
    let (code, _, message) =
        script(&sandbox, &format!("{audit} --partial /dev/full logs/access.log"));
    assert!(code == Some(2) && message.contains("No space left"), "{message}");
    for evidence in ["- > e.csv", "/dev/stdout | cat > e.csv", "/dev/stdout > e.csv"] {
        let run = format!("{audit} -o kept logs/access.log --evidence {evidence}");
        let (code, _, message) = script(&sandbox, &run);
        assert_eq!(code, Some(0), "{run}: {message}");
        assert!(sandbox.text("e.csv").contains("/private"), "{run}");
    }
}

/// The terminal of a run is not among its inputs.
#[test]
fn a_run_with_a_link_in_dev_does_not_open_the_directory_of_devices() {
    let sandbox = sandbox();
    if !is_possible(&sandbox) {
        return eprintln!("skipped: this kernel does not confine");
    }
    let (code, _, message) =
        script(&sandbox, "$B formats detect -v /dev/stdin < logs/access.log > found");
    assert_eq!(code, Some(0), "{message}");
    let note = message.lines().find(|line| line.contains("reads ")).unwrap();
    assert!(note.contains("/logs") && !note.contains("/dev"), "{note}");
}
