//! Other outputs of a run: notes, colors, lines that fit the terminal.

use super::nightly::GPTBOT;
use super::program::{Sandbox, line, repository};

/// Two origins in one log, a robots.txt of one of them.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots/a.example", "User-agent: *\nDisallow: /private\n");
    let of = |host: &str| format!("{host}:443 {}", line(1, "/private/x", 200, GPTBOT));
    sandbox.write("access.log", of("a.example").repeat(3) + &of("b.example"));
    sandbox
}

#[test]
fn verbose_names_formats_rules_threads_and_times() {
    let sandbox = sandbox();
    let audit = "audit --robots robots --threads 2 access.log";
    let quiet = sandbox.run(audit).exits(0);
    assert!(!quiet.stderr.contains("note:"), "{}", quiet.stderr);
    let ran = sandbox.run(&format!("-v {audit}")).exits(0);
    assert_eq!(ran.stdout, quiet.stdout);
    for expected in [
        "note: threads: 2\n",
        "note: access.log: format vhost_combined\n",
        "note: https://a.example: judged by robots/a.example\n",
        "note: https://b.example: judged by no robots.txt\n",
        "note: logs read and judged: 0.",
        "note: report written: 0.",
    ] {
        assert!(ran.stderr.contains(expected), "{expected}{}", ran.stderr);
    }
    let is_confined = |stderr: &str| stderr.contains("note: confined by the kernel: reads ");
    let is_told = |stderr: &str| stderr.contains("confined");
    let is_possible =
        !ran.stderr.contains("note: not confined") && !ran.stderr.contains("note: partly");
    assert!(is_told(&ran.stderr) && (is_confined(&ran.stderr) || !is_possible), "{}", ran.stderr);
    let free = sandbox.run(&format!("-v --no-sandbox {audit}")).exits(0);
    assert!(!is_told(&free.stderr), "{}", free.stderr);
    let ran = sandbox.run("report --verbose").exits(0);
    ran.complains("note: access.log: format").complains("note: tallies read: 0.");
    sandbox.write("urls.txt", "https://a.example/private\n");
    let classified = sandbox.run("classify -v --crawler GPTBot --robots robots urls.txt").exits(0);
    classified.complains("note: lists read and classified: 0.");
}

/// Links lead to directories that the command line does not name.
#[cfg(unix)]
#[test]
fn a_confined_run_follows_the_links_to_its_inputs() {
    let (sandbox, elsewhere) = (Sandbox::new(), sandbox());
    for (target, link) in
        [("access.log", "logs/access.log"), ("robots/a.example", "links/a.example")]
    {
        let link = sandbox.path(link);
        std::fs::create_dir(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(target), link).unwrap();
    }
    let ran = sandbox.run("audit -v --robots links logs").exits(0);
    ran.complains("note: https://a.example: judged by links/a.example\n");
}

#[test]
fn labels_have_colors_only_where_that_is_asked_for() {
    let sandbox = sandbox();
    let colored = sandbox.run("audit --robots gone access.log --color always").exits(2).stderr;
    assert!(colored.starts_with("\x1b[1;31merror:\x1b[0m cannot read"), "{colored}");
    for flag in ["--color never", "--color auto", ""] {
        let ran = sandbox.run(&format!("audit --robots gone access.log {flag}")).exits(2);
        assert!(ran.stderr.starts_with("error: cannot read"), "{}", ran.stderr);
    }
    for arguments in ["--help", "audit -h", "audit --nonsense"] {
        let mut said = Vec::new();
        for flag in ["--color=always", "--color=never"] {
            let ran = sandbox.run(&format!("{flag} {arguments}"));
            said.push(ran.stdout + &ran.stderr);
        }
        assert!(said[0].contains("\x1b[") && !said[1].contains('\x1b'), "{said:?}");
    }
    sandbox.run("lint --color pink robots.txt").exits(2).complains("auto, always, never");
}

/// A report of the sample data in `report/`.
fn sample() -> Sandbox {
    let sandbox = Sandbox::new();
    let (robots, logs) = ("sample-data/robots", "sample-data/logs");
    let report = sandbox.path("report");
    let mut command =
        sandbox.command(&format!("audit --robots {robots} {logs} -o {}", report.display()));
    assert!(command.current_dir(repository()).output().unwrap().status.success());
    sandbox
}

/// The summary of the report of the sample data.
fn summary(sandbox: &Sandbox, flags: &str) -> String {
    sandbox.run(&format!("report report --format text {flags}")).exits(0).stdout
}

#[test]
fn a_summary_fits_the_terminal() {
    let sandbox = sample();
    for (columns, expected) in [("60", 60), ("80", 80), ("200", 200), ("", 100)] {
        for flags in ["", "--by origin", "--by rule", "--only GPTBot --only Googlebot"] {
            let mut command = sandbox.command(&format!("report report --format text {flags}"));
            command.env("COLUMNS", columns);
            let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= expected, "{columns} {flags}: {widest}\n{text}");
            assert!(text.contains("\nviolations  "), "{text}");
            let has_operator = text.contains("  operator  ");
            assert!(!has_operator || columns != "60", "{text}");
            assert!(has_operator || columns != "200" || flags.contains("--by"), "{text}");
        }
    }
}

#[test]
fn a_summary_shows_what_is_asked_for_and_says_what_it_leaves_out() {
    let sandbox = sample();
    let head = summary(&sandbox, "").split("\n\n").next().unwrap().to_owned();
    let check = |flags: &str, expected: &[&str], not: &[&str]| {
        let text = summary(&sandbox, flags);
        assert!(text.starts_with(&head), "what is counted stays the same:\n{text}");
        let table = &text[head.len()..];
        expected.iter().for_each(|part| assert!(table.contains(part), "{flags}: {part}{table}"));
        not.iter().for_each(|part| assert!(!table.contains(part), "{flags}: {part}{table}"));
    };
    check("", &["Bytespider (unverified)", "3 origins", "GPTBot"], &["more crawlers", "left out"]);
    check("", &["198 requests of tools, without violations: UptimeRobot 90, Feedly 40"], &[]);
    check("--top 3", &["\n7 more crawlers; --top 10 shows all\n", "bingbot"], &["MJ12bot"]);
    check("--only gptbot", &["GPTBot", "\n9 crawlers left out by --only"], &["Bytespider"]);
    check(
        "--exclude GPTBot",
        &["Bytespider", "\n1 crawler left out"],
        &["GPTBot", "more crawlers"],
    );
    check("--only Applebot", &["        0  "], &["no requests"]);
    check("--only archive.org_bot", &["no requests of archive.org_bot, unless"], &["GPTBot"]);
    check("--by rule --only Applebot", &["no violations of Applebot, unless"], &["GPTBot"]);
    check("--by origin", &["Bytespider 45, GPTBot 34, MJ12bot 12 and 5 more"], &["operator"]);
    check("--by rule --top 1", &["disallow: /  https://www", "; --top 23 shows all"], &["stated"]);
    check("--by rule --only CCBot", &["disallow: /", "  CCBot 6"], &["GPTBot"]);
    let unknown = "unknown crawler 'GTPBot' (did you mean GPTBot?)";
    sandbox.run("report report --only GTPBot").exits(2).complains(unknown);
    sandbox.run("merge report -o a.tally --exclude GTPBot").exits(2).complains(unknown);
    sandbox.run("report report --top 0").exits(2).complains("--top");
    let audit = sandbox.run("audit --robots gone --only GTPBot access.log").exits(2);
    audit.complains(unknown);
}

#[test]
fn merge_prints_a_summary() {
    let sandbox = sample();
    let text = summary(&sandbox, "--top 2");
    assert_eq!(sandbox.run("merge report -o a.tally --top 2").exits(0).stdout, text);
    assert_eq!(sandbox.run("merge report -o a.tally -q").exits(0).stdout, "");
    let to_stdout = sandbox.command("merge report -o - --top 2").output().unwrap();
    let stderr = String::from_utf8(to_stdout.stderr).unwrap();
    assert!(stderr.ends_with(&text), "{stderr}");
}

#[test]
fn the_headline_is_red_or_green_only_where_that_is_asked_for() {
    let sandbox = sandbox();
    let audit = "audit --robots robots access.log";
    let red = sandbox.run(&format!("{audit} --color always")).exits(0).stdout;
    assert!(red.contains("\x1b[1;31m3 violations (100.0 % of those judged)\x1b[0m"), "{red}");
    sandbox.write("access.log", format!("a.example:443 {}", line(1, "/open", 200, GPTBOT)));
    let green = sandbox.run(&format!("{audit} --color always")).exits(0).stdout;
    assert!(green.contains("\x1b[32m0 violations (0.0 % of those judged)\x1b[0m"), "{green}");
    for flags in ["", "--color auto", "--color never"] {
        let plain = sandbox.run(&format!("{audit} {flags}")).exits(0).stdout;
        assert!(!plain.contains('\x1b'), "{plain:?}");
    }
    for name in sandbox.names("botaudit-report").iter().filter(|name| name.contains('.')) {
        let bytes = std::fs::read(sandbox.path(&format!("botaudit-report/{name}"))).unwrap();
        assert!(name.ends_with(".tally") || !bytes.contains(&0x1b), "{name}");
    }
}

/// In a terminal, which `script` simulates; skipped if it is not installed.
#[test]
fn a_terminal_gets_colors_unless_the_environment_says_no() {
    let sandbox = sandbox();
    let is_colored = |variable: Option<(&str, &str)>| -> Option<bool> {
        let program = env!("CARGO_BIN_EXE_botaudit");
        let mut script = std::process::Command::new("script");
        let audit = format!("{program} audit --robots robots access.log");
        script.args(["-qec", &audit, "/dev/null"]).current_dir(sandbox.path("."));
        script.env("TERM", "xterm").env_remove("NO_COLOR").envs(variable);
        let output = script.stdin(std::process::Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("3 violations"), "{text}");
        Some(text.contains("\x1b[1;31m3 violations"))
    };
    let Some(by_default) = is_colored(None) else {
        eprintln!("skipped: no script here");
        return;
    };
    assert!(by_default);
    assert_eq!(is_colored(Some(("NO_COLOR", "1"))), Some(false));
    assert_eq!(is_colored(Some(("NO_COLOR", ""))), Some(true));
    assert_eq!(is_colored(Some(("TERM", "dumb"))), Some(false));
}

/// In terminals of three widths, which `script` simulates; skipped if it is not installed.
#[test]
fn the_progress_bar_fits_the_terminal() {
    let sandbox = sandbox();
    let of_b = format!("b.example:443 {}", line(1, "/open", 200, GPTBOT));
    sandbox.write("access.log", of_b.repeat(200_000));
    for columns in [60, 80, 200] {
        let program = env!("CARGO_BIN_EXE_botaudit");
        let audit =
            format!("stty rows 24 cols {columns}; {program} audit --robots robots access.log");
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &audit, "/dev/null"]).current_dir(sandbox.path("."));
        script.env("TERM", "xterm").env_remove("COLUMNS").stdin(std::process::Stdio::null());
        let Ok(output) = script.output() else {
            eprintln!("skipped: no script here");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let bars = text.split(['\r', '\n']).filter(|line| line.contains('░'));
        let bars: Vec<String> = bars.map(|bar| bar.replace("\x1b[2K", "")).collect();
        assert!(bars.iter().any(|bar| bar.contains(" left  ")), "{text:?}");
        for bar in bars {
            assert!(bar.trim_end().chars().count() <= columns, "{columns}: {bar:?}");
        }
    }
}

/// Messages of several runs at a time do not mix, as in the mail of a scheduled job.
#[cfg(unix)]
#[test]
fn a_message_is_written_in_one_step() {
    use std::os::{fd::OwnedFd, unix::net::UnixDatagram};

    let sandbox = Sandbox::new();
    let (reader, writer) = UnixDatagram::pair().unwrap();
    let mut command = sandbox.command("audit --robots gone access.log");
    command.stderr(OwnedFd::from(writer)).status().unwrap();
    let mut written = [0; 1000];
    let length = reader.recv(&mut written).unwrap();
    assert!(written[..length].starts_with(b"error: ") && written[..length].ends_with(b"\n"));
}
