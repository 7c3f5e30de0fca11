//! First steps, completions and manual pages.

use super::program::Sandbox;

#[test]
fn without_a_command_it_shows_what_to_type() {
    let ran = Sandbox::new().run("").exits(2);
    ran.complains("Examples:").complains("botaudit audit --robots robots.txt --origin");
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
    assert!(page.contains(".TH BOTAUDIT 1 "), "{page}");
    sandbox.run("man pages/man1").exits(0);
    let names = sandbox.names("pages/man1");
    for name in ["botaudit.1", "botaudit-audit.1", "botaudit-report.1", "botaudit-robots-fetch.1"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    for name in &names {
        let page = sandbox.text(&format!("pages/man1/{name}"));
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "\"GENERAL OPTIONS\"", "EXAMPLES"] {
            assert!(page.contains(&format!("\n.SH {section}\n")), "{name}: {section}\n{page}");
        }
        assert!(page.contains("\n.SH \"EXIT STATUS\"\n"), "{name}\n{page}");
        // Each option has a text.
        assert!(
            !page.contains("fR\n.sp\n.TP\n") && !page.contains("fR\n.sp\n.SH"),
            "{name}\n{page}"
        );
        assert!(!page.contains("\n\n"), "{name}\n{page}");
    }
    for name in ["", "-audit", "-nightly", "-init", "-report", "-crawlers-fetch-ranges"] {
        let page = sandbox.text(&format!("pages/man1/botaudit{name}.1"));
        assert!(page.contains("\n.SH FILES\n"), "{name}\n{page}");
    }
}

/// mandoc checks the manual pages, if it is installed.
#[test]
fn manual_pages_have_no_mistakes() {
    let sandbox = Sandbox::new();
    sandbox.run("man .").exits(0);
    for name in sandbox.names(".") {
        let mut mandoc = std::process::Command::new("mandoc");
        mandoc.args(["-Tlint", "-Wwarning"]).arg(sandbox.path(&name));
        match mandoc.output() {
            Ok(ran) => assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}"),
            Err(_) => eprintln!("skipped: no mandoc here"),
        }
    }
}

/// No colors are written to a pipe, with `NO_COLOR` or without; not even in an error.
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

/// The shell's error for completions that it cannot read; skipped if it is not installed.
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

/// In a terminal, which `script` simulates; skipped if it is not installed.
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

/// The completions of bash for the last of `words`; `None` if bash is not installed.
fn offered(script: &std::path::Path, words: &[&str]) -> Option<Vec<String>> {
    let program = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                   _botaudit botaudit \"${COMP_WORDS[COMP_CWORD]}\" \
                   \"${COMP_WORDS[COMP_CWORD - 1]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = std::process::Command::new("bash");
    let output = bash.args(["-c", program, "bash"]).arg(script).args(words).output().ok()?;
    assert!(output.stderr.is_empty(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn completions_offer_names() {
    let sandbox = Sandbox::new();
    for shell in ["zsh", "fish"] {
        let text = sandbox.run(&format!("completions {shell}")).exits(0).stdout;
        for name in ["GPTBot", "robots-fetches", "vhost_combined", "Google Favicon"] {
            let name = if shell == "zsh" { name.replace(' ', "\\ ") } else { name.to_owned() };
            assert!(text.contains(&name), "{shell}: {name}");
        }
    }
    sandbox.write("bash", sandbox.run("completions bash").exits(0).stdout);
    for (words, expected) in [
        ("botaudit audit --only GPT", "GPTBot"),
        ("botaudit report --exclude GPT", "GPTBot"),
        ("botaudit merge --exclude GPT", "GPTBot"),
        ("botaudit check --crawler GPT", "GPTBot"),
        ("botaudit classify --crawler GPT", "GPTBot"),
        ("botaudit crawlers show GPT", "GPTBot"),
        ("botaudit report --table violations", "violations"),
        ("botaudit audit --log-format vhost_c", "vhost_combined"),
        ("botaudit formats detect --log-format vhost_c", "vhost_combined"),
        ("botaudit lint --explain missing-c", "missing-colon"),
        ("botaudit classify --only disa", "disallowed"),
        ("botaudit audit --by ori", "origin"),
        ("botaudit audit --color al", "always"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let Some(offered) = offered(&sandbox.path("bash"), &words) else {
            eprintln!("skipped: no bash here");
            return;
        };
        assert_eq!(offered, [expected], "{words:?}");
    }
}

/// A file of crawlers may have more names than completions know.
#[test]
fn names_that_completions_do_not_know_are_taken() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /\n");
    sandbox.write("crawlers.csv", "name,user_agent_regex\nOurbot,ourbot\n");
    let check = "check --crawlers crawlers.csv --crawler Ourbot --robots robots.txt";
    sandbox.run(&format!("{check} https://a.example/")).exits(1);
}
