//! How to start, completions and manual pages.

use crate::program::Sandbox;

#[test]
fn without_a_command_it_shows_what_to_type() {
    let ran = Sandbox::new().run("").exits(2);
    ran.complains("Start here:").complains("botaudit audit --robots robots.txt --origin");
}

#[test]
fn the_help_of_audit_is_grouped() {
    let help = Sandbox::new().run("audit -h").exits(0).stdout;
    let headings = [
        "Rules:",
        "Origins:",
        "Output:",
        "Privacy:",
        "Reading logs:",
        "Crawler verification:",
        "Detecting outages from logs:",
        "Testing a draft:",
        "Configuration file:",
        "Performance:",
    ];
    for heading in headings {
        assert!(help.contains(&format!("\n{heading}\n")), "{heading}\n{help}");
    }
    let checking = help.split("Crawler verification:").nth(1).unwrap();
    assert!(!checking.split("\n\n").next().unwrap().contains("--quiet"), "{help}");
    assert!(!help.contains('\x1b'));
}

#[test]
fn completions_name_commands_and_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = Sandbox::new().run(&format!("completions {shell}")).exits(0).stdout;
        for word in ["audit", "robots", "lint", "strip-query"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    Sandbox::new().run("completions dash").exits(2).complains("bash");
}

#[test]
fn a_manual_page_for_each_command() {
    let sandbox = Sandbox::new();
    let page = sandbox.run("man").exits(0).stdout;
    assert!(page.contains(".TH botaudit 1"), "{page}");
    sandbox.run("man pages/man1").exits(0);
    let names = sandbox.names("pages/man1");
    for name in ["botaudit.1", "botaudit-audit.1", "botaudit-report.1", "botaudit-robots-fetch.1"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    let audit = sandbox.text("pages/man1/botaudit-audit.1");
    assert!(audit.contains("Exit codes:") && audit.contains("strip"), "{audit}");
}

/// The commands that `help` lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let listed = listed.lines().take_while(|line| line.starts_with("  "));
    let names = listed
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Groups the options where there are many.
#[test]
fn the_help_of_each_command_has_an_example() {
    let sandbox = Sandbox::new();
    let mut unseen = commands(&sandbox.run("--help").exits(0).stdout);
    let mut seen = 0;
    while let Some(command) = unseen.pop() {
        let help = sandbox.run(&format!("{command} --help")).exits(0).stdout;
        assert!(
            help.contains("\n  botaudit ") || help.contains("\n    botaudit "),
            "{command}\n{help}"
        );
        assert!(help.contains("\nExample"), "{command}\n{help}");
        let options = help.lines().filter(|line| line.trim_start().starts_with("--")).count();
        let is_grouped = help.lines().any(|line| {
            line.ends_with(':') && line.contains(' ') && line.starts_with(char::is_uppercase)
        });
        assert!(options < 12 || is_grouped, "{command}: {options} options\n{help}");
        unseen.extend(commands(&help).iter().map(|below| format!("{command} {below}")));
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

/// Nothing coloured leaves for a pipe, with `NO_COLOR` or without; not even for a mistake.
#[test]
fn nothing_is_coloured_where_no_terminal_is() {
    let sandbox = Sandbox::new();
    for arguments in ["", "--help", "audit", "audit --nonsense", "check --help"] {
        for variables in [&[][..], &[("NO_COLOR", "1")], &[("TERM", "xterm-256color")]] {
            let mut command = sandbox.command(arguments);
            let output = command.envs(variables.iter().copied()).output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            assert!(!said.is_empty() && !said.contains(&0x1b), "{arguments} {variables:?}");
        }
    }
}

/// What a shell says of completions that it cannot read; skipped where it is not installed.
#[test]
fn shells_can_read_their_completions() {
    let sandbox = Sandbox::new();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let text = sandbox.run(&format!("completions {shell}")).exits(0).stdout;
        sandbox.write(shell, text);
        match std::process::Command::new(shell).arg(check).arg(sandbox.path(shell)).output() {
            Ok(ran) => assert!(ran.status.success(), "{shell}: {ran:?}"),
            Err(_) => eprintln!("skipped: no {shell} here"),
        }
    }
}

/// In a terminal, which `script` pretends to be; skipped where it is not installed.
#[test]
fn no_color_takes_colours_out_of_a_terminal() {
    let sandbox = Sandbox::new();
    let coloured = |arguments: &str, no_color: Option<&str>| -> Option<bool> {
        let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_botaudit"));
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).current_dir(sandbox.path("."));
        script.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("CLICOLOR");
        no_color.map(|value| script.env("NO_COLOR", value));
        let output = script.stdin(std::process::Stdio::null()).output().ok()?;
        assert!(output.stdout.windows(6).any(|at| at == b"Usage:"), "{output:?}");
        Some(output.stdout.windows(2).any(|at| at == b"\x1b["))
    };
    for arguments in ["--help", "audit --nonsense"] {
        let Some(is_coloured) = coloured(arguments, None) else {
            eprintln!("skipped: no script here");
            return;
        };
        assert!(is_coloured, "{arguments}");
        assert_eq!(coloured(arguments, Some("1")), Some(false), "{arguments}");
    }
}
