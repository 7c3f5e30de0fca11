//! The help of each command: length, content, and running examples.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::nightly::GPTBOT;
use super::program::{Sandbox, gzip, line, repository};

/// The lines of a screen.
const SCREEN_LINES: usize = 40;

/// The lines of the longest help.
const AUDIT_LINES: usize = 252;

const ROBOTS: &str = "User-agent: *\nDisallow: /private/\n";

/// Names of commands, from a list in `help`.
fn listed(help: &str) -> Vec<String> {
    let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let listed = listed.lines().take_while(|line| line.starts_with("  "));
    let names = listed
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The length of the longest line in characters.
fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn the_summary_has_its_flags_in_help() {
    let sandbox = Sandbox::new();
    for (command, flag) in [("report", "-h"), ("merge", "-h"), ("audit", "--help")] {
        let help = help_of(&sandbox, command, flag);
        for flag in ["--only <CRAWLER>", "--exclude <CRAWLER>", "--top <N>", "--by <WHAT>"] {
            assert!(help.contains(flag), "{command} {flag}\n{help}");
        }
    }
}

fn help_of(sandbox: &Sandbox, command: &str, flag: &str) -> String {
    let mut program = sandbox.command(&format!("{command} {flag}"));
    let output = program.env("COLUMNS", "80").output().unwrap();
    assert!(output.status.success(), "{command}");
    String::from_utf8(output.stdout).unwrap()
}

/// All commands and subcommands; "" is the program itself.
fn commands(sandbox: &Sandbox) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut next = 0;
    while let Some(command) = found.get(next).cloned() {
        let below = listed(&help_of(sandbox, &command, "--help"));
        found.extend(below.iter().map(|name| format!("{command} {name}").trim().to_owned()));
        next += 1;
    }
    assert!(found.len() > 25, "{found:?}");
    found
}

#[test]
fn short_help_is_one_screen() {
    let sandbox = Sandbox::new();
    for command in commands(&sandbox) {
        let help = help_of(&sandbox, &command, "-h");
        let (lines, widest) = (help.lines().count(), widest(&help));
        assert!(widest <= 80, "{command}: {widest} columns\n{help}");
        assert!(lines <= SCREEN_LINES, "{command}: {lines} lines\n{help}");
        assert!(help.contains("\nExit codes:\n"), "{command}\n{help}");
        assert!(help.contains(" --help"), "{command}\n{help}");
        assert!(!help.contains('\x1b'));
    }
}

/// Long lists of options are in groups with nouns as headings.
#[test]
fn long_help_has_groups_examples_and_exit_codes() {
    let sandbox = Sandbox::new();
    for command in commands(&sandbox) {
        let help = help_of(&sandbox, &command, "--help");
        let widest = help.split("\nExamples:\n").next().map_or(0, widest);
        assert!(widest <= 80, "{command}: {widest} columns\n{help}");
        assert!(help.contains("\nExamples:\n"), "{command}\n{help}");
        assert!(help.contains("\nExit codes:\n"), "{command}\n{help}");
        let (own, general) = help.split_once("\nGeneral options:\n").unwrap();
        let (general, rest) = general.split_once("\n\n").unwrap();
        // Those of all commands come last, and are short.
        assert!(rest.starts_with("Examples:\n"), "{command}\n{help}");
        assert!(general.lines().count() <= 9, "{command}\n{help}");
        for flag in
            ["  -v, --verbose", "      --color <WHEN>", "      --no-sandbox", "  -h, --help"]
        {
            assert!(general.lines().any(|line| line == flag), "{command} {flag}\n{help}");
        }
        let ungrouped = own.split("\nOptions:\n").nth(1).unwrap_or_default();
        let ungrouped = ungrouped.split("\n\n").next().unwrap_or_default();
        let is_option = |line: &&str| line.starts_with("  -") || line.starts_with("      --");
        let options = ungrouped.lines().filter(is_option).count();
        assert!(options <= 3, "{command}: {options} options without a group\n{help}");
    }
}

#[test]
fn the_help_of_audit_is_grouped() {
    let sandbox = Sandbox::new();
    let help = help_of(&sandbox, "audit", "--help");
    let headings = [
        "Rules:",
        "Detecting outages from logs:",
        "Origins:",
        "Input:",
        "Output:",
        "Privacy:",
        "Crawler verification:",
        "Testing a draft:",
        "Configuration file:",
        "Parts of a large audit:",
        "Performance:",
    ];
    for heading in headings {
        assert!(help.contains(&format!("\n{heading}\n")), "{heading}\n{help}");
    }
    let lines = help.lines().count();
    assert!(lines <= AUDIT_LINES, "{lines} lines\n{help}");
    let short = help_of(&sandbox, "audit", "-h");
    assert!(short.contains("--robots") && !short.contains("--dns-timeout"), "{short}");
}

/// The example commands in the help text `name`.
fn examples(name: &Path) -> Vec<String> {
    let text = fs::read_to_string(name).unwrap();
    let examples = text.split("Examples:\n").nth(1).unwrap();
    let examples = examples.lines().take_while(|line| line.is_empty() || line.starts_with("  "));
    examples.filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

/// The example with other machines and files of this one replaced.
fn tamed(example: &str, name: &str) -> String {
    let mut example = example.replace("/var/log/", "var/log/").replace("/etc/", "etc/");
    example = example.replace("botaudit init", "botaudit init --root .");
    if name == "robots-fetch" {
        example = example.replace("https://example.com", "http://127.0.0.1:9");
        example = example.replace("https://shop.example.com", "http://127.0.0.1:10");
    }
    if example.starts_with("botaudit crawlers fetch-") {
        // It would download lists and keys from all operators. The flags are parsed, and then a missing file
        // ends it.
        example += " --ca-file missing.pem 2> refused; grep -q missing.pem refused";
    }
    example
}

/// The files that examples name.
fn sandbox_of(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let of = |second: u32| line(second, "/private/x", 200, GPTBOT);
    let with_host = |second: u32, host: &str| format!("{host} {}", of(second));
    let log = of(1).repeat(9);
    for path in ["robots.txt", "public/robots.txt", "site/robots.txt", "robots/example.com.txt"] {
        sandbox.write(path, ROBOTS);
    }
    sandbox.write("access.log", &log);
    // Without hosts, this site would need an origin.
    let with_hosts: Vec<String> =
        log.lines().map(|line| format!("example.com:443 {line}\n")).collect();
    sandbox.write("var/log/nginx/access.log", with_hosts.concat());
    for path in ["access.log.gz", "var/log/nginx/access.log.1.gz", "old.log.gz"] {
        sandbox.write_gz(path, &log);
    }
    for (path, second) in [("7.gz", 7), ("a.gz", 8), ("b.gz", 9)] {
        sandbox.write_gz(path, with_host(second, "example.com:443").repeat(9));
    }
    sandbox.write(
        "var/log/apache2/other_vhosts_access.log",
        with_host(3, "example.com:443").repeat(9),
    );
    let config =
        "[sites.shop]\nlogs = [\"a.log\"]\nrobots = \"r.txt\"\norigin = \"https://example.com\"\n";
    for directory in ["", "etc/"] {
        sandbox.write(&format!("{directory}a.log"), &log);
        sandbox.write(&format!("{directory}r.txt"), ROBOTS);
        if name != "init" {
            sandbox.write(&format!("{directory}botaudit.toml"), config);
        }
    }
    let urls = "https://example.com/\nhttps://example.com/private/x\n";
    sandbox.write("urls.txt", urls);
    sandbox.write_gz("urls.txt.gz", urls);
    sandbox.write_gz("urls.gz", urls);
    sandbox.write("pages.csv", "id,url\n1,https://example.com/\n");
    sandbox.write("origins.txt", "http://127.0.0.1:9\n");
    for path in ["crawlers.csv", "my-crawlers.csv"] {
        sandbox.write(path, "name,user_agent_regex\nmybot,mybot\n");
    }
    sandbox.write("ip-ranges/gptbot.json", "{\"prefixes\":[{\"ipv4Prefix\":\"192.0.2.0/24\"}]}");
    sandbox.write(".local/share/bash-completion/completions/x", "");
    sandbox.write("CC-MAIN-1.warc.gz", gzip(&warc()));
    // The programs that read the output of examples need not be installed.
    for (path, script) in [
        ("bin/curl", "#!/bin/sh\ncat robots.txt\n"),
        ("bin/jq", "#!/bin/sh\ncat > /dev/null\n"),
        ("bin/man", "#!/bin/sh\n"),
    ] {
        sandbox.write(path, script);
    }
    sandbox
}

fn warc() -> Vec<u8> {
    let block = format!("HTTP/1.1 200 OK\r\n\r\n{ROBOTS}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2025-01-01T00:00:00Z\r\n\
         WARC-Target-URI: https://example.com/robots.txt\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
    .into_bytes()
}

/// Runs the commands that must precede the examples of `name`.
fn prepare(sandbox: &Sandbox, name: &str) {
    let share = "audit --robots robots --infer-outages";
    match name {
        "crawlers-fetch-keys" => {
            let logged = format!("example.com:443 {}", line(1, "/private/x", 200, GPTBOT));
            sandbox.write_gz("access.log.gz", logged.repeat(9));
            sandbox.write("copies/chatgpt.com-2026-03-01.json", r#"{"keys": []}"#);
            sandbox.run("crawlers import-keys keys copies").exits(0);
        }
        "crawlers-import-card" => {
            let card = r#"{"client_name": "FieldBot", "expected-user-agent": "FieldBot/*"}"#;
            sandbox.write("card.json", card);
            let logged = format!("example.com:443 {}", line(1, "/private/x", 200, GPTBOT));
            sandbox.write_gz("access.log.gz", logged.repeat(9));
        }
        "crawlers-import-keys" => {
            for file in ["copies/chatgpt.com-2026-03-01.json", "a-2026-03-01.txt"] {
                sandbox.write(file, r#"{"keys": []}"#);
            }
        }
        "audit" | "crawlers-fetch-ranges" | "robots-fetch" => {
            let host = if name == "robots-fetch" { "127.0.0.1:9" } else { "example.com:443" };
            let logged = format!("{host} {}", line(1, "/private/x", 200, GPTBOT));
            sandbox.write_gz("access.log.gz", logged.repeat(9));
        }
        "crawlers-import-ranges" => {
            for file in ["GoodBots/gptbot.ips", "copies/gptbot-2026-03-01.json", "a-2026-03-01.txt"]
            {
                sandbox.write(file, "192.0.2.0/24");
            }
            let git = "cd GoodBots && git init -q && git add gptbot.ips && \
                       git -c user.name=x -c user.email=x@example.com commit -q -m x";
            shell(sandbox, git, name);
        }
        "formats" => sandbox.write(
            "access.log",
            "192.0.2.7 [01/Mar/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 \"x\"\n".repeat(9),
        ),
        "merge" => {
            sandbox.run(&format!("{share} --partial part-00.tally a.gz")).exits(0);
            sandbox.run(&format!("{share} --partial part-10.tally b.gz")).exits(0);
            let key = "--client-key 0123456789abcdef";
            sandbox.run(&format!("{share} --collect part-7.collected {key} 7.gz")).exits(0);
        }
        "deny" => {
            let ignored = (2..32).map(|at| line(at, "/private/x", 200, GPTBOT)).collect::<String>();
            let log = line(1, "/robots.txt", 200, GPTBOT) + &ignored;
            sandbox.write("ignoring.log", log.replace("192.0.2", "example.com:443 192.0.2"));
            sandbox.run("audit --robots robots -o report a.gz ignoring.log").exits(0);
        }
        "evidence" => {
            sandbox.run("audit --robots robots -o report a.gz").exits(0);
        }
        "report" => {
            sandbox.run("audit --robots robots -o report a.gz").exits(0);
            sandbox.run("audit --robots robots --partial part-0.tally b.gz").exits(0);
            sandbox.run("audit --robots robots -o reports/2026-11-16 a.gz").exits(0);
            sandbox.run("audit --robots robots -o reports/2026-11-17 b.gz").exits(0);
        }
        _ => {}
    }
    let archive = "robots import --archive robots.db --origin https://example.com";
    if name == "check" || (name.starts_with("robots-") && name != "robots-import") {
        sandbox.run(&format!("{archive} --at 2025-01-01 robots.txt")).exits(0);
    }
    if name == "robots" || name == "robots-import" {
        sandbox.write_gz("access.log.gz", format!("example.com:443 {}", line(1, "/", 200, GPTBOT)));
        let git = "git init -q site && cd site && git add robots.txt && \
                   git -c user.name=x -c user.email=x@example.com commit -q -m x";
        shell(sandbox, git, name);
    }
}

/// Runs `command` in a shell that finds the program by its name.
fn shell(sandbox: &Sandbox, command: &str, name: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_botaudit")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{}:{path}", sandbox.path("bin").display(), program.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(sandbox.path(".")).env("PATH", path);
    shell.env("HOME", sandbox.path(".")).env("KEY", "0123456789abcdef");
    let ran = shell.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    // The hosts of the examples cannot be fetched from here.
    let is_fetch = command.contains("robots fetch") || command.contains("--fetch");
    let is_done =
        matches!(ran.status.code(), Some(0 | 1)) || (is_fetch && ran.status.code() == Some(3));
    assert!(is_done && !said.contains("error:"), "{name}: {command}\n{:?}\n{said}", ran.status);
}

/// Each example of each help text runs and gives the expected result.
#[cfg(unix)]
#[test]
fn examples_of_help_texts_run() {
    use std::os::unix::fs::PermissionsExt;
    let texts = fs::read_dir(repository().join("src/cli/help")).unwrap();
    let mut seen = 0;
    for text in texts.map(|entry| entry.unwrap().path()) {
        let name = text.file_stem().unwrap().to_str().unwrap();
        let sandbox = sandbox_of(name);
        for stub in sandbox.names("bin") {
            let path = sandbox.path("bin").join(stub);
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        prepare(&sandbox, name);
        for example in examples(&text) {
            assert!(example.contains("botaudit "), "{name}: {example}");
            shell(&sandbox, &tamed(&example, name), name);
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}
