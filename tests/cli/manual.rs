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
        "By which rules:",
        "Whose log it is:",
        "What comes out:",
        "What may leave in a report:",
        "How logs are read:",
        "Who was really asking:",
        "How the work is done:",
    ];
    for heading in headings {
        assert!(help.contains(&format!("\n{heading}\n")), "{heading}\n{help}");
    }
    let checking = help.split("Who was really asking:").nth(1).unwrap();
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
