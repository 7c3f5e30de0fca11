//! No output is an input, and no foreign file is overwritten.

use super::program::{Ran, Sandbox, gzip, line, run_in};

const ROBOTS: &str = "User-agent: *\nDisallow: /private\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", ROBOTS);
    sandbox.write("robots/a.example", ROBOTS);
    sandbox.write("access.log", line(1, "/private", 200, "bingbot/2.0"));
    sandbox.write("access.log.1", line(0, "/private", 200, "bingbot/2.0"));
    sandbox.write("urls.txt", "https://a.example/private\n");
    sandbox.write("draft.txt", "User-agent: *\nDisallow: /\n");
    sandbox.write("crawlers.csv", "name,product_token,user_agent_regex\nOurbot,ourbot,ourbot\n");
    sandbox.write("ranges/gptbot.json", "{\"prefixes\": []}");
    sandbox
}

/// Names and contents of all files in the sandbox.
fn contents(sandbox: &Sandbox) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut directories = vec![sandbox.path(".")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => directories.push(path),
                false => {
                    found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
                }
            }
        }
    }
    found.sort();
    found
}

/// Runs a command that must be refused before anything is written.
#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &str, why: &str) -> Ran {
    let before = contents(sandbox);
    let ran = sandbox.run(arguments).exits(2).complains(why);
    assert!(contents(sandbox) == before, "{arguments} wrote something");
    ran
}

#[test]
fn an_output_of_audit_is_no_input_even_with_force() {
    let sandbox = sandbox();
    let audit = "audit --origin https://a.example --force";
    sandbox.write("networks.csv", "prefix,network\n192.0.2.0/24,a\n");
    let inputs = "--ip-ranges ranges --crawlers crawlers.csv --what-if draft.txt \
                  --session-minutes 5 --networks networks.csv";
    for (output, role) in [
        ("--evidence access.log", "(a log)"),
        ("--evidence ./robots/../access.log", "(a log)"),
        ("--evidence robots.txt", "(--robots)"),
        ("--evidence draft.txt", "(--what-if)"),
        ("--evidence crawlers.csv", "(--crawlers)"),
        ("--evidence networks.csv", "(--networks)"),
        ("--evidence ranges/gptbot.json", "(--ip-ranges)"),
        ("--verify-dns --dns-cache access.log", "(a log)"),
        ("-o robots.txt", "(--robots)"),
        ("-o access.log", "(a log)"),
        ("-o ranges", "(--ip-ranges)"),
    ] {
        let command = format!("{audit} --robots robots.txt {inputs} {output} access.log*");
        refused(&sandbox, &command, &format!("is an input {role} and cannot be overwritten"));
    }
    let directory = format!("{audit} --robots robots access.log");
    refused(&sandbox, &format!("{directory} --evidence robots/a.example"), "(--robots)");
    refused(&sandbox, &format!("{directory} -o robots"), "(--robots)");
    refused(&sandbox, "audit --fetch --robots access.log access.log", "(a log)");
    let both = format!("{audit} --robots robots.txt --evidence out --verify-dns --dns-cache out a");
    refused(&sandbox, &both, "cannot be both --dns-cache and --evidence");
}

#[cfg(unix)]
#[test]
fn links_lead_to_inputs_too() {
    let sandbox = sandbox();
    std::fs::hard_link(sandbox.path("access.log"), sandbox.path("hard")).unwrap();
    std::os::unix::fs::symlink("access.log", sandbox.path("soft")).unwrap();
    for output in ["hard", "soft"] {
        let command = format!("audit --robots robots.txt --force --evidence {output} access.log");
        refused(&sandbox, &command, "is an input (a log)");
        let command = format!("classify --robots robots.txt --token a -o {output} access.log");
        refused(&sandbox, &command, "is an input (a list)");
    }
}

/// The shell makes the first file of `--evidence access.log*` the value of the flag.
#[test]
fn a_log_in_the_place_of_the_evidence_stays_as_it_is() {
    let sandbox = sandbox();
    let audit = "audit -q --robots robots.txt";
    let command = format!("{audit} --evidence access.log access.log.1");
    refused(&sandbox, &command, "access.log: already exists and was not written by botaudit");
    sandbox.run(&format!("{command} --force")).exits(0);
    assert!(sandbox.text("access.log").starts_with("\"file\",\"line\",\"time_utc\","));
}

#[test]
fn evidence_of_an_earlier_run_is_replaced() {
    let sandbox = sandbox();
    sandbox.write("empty", "");
    sandbox.write_gz("empty.gz", "");
    for name in ["evidence.csv", "evidence.csv.gz", "evidence.csv.zst", "empty", "empty.gz"] {
        for _ in 0..2 {
            let audit = "audit -q --robots robots.txt -o report";
            sandbox.run(&format!("{audit} --evidence {name} access.log")).exits(0);
        }
    }
    sandbox.write("other.csv.gz", gzip(b"file,line\na,1\n"));
    let command = "audit --robots robots.txt --evidence other.csv.gz access.log";
    refused(&sandbox, command, "was not written by botaudit");
}

#[test]
fn classify_overwrites_no_list_and_its_own_verdicts() {
    let sandbox = sandbox();
    let classify = "classify -q --robots robots --crawler GPTBot --crawler CCBot";
    refused(&sandbox, &format!("{classify} urls.txt -o urls.txt --force"), "(a list)");
    refused(&sandbox, &format!("{classify} urls.txt -o robots/a.example"), "(--robots)");
    sandbox.write("pages.csv", "n,url\n1,https://a.example/\n");
    sandbox.write("other.csv", "url,title\nhttps://a.example/,allowed\n");
    for arguments in [
        "",
        "--wide",
        "--summary",
        "--columns n,verdict",
        "--wide --columns CCBot",
        "--columns url,crawler,verdict --format jsonl",
        "--format jsonl",
        "--wide --format jsonl",
        "--format tsv",
    ] {
        let command = format!("{classify} {arguments} pages.csv");
        refused(&sandbox, &format!("{command} -o other.csv"), "was not written by botaudit");
        refused(&sandbox, &format!("{command} -o urls.txt"), "was not written by botaudit");
        for end in ["", ".gz", ".zst"] {
            let name = format!("v{}{end}", arguments.replace([' ', ','], ""));
            sandbox.run(&format!("{command} -o {name}")).exits(0);
            sandbox.run(&format!("{command} -o {name}")).exits(0);
        }
    }
    sandbox.run(&format!("{classify} pages.csv -o other.csv --force")).exits(0);
}

#[test]
fn a_report_is_put_in_the_place_of_a_report_alone() {
    let sandbox = sandbox();
    sandbox.run("audit -q --robots robots.txt -o report access.log").exits(0);
    sandbox.run("audit -q --robots robots.txt --partial a.tally access.log").exits(0);
    sandbox.write("index.html", "<!DOCTYPE html>\n<title>Mine</title>\n");
    refused(&sandbox, "report a.tally -o index.html", "index.html");
    refused(&sandbox, "merge a.tally -o index.html", "was not written by botaudit");
    refused(&sandbox, "merge a.tally report -o report/report.tally --force", "is an input");
    refused(&sandbox, "audit --robots robots.txt --partial access.log access.log", "is an input");
    sandbox.run("report a.tally -o report").exits(0);
    sandbox.run("report report -o other").exits(0);
    sandbox.run("merge report -o a.tally").exits(0);
    sandbox.run("merge report -o index.html --force").exits(0);
}

/// A shell in it would be left in a directory that is removed.
#[test]
fn the_current_directory_is_not_replaced() {
    let sandbox = sandbox();
    sandbox.run("audit -q --robots robots.txt -o report access.log").exits(0);
    let before = contents(&sandbox);
    for output in [".", "../report", "./"] {
        let arguments = ["audit", "--robots", "../robots.txt", "-o", output, "../access.log"];
        let ran = run_in(&sandbox.path("report"), &arguments, b"").exits(2);
        ran.complains("is the current directory and cannot be replaced");
    }
    assert!(contents(&sandbox) == before);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_not_replaced() {
    let sandbox = sandbox();
    std::os::unix::fs::symlink("gone", sandbox.path("report")).unwrap();
    let ran = sandbox.run("audit --robots robots.txt -o report access.log").exits(2);
    ran.complains("is a link to a directory that does not exist; create it");
    assert!(sandbox.path("report").is_symlink());
    std::fs::create_dir(sandbox.path("gone")).unwrap();
    sandbox.run("audit -q --robots robots.txt -o report access.log").exits(0);
    assert!(sandbox.path("gone/run.json").exists());
}

/// Such as one of another user.
#[test]
fn a_lock_file_that_cannot_be_used_is_named() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path(".report.botaudit-lock")).unwrap();
    let ran = sandbox.run("audit --robots robots.txt -o report access.log").exits(2);
    ran.complains(".report.botaudit-lock: ");
}

#[test]
fn an_archive_is_none_of_what_is_imported() {
    let sandbox = sandbox();
    sandbox.write("empty", "");
    let why = "is an input (an input of this run)";
    refused(&sandbox, "robots import -a empty --origin https://a.example --at modified empty", why);
    refused(&sandbox, "robots fetch -a empty --from-log empty", why);
}

#[test]
fn manual_pages_replace_manual_pages_alone() {
    let sandbox = sandbox();
    sandbox.run("man pages").exits(0);
    sandbox.run("man pages").exits(0);
    sandbox.write("pages/botaudit-robots-import.1", "mine");
    refused(&sandbox, "man pages", "botaudit-robots-import.1: already exists");
    sandbox.run("man pages --force").exits(0);
}

#[test]
fn a_night_overwrites_nothing_of_others() {
    let sandbox = sandbox();
    let config = "[sites.a]\nlogs = ['access.log']\nrobots = 'robots.txt'\n";
    sandbox.write("botaudit.toml", config);
    let night = "nightly -q --day 2026-03-01";
    sandbox.write("notes.txt", "mine");
    let why = "notes.txt: already exists and was not written by botaudit";
    refused(&sandbox, &format!("{night} --mail-summary notes.txt"), why);
    let log = format!("{night} --force --mail-summary access.log");
    refused(&sandbox, &log, "is an input (a log)");
    let config = format!("{night} --force --mail-summary botaudit.toml");
    refused(&sandbox, &config, "is an input (--config)");
    sandbox.run(&format!("{night} --mail-summary night.txt")).exits(0);
    sandbox.run(&format!("{night} --mail-summary night.txt")).exits(0);
    sandbox.write("reports/events.csv", "mine\n");
    refused(&sandbox, night, "reports/events.csv: already exists");
    sandbox.run(&format!("{night} --force --mail-summary notes.txt")).exits(0);
}
