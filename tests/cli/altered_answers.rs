//! Requests for robots.txt that were answered with something else.

use super::program::Sandbox;

/// About 30 kB, and about 4 kB after compression.
fn robots_txt() -> String {
    let rules = (0..1500).map(|number| format!("Disallow: /private/{number}\n"));
    format!("User-agent: *\nDisallow: /private\n{}", rules.collect::<String>())
}

/// Requests for robots.txt with these answers, a minute apart; one request for a disallowed page follows each.
fn log(answers: &[(&str, u16, usize)]) -> String {
    let lines = answers.iter().enumerate().map(|(minute, (crawler, status, bytes))| {
        format!(
            "198.18.0.1 - - [03/Mar/2026:10:{minute:02}:00 +0000] \"GET /robots.txt HTTP/1.1\" {status} {bytes} \"-\" \"{crawler}\"\n\
             198.18.0.1 - - [03/Mar/2026:10:{minute:02}:30 +0000] \"GET /private HTTP/1.1\" 200 5 \"-\" \"{crawler}\"\n"
        )
    });
    lines.collect()
}

const CELLS: &str = "crawler successful_fetches fetch_altered prior_fetch_own prior_fetch_none \
                     prior_fetch_failed";

#[track_caller]
fn check(sandbox: &Sandbox, robots: &str, answers: &[(&str, u16, usize)], expected: &[&str]) {
    sandbox.write("access.log", log(answers));
    let flags = format!("--origin https://a.example --robots {robots}");
    sandbox.run(&format!("audit -q {flags} -o report access.log")).exits(0);
    assert_eq!(sandbox.table("report/robots-fetches.csv").cells(CELLS), expected, "{answers:?}");
    // In two parts and any order, the same.
    let lines = log(answers);
    let cut = lines.match_indices('\n').nth(2).map_or(0, |(at, _)| at + 1);
    sandbox.write("first.log", &lines[..cut]);
    sandbox.write("second.log", &lines[cut..]);
    for part in ["first", "second"] {
        sandbox.run(&format!("audit -q {flags} --partial {part}.tally {part}.log")).exits(0);
    }
    sandbox.run("report second.tally first.tally -o merged").exits(0);
    assert_eq!(sandbox.table("merged/robots-fetches.csv").cells(CELLS), expected, "{answers:?}");
}

#[test]
fn a_challenge_in_place_of_robots_txt_is_no_fetch() {
    let sandbox = Sandbox::new();
    let text = robots_txt();
    sandbox.write("robots.txt", &text);
    let plain = text.len();
    let check = |answers: &[(&str, u16, usize)], expected: &[&str]| {
        check(&sandbox, "robots.txt", answers, expected);
    };
    // Plain, with headers, compressed; and what is none of these.
    let sizes = [(plain, 1), (plain + 4000, 1), (5000, 1), (plain + 5000, 0), (900, 0)];
    for (bytes, read) in sizes {
        let of_others = [("GPTBot/1.2", 200, plain), ("GPTBot/1.2", 200, plain)];
        let answers = [of_others[0], of_others[1], ("ClaudeBot/1.0", 200, bytes)];
        let altered = 1 - read;
        let row = format!("ClaudeBot | {read} | {altered} | {read} | {altered} | {altered}");
        check(&answers, &[&row, "GPTBot | 2 | 0 | 2 | 0 | 0"]);
    }
    // The file is not the one of most answers, so it says nothing about them.
    let other = [("GPTBot/1.2", 200, 900), ("GPTBot/1.2", 200, 900), ("ClaudeBot/1.0", 200, plain)];
    check(&other, &["ClaudeBot | 1 | 0 | 1 | 0 | 0", "GPTBot | 2 | 0 | 2 | 0 | 0"]);
    // Then the most usual size is that of the file, and what is far from it is not.
    let far = [
        ("GPTBot/1.2", 200, 900),
        ("GPTBot/1.2", 200, 950),
        ("ClaudeBot/1.0", 200, 3000),
        ("ClaudeBot/1.0", 200, 50),
    ];
    check(&far, &["ClaudeBot | 1 | 1 | 2 | 0 | 0", "GPTBot | 2 | 0 | 2 | 0 | 0"]);
    // A log without sizes.
    check(&[("GPTBot/1.2", 200, 0)], &["GPTBot | 1 | 0 | 1 | 0 | 0"]);
}

#[test]
fn status_202_and_redirects_that_others_do_not_get_are_no_robots_txt() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let check = |answers: &[(&str, u16, usize)], expected: &[&str]| {
        check(&sandbox, "robots.txt", answers, expected);
    };
    check(&[("GPTBot/1.2", 202, 34)], &["GPTBot | 0 | 1 | 0 | 1 | 1"]);
    let redirect = ("ClaudeBot/1.0", 302, 0);
    let read = ("GPTBot/1.2", 200, 34);
    check(
        &[redirect, read, read],
        &["ClaudeBot | 0 | 1 | 0 | 1 | 1", "GPTBot | 2 | 0 | 2 | 0 | 0"],
    );
    // Everybody is sent elsewhere, for instance to another host.
    check(
        &[redirect, redirect, read],
        &["ClaudeBot | 0 | 0 | 0 | 2 | 2", "GPTBot | 1 | 0 | 1 | 0 | 0"],
    );
    check(&[("GPTBot/1.2", 301, 0), read], &["GPTBot | 1 | 0 | 1 | 1 | 1"]);
}

#[test]
fn between_two_copies_of_an_archive_the_sizes_of_its_copies_decide() {
    let sandbox = Sandbox::new();
    let text = robots_txt();
    sandbox.write("robots.txt", &text);
    for day in ["2026-03-02", "2026-03-04"] {
        let import =
            format!("robots import -a archive.db --origin https://a.example --at {day} robots.txt");
        sandbox.run(&import).exits(0);
    }
    // All of them, so no usual size excuses them.
    let answers = [("GPTBot/1.2", 200, 900), ("GPTBot/1.2", 200, 900)];
    check(&sandbox, "archive.db", &answers, &["GPTBot | 0 | 2 | 0 | 2 | 2"]);
    let audit = "audit --robots archive.db --origin https://a.example -o report";
    let output = sandbox.run(&format!("{audit} access.log")).exits(0).stdout;
    let summary = output.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "2 requests for robots.txt got another answer, such as a challenge, which does not count as reading it: GPTBot 2";
    assert!(summary.contains(note), "{summary}");
    let page = sandbox.text("report/report.html");
    assert!(page.contains("GPTBot got something other than robots.txt 2 times"), "{page}");
    assert_eq!(sandbox.table("report/summary.csv").cells("crawler conduct"), ["GPTBot | not-read"]);
    // After the last copy and before the first one, the file may have been another one.
    for day in ["05", "01"] {
        sandbox.write("later.log", log(&answers).replace("[03/", &format!("[{day}/")));
        sandbox.run(&format!("{audit} -q later.log")).exits(0);
        let rows =
            sandbox.table("report/robots-fetches.csv").cells("successful_fetches fetch_altered");
        assert_eq!(rows, ["2 | 0"], "{day}");
    }
}
