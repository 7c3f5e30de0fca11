//! Damaged, garbage and hostile input.

use std::io::Write;

use super::program::{Sandbox, Table, gzip, line};

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox
}

fn lines(count: u32) -> String {
    (0..count).map(|second| line(second, &format!("/private/{second}"), 200, BINGBOT)).collect()
}

#[test]
fn what_is_missing_keeps_nothing_else_from_being_read() {
    let sandbox = sandbox();
    sandbox.write("access.log", lines(3));
    let ran =
        sandbox.run("audit --robots robots.txt -o report gone.log access.log never-*.log").exits(3);
    let ran = ran.complains("warning: cannot open gone.log: No such file or directory");
    ran.complains("warning: never-*.log: no file matches this pattern");
    assert_eq!(sandbox.table("report/summary.csv").sum("violations"), 3);
    let run = sandbox.json("report/run.json");
    assert_eq!(
        (run["complete"].as_bool(), run["inputs"].as_array().unwrap().len()),
        (Some(false), 3)
    );
    sandbox
        .run("audit --robots robots.txt -o nothing gone.log")
        .exits(2)
        .complains("cannot open gone.log");
    assert!(!sandbox.path("nothing").exists());
}

#[cfg(target_os = "linux")]
/// As one without read permission, which a test as root cannot have.
#[cfg(unix)]
#[test]
fn a_robots_txt_of_a_host_that_cannot_be_read_is_named_with_its_cause() {
    let sandbox = sandbox();
    sandbox.write("access.log", lines(3));
    for name in ["a.example", "a.example.txt", "a.example/robots.txt"] {
        sandbox.write("robots/b.example", "");
        let link = sandbox.path("robots").join(name);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("gone", &link).unwrap();
        let audit = "audit --robots robots --origin https://a.example access.log";
        let ran = sandbox.run(audit).exits(3);
        ran.complains(&format!("cannot read robots.txt robots/{name}: No such file"));
        std::fs::remove_dir_all(sandbox.path("robots")).unwrap();
    }
}

#[test]
fn a_log_that_cannot_be_read_is_named_with_the_cause_of_the_system() {
    let sandbox = sandbox();
    sandbox.write("access.log", lines(3));
    let why = "/proc/self/mem: cannot continue reading: Input/output error (os error 5) at byte 0";
    let audit = "audit --robots robots.txt -o report";
    sandbox.run(&format!("{audit} /proc/self/mem")).exits(2).complains(why);
    assert!(!sandbox.path("report").exists());
    sandbox.run(&format!("{audit} /proc/self/mem access.log")).exits(3).complains(why);
}

#[test]
fn what_came_before_damage_is_counted() {
    let sandbox = sandbox();
    let other = gzip(lines(2000).replace("192.0.2.7", "192.0.2.8").as_bytes());
    let cut = other.len() / 2;
    sandbox.write("cut.log.gz", &other[..cut]);
    sandbox.write_gz("whole.log.gz", lines(2000));
    let ran = sandbox.run("audit --robots robots.txt -o report cut.log.gz whole.log.gz").exits(3);
    ran.complains(&format!("cut.log.gz: truncated gzip stream at byte {cut}; "));
    let violations = sandbox.table("report/summary.csv").sum("violations");
    assert!((2001..4000).contains(&violations), "{violations}");
    let run = sandbox.json("report/run.json");
    let cut = &run["inputs"][0];
    assert_eq!(cut["skipped_by_reason"]["partial"], 1);
    assert_eq!(cut["lines"].as_u64().unwrap(), violations - 2000 + 1);
    assert_eq!(run["inputs"][1]["damage"], serde_json::Value::Null);
}

#[test]
fn any_compression_is_detected_from_its_first_bytes() {
    let sandbox = sandbox();
    let text = lines(2000);
    sandbox.write("good.log", lines(1));
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    bzip2.write_all(text.as_bytes()).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(text.as_bytes()).unwrap();
    let zstd = zstd::bulk::compress(text.as_bytes(), 3).unwrap();
    for (kind, bytes) in
        [("bzip2", bzip2.finish().unwrap()), ("xz", xz.finish().unwrap()), ("zstd", zstd)]
    {
        sandbox.write("access.log.1", &bytes);
        sandbox.run("audit --robots robots.txt -o report access.log.1").exits(0);
        assert_eq!(sandbox.table("report/summary.csv").sum("violations"), 2000, "{kind}");
        // The last bytes are a checksum or an end marker.
        sandbox.write("access.log.1", &bytes[..bytes.len() - 2]);
        let ran = sandbox.run("audit --robots robots.txt -o report access.log.1 good.log");
        ran.exits(3).complains(&format!("access.log.1: truncated {kind} stream at byte "));
    }
    sandbox.write("access.log.xz", lines(3));
    let ran = sandbox.run("audit --robots robots.txt -o report access.log.xz good.log").exits(3);
    ran.complains("access.log.xz: named .xz but is not xz at byte 0");
}

/// A block of blocked gzip; the size in its header is not read.
fn block(text: &str) -> Vec<u8> {
    let extra = b"BC\x02\0\0\0".to_vec();
    let mut block = flate2::GzBuilder::new().extra(extra).write(Vec::new(), Default::default());
    block.write_all(text.as_bytes()).unwrap();
    block.finish().unwrap()
}

#[test]
fn blocked_gzip_without_its_last_block_gives_a_warning() {
    let sandbox = sandbox();
    let (first, second) = (block(&lines(3)), block(&lines(2)));
    let text = gzip(lines(3).as_bytes());
    for (content, is_cut) in [
        ([&first[..], &second].concat(), true),
        ([&first[..], &block(""), &second].concat(), true),
        ([&text[..], &second].concat(), true),
        ([&first[..], &second, &block("")].concat(), false),
        ([&first[..], &second, &gzip(b"")].concat(), false),
        ([&text[..], &text].concat(), false),
        (text.clone(), false),
    ] {
        sandbox.write("access.log.gz", &content);
        let ran = sandbox.run("audit --robots robots.txt -o report access.log.gz").exits(0);
        let what = "access.log.gz: may be cut off: the empty block that ends a file";
        assert_eq!(ran.stderr.contains(what), is_cut, "{}", ran.stderr);
        let run = sandbox.json("report/run.json");
        assert_eq!(run["complete"], true);
        assert_eq!(run["warnings"].to_string().contains("may be cut off"), is_cut);
        sandbox.run("report report/report.tally -o again").exits(0);
        assert_eq!(sandbox.json("again/run.json")["warnings"], run["warnings"]);
    }
}

#[test]
fn what_claims_to_be_gzip_and_is_not_is_damage() {
    let sandbox = sandbox();
    sandbox.write("access.log.gz", lines(3));
    sandbox.write("other.log", lines(1));
    let ran = sandbox.run("audit --robots robots.txt -o report access.log.gz other.log").exits(3);
    ran.complains("access.log.gz: named .gz but is not gzip at byte 0");
    assert_eq!(sandbox.table("report/summary.csv").sum("requests"), 1);
}

#[test]
fn damage_wins_over_violations() {
    let sandbox = sandbox();
    sandbox.write("access.log", lines(1));
    sandbox
        .run("audit --robots robots.txt -o report --fail-on-violations access.log gone.log")
        .exits(3);
}

#[test]
fn garbage_is_counted_with_a_sample_and_never_lost() {
    let sandbox = sandbox();
    let mut log = lines(5).into_bytes();
    log.extend(b"\x16\x03\x01\x02\x00\n\n# a comment\n\x00\x00\x00\nno log line at all\n");
    log.extend(br#"192.0.2.7 - - [01/Mar/2026:00:00:01 +0000] "\x16\x03\x01" 400 0 "-" "-""#);
    log.extend(b"\n\xff\xfe\xfd\r\n");
    log.extend(vec![b'x'; 3 << 20]);
    log.push(b'\n');
    log.extend(line(9, "/private/caf\u{e9}", 200, BINGBOT).into_bytes());
    sandbox.write("access.log", log);
    sandbox.run("audit --robots robots.txt -o report --min-parse-rate 50 access.log").exits(3);
    let run = sandbox.json("report/run.json");
    let input = &run["inputs"][0];
    let count = |name: &str| input[name].as_u64().unwrap();
    assert_eq!(
        count("lines"),
        count("crawler") + count("other") + count("rejected") + count("skipped")
    );
    assert_eq!((count("crawler"), count("other"), count("skipped")), (6, 1, 1));
    let rejects = sandbox.table("report/rejects.csv").cells("reason lines example_line");
    assert_eq!(rejects, ["too-long | 1 | 13", "no-time | 5 | 6"]);
}

#[test]
fn empty_input_gives_an_empty_report() {
    let sandbox = sandbox();
    sandbox.write("empty.log", "");
    sandbox.write_gz("empty.log.gz", "");
    sandbox.write("nothing.gz", "");
    let ran = sandbox
        .run("audit --robots robots.txt -o report empty.log empty.log.gz nothing.gz")
        .exits(3);
    assert!(ran.stdout.starts_with("0 lines, "), "{}", ran.stdout);
    assert!(sandbox.table("report/summary.csv").rows.is_empty());
}

#[test]
fn strangers_cannot_write_formulas_or_control_characters() {
    let sandbox = sandbox();
    let user_agent = r"=cmd|'/c calc'!A1 EvilCrawler/1.0 \x1b[2J\xff";
    sandbox.write(
        "access.log",
        line(1, "/private", 200, user_agent) + &line(2, r"/private\x1b[31m", 200, BINGBOT),
    );
    let ran = sandbox.run("audit --robots robots.txt -o report access.log").exits(0);
    let unknown = sandbox.table("report/unknown-crawlers.csv").cells("user_agent");
    assert_eq!(unknown, [r"'=cmd|'/c calc'!A1 EvilCrawler/1.0 \x1B[2J\xFF"]);
    assert_eq!(
        sandbox.table("report/violations.csv").cells("example_target"),
        [r"/private\x1B[31m"]
    );
    assert!(!ran.stdout.contains('\x1b'));
}

#[test]
fn a_flood_of_hosts_is_summed_up() {
    let sandbox = sandbox();
    let log: String = (0..10_500)
        .map(|host| format!("h{host}.example:443 {}", line(1, "/private", 200, BINGBOT)))
        .collect();
    sandbox.write("flood.log", log + "our.example:443 " + &line(2, "/private", 200, BINGBOT));
    let ran = sandbox
        .run("audit --robots robots.txt --origin https://our.example -o report flood.log")
        .exits(0);
    ran.complains("most are counted together as (others)");
    let summary = sandbox.table("report/summary.csv");
    assert_eq!((summary.rows.len(), summary.sum("violations")), (10_002, 10_501));
    let cells = summary.cells("origin requests");
    assert!(cells.contains(&"(others) | 500".to_owned()));
    assert!(cells.contains(&"https://our.example | 1".to_owned()));
}

#[test]
fn a_log_without_hosts_and_a_directory_of_robots_txt_need_an_origin() {
    let sandbox = sandbox();
    sandbox.write("robots/example.com", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", lines(2));
    let ran = sandbox.run("audit --robots robots -o report access.log").exits(3);
    ran.complains("requests without a host: 2;").complains("--origin https://example.com");
    assert_eq!(sandbox.table("report/summary.csv").sum("unknown"), 2);
    sandbox.run("audit --robots robots --origin https://example.com -o report access.log").exits(0);
    assert_eq!(sandbox.table("report/summary.csv").sum("violations"), 2);
}

#[test]
fn a_log_of_no_known_format_is_named() {
    let sandbox = sandbox();
    sandbox
        .write("crawl.log", "2020-10-14 01:29:23 [scrapy.utils.log] INFO: Scrapy 2.1.0 started\n");
    let run = "audit --robots robots.txt -o report --min-parse-rate 0 crawl.log";
    let ran = sandbox.run(run).exits(3);
    ran.complains("warning: crawl.log: format not recognised");
}

#[test]
fn what_a_command_line_repeats_is_escaped() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["--color", "always", "audit", "--\u{1b}[8mx"][..],
        &["--color", "always", "audit", "--ip", "\u{1b}[8mx"],
        &["--color", "always", "\u{1b}[8mx"],
    ] {
        let ran = sandbox.run_words(arguments, b"").exits(2);
        assert!(!ran.stderr.contains("\u{1b}[8m"), "{:?}", ran.stderr);
        ran.complains("\\x1B[8mx");
    }
}

/// Marks that reverse text can show another command than the one that was given.
#[test]
fn what_a_command_line_repeats_is_not_reversed_either() {
    let sandbox = Sandbox::new();
    let hostile = "\u{202e}x\u{200b}y\u{ad}\nz";
    let is_hidden = |c: char| "\u{202e}\u{200b}\u{ad}".contains(c);
    for words in [&["audit", "--"][..], &["audit"], &[]] {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match words.last_mut().filter(|word| *word == "--") {
            Some(flag) => flag.push_str(hostile),
            None => words.push(format!("--no{hostile}")),
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = sandbox.run_words(&words, b"").exits(2);
        assert!(!ran.stderr.contains(is_hidden), "{:?}", ran.stderr);
        ran.complains("\\xE2\\x80\\xAEx\\xE2\\x80\\x8By\\xC2\\xAD\\x0Az");
    }
    // Each flag with such a value, however it is read.
    for command in ["audit", "nightly", "report", "merge", "classify", "check", "lint", "deny"] {
        let help = sandbox.run(&format!("{command} --help")).exits(0).stdout;
        let words = help.split(|c: char| !(c.is_ascii_lowercase() || c == '-'));
        let flags: std::collections::BTreeSet<&str> =
            words.filter(|word| word.len() > 3 && word.starts_with("--")).collect();
        assert!(flags.len() > 3, "{flags:?}");
        for flag in flags {
            let value = format!("{flag}={hostile}");
            let ran = sandbox.run_words(&[command, &value, "x", "x"], b"");
            let said = ran.stdout.clone() + &ran.stderr;
            assert!(
                !said.contains(is_hidden) && !said.contains("\nz"),
                "{command} {flag}: {said:?}"
            );
        }
    }
}

#[test]
fn a_configuration_has_a_limit_and_its_reports_a_place() {
    let sandbox = Sandbox::new();
    sandbox.write("long.toml", "# long\n".repeat(200_000));
    sandbox.run("nightly --config long.toml").exits(2).complains("larger than 1 MiB");
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /x\n");
    sandbox.write("access.log", line(1, "/x", 200, "GPTBot/1.2"));
    sandbox.write("home/photo.jpg", "");
    let site = "[sites.a]\nlogs = \"access.log\"\nrobots = \"robots.txt\"\n";
    sandbox.write("a.toml", format!("{site}output = \"home\"\n"));
    let why = "home: contains files that are not reports of days, such as photo.jpg";
    sandbox.run("nightly --config a.toml").exits(2).complains(why);
    sandbox.write("a.toml", format!("{site}output = \"elsewhere\"\n"));
    sandbox.run("nightly -q --config a.toml").exits(0);
    sandbox.run("nightly -q --config a.toml").exits(0);
}

/// Half a rule is another rule: `Disallow: /last` would become `Disallow: /`.
#[test]
fn a_robots_txt_past_its_limit_is_cut_at_a_line_and_named() {
    let sandbox = sandbox();
    let mut text = "User-agent: *\nDisallow: /private\n".to_owned();
    text += &"#".repeat(512_000 - 12 - text.len());
    text += "\nDisallow: /last\nDisallow: /after\n";
    sandbox.write("large.txt", &text);
    sandbox.write("robots/a.example.txt", &text);
    let targets = ["/private", "/last", "/after", "/other"];
    let log = targets.map(|target| line(1, target, 200, BINGBOT));
    sandbox.write("access.log", log.concat());
    sandbox
        .write("urls.txt", targets.map(|target| format!("https://a.example{target}\n")).concat());
    let why = "only the lines within the first 512,000 bytes count";
    for robots in ["large.txt", "robots"] {
        let audit =
            format!("audit --robots {robots} --origin https://a.example -o report access.log");
        sandbox.run(&audit).exits(0).complains(why);
        assert_eq!(sandbox.table("report/violations.csv").cells("pattern"), ["/private"]);
        assert!(sandbox.text("report/report.html").contains(why));
        let again = sandbox.run("report report --format text").exits(0);
        again.complains(why);
        let classify = format!("classify --robots {robots} --crawler bingbot urls.txt");
        let ran = sandbox.run(&classify).exits(0).complains(why);
        let verdicts = Table::parse(&ran.stdout).cells("verdict");
        assert_eq!(verdicts, ["disallowed", "allowed", "allowed", "allowed"]);
    }
    sandbox.write("botaudit.toml", "[sites.a]\nlogs = ['access.log']\nrobots = 'large.txt'\n");
    sandbox.run("nightly --day 2026-03-01").exits(0).complains(why);
    sandbox.write("short.txt", &text[..512_000 - 12]);
    let audit = "audit --robots short.txt --origin https://a.example access.log";
    assert!(!sandbox.run(audit).exits(0).stderr.contains("512,000"));
}
