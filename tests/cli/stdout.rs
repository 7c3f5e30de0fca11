//! Standard output as an output: `-` in the place of a file.

use crate::nightly::GPTBOT;
use crate::program::{Ran, Sandbox, Table, line};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", line(1, "/private/x", 200, GPTBOT).repeat(3));
    sandbox
}

/// What `arguments` write to standard output, as bytes.
fn bytes(sandbox: &Sandbox, arguments: &str) -> Vec<u8> {
    let output = sandbox.command(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn evidence_goes_to_standard_output_and_the_summary_to_standard_error() {
    let sandbox = sandbox();
    let audit = "audit --robots robots.txt --origin https://a.example access.log";
    let Ran { stdout, stderr, .. } = sandbox.run(&format!("{audit} --evidence -")).exits(0);
    assert_eq!(Table::parse(&stdout).rows.len(), 3);
    assert!(stderr.contains("3 violations") && stderr.contains("report: "), "{stderr}");
    sandbox.run(&format!("{audit} --evidence evidence.csv")).exits(0);
    assert_eq!(stdout, sandbox.text("evidence.csv"));
    assert!(!sandbox.path("-").exists());
    let quiet = sandbox.run(&format!("{audit} --evidence - -q")).exits(0);
    assert!(!quiet.stderr.contains("3 violations"), "{}", quiet.stderr);
}

#[test]
fn tallies_and_collected_files_go_to_standard_output() {
    let sandbox = sandbox();
    let audit = "audit --robots robots.txt --origin https://a.example access.log";
    let collect = "--infer-outages --client-key 0123456789abcdef --collect";
    for (arguments, name) in
        [(format!("{audit} --partial"), "a"), (format!("{audit} {collect}"), "b")]
    {
        sandbox.run(&format!("{arguments} {name}.out")).exits(0);
        let file = std::fs::read(sandbox.path(&format!("{name}.out"))).unwrap();
        assert!(bytes(&sandbox, &format!("{arguments} -")) == file, "{arguments}");
        assert!(bytes(&sandbox, &format!("merge {name}.out -o -")) == file, "{arguments}");
    }
    sandbox
        .run(&format!("{audit} --partial - --evidence -"))
        .exits(2)
        .complains("-: cannot be both --partial and --evidence; use another --evidence");
}

#[test]
fn a_configuration_goes_to_standard_output() {
    let sandbox = sandbox();
    sandbox.write("root/var/log/nginx/access.log", "");
    let ran = sandbox.run("init --root root -").exits(0).complains("standard output: 1 site\n");
    sandbox.run("init --root root new.toml").exits(0);
    assert_eq!(ran.stdout, sandbox.text("new.toml"));
    assert!(!sandbox.path("-").exists());
}

#[test]
fn a_directory_cannot_be_standard_output() {
    let sandbox = sandbox();
    sandbox
        .run("robots import -a robots.db --origin https://a.example --at 2025-01-01 robots.txt")
        .exits(0);
    let audit = "audit --robots robots.txt access.log";
    sandbox.run(audit).exits(0);
    for (arguments, flag) in [
        (format!("{audit} -o -").as_str(), "-o"),
        ("report -o -", "-o"),
        ("robots export -a robots.db -", "DIRECTORY"),
        ("crawlers fetch-ranges -", "DIR"),
        ("man -", "DIR"),
    ] {
        let why = format!("{flag} is a directory and cannot be written to standard output (-)");
        sandbox.run(arguments).exits(2).complains(&why);
    }
    let cache = "--verify-dns --dns-cache -";
    sandbox.run(&format!("{audit} {cache}")).exits(2).complains("is read, too");
    assert!(!sandbox.path("-").exists());
}
