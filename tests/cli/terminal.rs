//! What a run says besides its result: notes, colors, lines that fit the terminal.

use crate::nightly::GPTBOT;
use crate::program::{Sandbox, line};

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
    let ran = sandbox.run("report --verbose").exits(0);
    ran.complains("note: access.log: format").complains("note: tallies read: 0.");
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
