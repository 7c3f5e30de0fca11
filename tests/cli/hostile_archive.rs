//! Edited or damaged archives: each command of `robots` ends, with an error for invalid rows, and
//! lists no row twice.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::types::Value;

use super::program::{Sandbox, line};

const TIME_MAX: Duration = Duration::from_secs(60);

/// Two origins, one with two versions.
fn archive() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("one.txt", "User-agent: *\nDisallow: /a\n");
    sandbox.write("two.txt", "User-agent: *\nDisallow: /b\n");
    sandbox.write(
        "manifest.csv",
        "origin,fetched_at,status,path\n\
         https://a.example,2026-01-01,200,one.txt\n\
         https://a.example,2026-01-02,200,two.txt\n\
         https://b.example,2026-01-01,404,\n",
    );
    sandbox.run("robots import -a db manifest.csv").exits(0);
    sandbox
}

fn edit(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA writable_schema = ON").unwrap();
    connection.execute_batch(sql).unwrap_or_else(|err| panic!("{sql}: {err}"));
}

/// The exit code and the messages, with limits for time and output.
#[track_caller]
fn ends(sandbox: &Sandbox, arguments: &str) -> (i32, String, String) {
    let mut command = sandbox.command(arguments);
    let files = ["stdout", "stderr"].map(|name| sandbox.path(name));
    let [stdout, stderr] = files.each_ref().map(|path| std::fs::File::create(path).unwrap());
    let mut child: Child = command.stdout(stdout).stderr(stderr).spawn().unwrap();
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > TIME_MAX {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{arguments} does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let [stdout, stderr] = files.map(|path| std::fs::read_to_string(path).unwrap());
    assert!(!stderr.contains("panicked"), "{arguments}: {stderr}");
    (status.code().unwrap(), stdout, stderr)
}

/// Runs each command; returns the exit codes.
#[track_caller]
fn all_end(sandbox: &Sandbox) -> Vec<i32> {
    let _ = std::fs::remove_dir_all(sandbox.path("out"));
    let commands = [
        "robots list -qa db",
        "robots export -a db out",
        "robots log -a db a.example",
        "robots at -a db a.example 2026-01-05",
        "robots show -a db a.example",
        "robots show -a db a.example --at 2026-01-01",
        "robots diff -a db a.example 2026-01-01 2026-01-02",
    ];
    let code = |arguments: &str| {
        let (code, stdout, stderr) = ends(sandbox, arguments);
        let mut lines: Vec<&str> = stdout.lines().collect();
        if arguments.contains("list") {
            let count = lines.len();
            lines.sort_unstable();
            lines.dedup();
            assert_eq!(lines.len(), count, "an origin was listed twice");
        }
        assert!(code == 0 || !stderr.is_empty(), "{arguments}: {code} without a word");
        code
    };
    commands.into_iter().map(code).collect()
}

#[test]
fn rows_that_make_no_sense_end_the_list_with_an_error() {
    for sql in [
        // Continuing after this text finds it again and again, because it sorts before itself.
        "UPDATE snapshots SET origin = 'https://b.example:443' WHERE origin LIKE '%b.example'",
        "UPDATE snapshots SET origin = 'https://b.example/' WHERE origin LIKE '%b.example'",
        "UPDATE snapshots SET origin = 'https://user@b.example' WHERE origin LIKE '%b.example'",
        // Continuing after this text skips others.
        "UPDATE snapshots SET origin = 'HTTPS://b.example' WHERE origin LIKE '%b.example'",
        "UPDATE snapshots SET origin = 'https://B.example' WHERE origin LIKE '%b.example'",
        "UPDATE snapshots SET origin = '' WHERE origin LIKE '%b.example'",
        "UPDATE snapshots SET origin = 'b.example' WHERE origin LIKE '%b.example'",
        "UPDATE snapshots SET origin = 'https://b' || char(0) || 'c' WHERE origin LIKE '%b.%'",
        "UPDATE snapshots SET origin = CAST(x'68747470733a2f2fff' AS TEXT) WHERE origin LIKE '%b.%'",
        "UPDATE snapshots SET fetched_at = 9223372036854775807 WHERE origin LIKE '%b.example'",
        "UPDATE snapshots SET fetched_at = -9223372036854775808 WHERE origin LIKE '%b.example'",
        "UPDATE snapshots SET outcome = 99999 WHERE origin LIKE '%b.example'",
    ] {
        let sandbox = archive();
        edit(&sandbox.path("db"), sql);
        let codes = all_end(&sandbox);
        assert_eq!(codes[..2], [2, 2], "{sql}");
        // An origin given by name is still found.
        assert_eq!(codes[2..6], [0; 4], "{sql}");
    }
}

#[test]
fn what_is_missing_is_an_error_not_an_omission() {
    for (sql, list_code) in [
        ("DELETE FROM bodies", 0),
        ("UPDATE bodies SET body = zeroblob(50000000)", 0),
        ("PRAGMA foreign_keys = OFF; DELETE FROM sources", 0),
        ("UPDATE snapshots SET chain = printf('%.*c', 30000000, 'x')", 0),
        ("UPDATE snapshots SET digest = x'00' WHERE body != 0", 0),
        ("UPDATE snapshots SET body = body + 1000 WHERE body != 0", 0),
    ] {
        let sandbox = archive();
        edit(&sandbox.path("db"), sql);
        let codes = all_end(&sandbox);
        assert_eq!((codes[0], codes[1], codes[4]), (list_code, 2, 2), "{sql}");
    }
}

/// Views may have endless rows, triggers may write anything, and columns with other types or
/// collations compare differently.
#[test]
fn other_tables_than_those_of_an_archive_are_refused() {
    let rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                SELECT 'https://a.example' AS origin, i AS fetched_at, 200 AS outcome, 0 AS body,
                NULL AS digest, 0 AS size, NULL AS max_age, NULL AS chain, 1 AS source FROM n";
    let rebuilt = |columns: &str| {
        format!(
            "ALTER TABLE snapshots RENAME TO old; DROP INDEX unfollowed;
             CREATE TABLE snapshots ({columns}); INSERT INTO snapshots SELECT * FROM old;
             INSERT INTO snapshots SELECT * FROM old; DROP TABLE old;
             CREATE INDEX unfollowed ON snapshots (origin, fetched_at) WHERE outcome = 0"
        )
    };
    for sql in [
        format!("DROP TABLE snapshots; CREATE VIEW snapshots AS {rows}"),
        rebuilt("origin, fetched_at, outcome, body, digest, size, max_age, chain, source"),
        rebuilt(
            "origin TEXT COLLATE NOCASE, fetched_at, outcome, body, digest, size, max_age, chain, \
             source",
        ),
        "CREATE TRIGGER t AFTER INSERT ON snapshots BEGIN DELETE FROM bodies; END".to_owned(),
        "CREATE VIEW v AS SELECT * FROM snapshots".to_owned(),
        "DROP TABLE bodies".to_owned(),
        "DROP INDEX unfollowed".to_owned(),
        "ANALYZE; UPDATE sqlite_schema SET sql = 'CREATE TABLE sqlite_stat1(tbl,idx,stat AS (tbl))'
         WHERE name = 'sqlite_stat1'"
            .to_owned(),
    ] {
        let sandbox = archive();
        edit(&sandbox.path("db"), &sql);
        assert_eq!(all_end(&sandbox), [2; 7], "{sql}");
        let (code, _, stderr) = ends(&sandbox, "robots import -a db manifest.csv");
        assert!(
            code == 2
                && stderr.contains(
                    "does not have the tables of an archive; restore it \
             from a backup, or import again"
                ),
            "{sql}: {stderr}"
        );
    }
    let sandbox = archive();
    edit(&sandbox.path("db"), "ANALYZE");
    assert_eq!(all_end(&sandbox), [0; 7]);
}

/// What is in the archive stays there, so the command has not failed.
#[test]
fn an_import_that_stops_after_a_commit_is_incomplete() {
    let sandbox = archive();
    let broken =
        "INSERT INTO snapshots SELECT 'https://C.example', fetched_at, 0, 0, NULL, 0, NULL,
                  NULL, source FROM snapshots WHERE outcome = 404";
    edit(&sandbox.path("db"), broken);
    sandbox.write("more.csv", "origin,fetched_at,status,path\nhttps://d.example,2026-01-01,404,\n");
    let (code, stdout, stderr) = ends(&sandbox, "robots import -a db more.csv");
    assert!(code == 3 && stderr.contains("an invalid value"), "{code} {stderr}");
    assert!(stdout.starts_with("1 snapshot added"), "{stdout}");
    sandbox.run("robots log -a db d.example").exits(0);
    let mut full = sandbox.command("robots import -a new.db manifest.csv");
    let full = full.stdout(std::fs::File::create("/dev/full").unwrap()).output().unwrap();
    assert_eq!(full.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&full.stderr).contains("cannot"));
}

/// Adds enough rows for a tree of about three levels.
fn large(sandbox: &Sandbox, origin: &str) {
    let sql = format!(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 30000)
         INSERT INTO snapshots SELECT {origin}, i, 404, 0, NULL, 0, NULL,
         '301 https://a.example/' || printf('%.*c', 900, 'x'), 1 FROM n"
    );
    edit(&sandbox.path("db"), &sql);
}

/// A gigabyte of texts once they are in memory, though the archive holds one of them.
#[test]
fn long_texts_that_many_rows_share_do_not_fill_the_memory() {
    let sandbox = archive();
    let sql = "UPDATE sources SET name = printf('%.*c', 1000000, 'x');
               WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000)
               INSERT INTO snapshots SELECT origin, fetched_at + i, 0, 0, NULL, 0, NULL, NULL, source
               FROM snapshots, n WHERE outcome = 404";
    edit(&sandbox.path("db"), sql);
    let (code, _, stderr) = ends(&sandbox, "robots log -a db b.example");
    assert!(code == 2 && stderr.contains("an invalid value"), "{code} {stderr}");
    let (code, _, stderr) = ends(&sandbox, "robots import -a db manifest.csv");
    assert!(code != 0 && stderr.contains("an invalid value"), "{code} {stderr}");
}

/// The first byte of an inner page of an index.
const INNER: u8 = 2;

/// Fewer than the levels at which SQLite gives up.
const CHAINED_PAGES: usize = 18;

/// Lets all children of the inner page at `start` be `child` of the first; returns the first.
fn link_children(bytes: &mut [u8], start: usize, child: impl Fn(u32) -> u32) -> u32 {
    let two = |at: usize| usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1]);
    let cells: Vec<usize> =
        (0..two(start + 3)).map(|cell| start + two(start + 12 + 2 * cell)).collect();
    let first = u32::from_be_bytes(bytes[cells[0]..cells[0] + 4].try_into().unwrap());
    for at in cells.into_iter().chain([start + 8]) {
        bytes[at..at + 4].copy_from_slice(&child(first).to_be_bytes());
    }
    first
}

/// Lets all children of each inner page be the same page.
fn knot(path: &Path, is_cycle: bool) {
    let connection = Connection::open(path).unwrap();
    let number = |sql: &str| match connection.query_row(sql, [], |row| row.get(0)).unwrap() {
        Value::Integer(number) => usize::try_from(number).unwrap(),
        other => panic!("{other:?}"),
    };
    let page_bytes = number("PRAGMA page_size");
    let root = number("SELECT rootpage FROM sqlite_schema WHERE name = 'snapshots'");
    drop(connection);
    let mut bytes = std::fs::read(path).unwrap();
    let mut next = Some(root);
    let mut depth = 0;
    while let Some(page) = next.take() {
        let start = (page - 1) * page_bytes;
        if bytes[start] != INNER {
            break;
        }
        depth += 1;
        let root = u32::try_from(root).unwrap();
        let first = link_children(&mut bytes, start, |first| if is_cycle { root } else { first });
        next = Some(first as usize).filter(|_| !is_cycle);
    }
    assert!(depth > 0, "the tree has inner pages");
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_tree_that_leads_to_its_pages_again_and_again_is_damage() {
    for is_cycle in [false, true] {
        for origin in ["'https://a.example'", "printf('https://%05d.example', i)"] {
            let sandbox = archive();
            large(&sandbox, origin);
            knot(&sandbox.path("db"), is_cycle);
            let codes = all_end(&sandbox);
            // A damaged search at a page boundary misses rows.
            let is_seen = is_cycle || !origin.contains("printf");
            ends(&sandbox, "robots import -a db manifest.csv");
            assert!(!is_seen || codes[..2] == [2, 2], "{origin} {is_cycle}: {codes:?}");
        }
    }
}

/// Lets all children of an inner page be the same inner page, through many pages: the tree has no
/// cycle, but more rows than can be read in a lifetime.
fn chain_pages(path: &Path) {
    let page_bytes = Connection::open(path)
        .and_then(|connection| connection.query_row("PRAGMA page_size", [], |row| row.get(0)))
        .map(|bytes: i64| usize::try_from(bytes).unwrap())
        .unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    let starts: Vec<usize> = (0..bytes.len())
        .step_by(page_bytes)
        .filter(|start| bytes[*start] == INNER)
        .take(CHAINED_PAGES)
        .collect();
    assert_eq!(starts.len(), CHAINED_PAGES);
    for pair in starts.windows(2) {
        let child = u32::try_from(pair[1] / page_bytes + 1).unwrap();
        link_children(&mut bytes, pair[0], |_| child);
    }
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn an_import_into_a_tree_without_end_stops_with_an_error() {
    let sandbox = archive();
    let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30000)
               INSERT INTO snapshots SELECT 'https://c.example', 1767225600, 404, i, NULL, 0, NULL,
               '301 https://a.example/' || printf('%.*c', 900, 'x'), 1 FROM n";
    edit(&sandbox.path("db"), sql);
    chain_pages(&sandbox.path("db"));
    sandbox.write(
        "revisit.warc",
        "WARC/1.0\r\nWARC-Type: revisit\r\nWARC-Date: 2026-01-02T00:00:00Z\r\n\
         WARC-Target-URI: https://d.example/robots.txt\r\n\
         WARC-Refers-To-Target-URI: https://c.example/robots.txt\r\n\
         WARC-Refers-To-Date: 2026-01-01T00:00:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
    );
    let (code, _, stderr) = ends(&sandbox, "robots import -a db revisit.warc");
    assert!(code == 2 && stderr.contains("the archive is damaged"), "{code} {stderr}");
}

/// A writer that adds origins faster than they are listed does not prevent the list from ending.
#[test]
fn a_list_ends_while_the_archive_is_written() {
    let sandbox = archive();
    let path = sandbox.path("db");
    edit(&path, "PRAGMA journal_mode = WAL");
    let connection = Connection::open(&path).unwrap();
    large(&sandbox, "printf('https://%05d.example', i)");
    let begun = "BEGIN IMMEDIATE; INSERT INTO sources (name) VALUES ('begun')";
    connection.execute_batch(begun).unwrap();
    let (code, stdout, _) = ends(&sandbox, "robots list -qa db");
    assert_eq!((code, stdout.lines().count()), (0, 30002));
}

/// A confined run reaches the directory that the link leads to.
#[cfg(unix)]
#[test]
fn what_a_killed_writer_left_behind_a_link_is_taken_back() {
    let sandbox = archive();
    let connection = Connection::open(sandbox.path("db")).unwrap();
    let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
                INSERT INTO sources (name) SELECT printf('%099d', i) FROM n";
    let begun = format!("PRAGMA cache_size = 1; BEGIN IMMEDIATE; {many}");
    connection.execute_batch(&begun).unwrap();
    std::fs::create_dir(sandbox.path("killed")).unwrap();
    for name in ["db", "db-journal"] {
        std::fs::copy(sandbox.path(name), sandbox.path("killed").join(name)).unwrap();
    }
    std::os::unix::fs::symlink("killed/db", sandbox.path("link")).unwrap();
    sandbox.run("robots list -a link").exits(0);
    assert_eq!(sandbox.names("killed"), ["db"]);
}

#[cfg(unix)]
#[test]
fn an_archive_is_created_where_links_lead() {
    let sandbox = archive();
    let elsewhere = Sandbox::new();
    std::os::unix::fs::symlink("again", sandbox.path("link")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path("db"), sandbox.path("again")).unwrap();
    sandbox.run("robots import -a link manifest.csv").exits(0);
    assert_eq!(elsewhere.names("."), ["db"]);
}

/// A body that counts in full, and one that is longer than what counts, so that it is cut.
fn archive_of_two_bodies() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("one.txt", "User-agent: *\nDisallow: /closed\n");
    sandbox
        .write("long.txt", "User-agent: *\nDisallow: /long\n#".to_owned() + &"x".repeat(600_000));
    sandbox.write(
        "manifest.csv",
        "origin,fetched_at,status,path\n\
         https://a.example,2026-01-01,200,one.txt\n\
         https://b.example,2026-01-01,200,long.txt\n",
    );
    sandbox.run("robots import -a db manifest.csv").exits(0);
    let of =
        |origin: &str, target: &str| format!("{origin} {}", line(1, target, 200, "GPTBot/1.2"));
    let log = of("a.example:443", "/closed") + &of("b.example:443", "/long");
    sandbox.write("access.log", log);
    sandbox.write("urls.txt", "https://a.example/closed\nhttps://b.example/long\n");
    sandbox
}

/// Flips a bit of the byte `offset` bytes after the only place in the archive with `text`.
fn flip(sandbox: &Sandbox, text: &[u8], offset: usize, bit: u8) {
    let mut bytes = std::fs::read(sandbox.path("db")).unwrap();
    let mut found = bytes.windows(text.len()).enumerate().filter(|(_, found)| *found == text);
    let (at, _) = found.next().unwrap();
    assert!(found.next().is_none(), "twice in the archive");
    bytes[at + offset] ^= 1 << bit;
    std::fs::write(sandbox.path("db"), bytes).unwrap();
}

const ALL_GOOD: &str = "2 requests of known crawlers, 2 violations";

#[test]
fn a_body_that_was_cut_has_the_digest_of_what_was_kept() {
    let sandbox = archive_of_two_bodies();
    let ran = sandbox.run("audit --robots db -o report access.log").exits(0);
    assert!(ran.stdout.contains(ALL_GOOD), "{}", ran.stdout);
    let kept = sandbox.run("robots show -qa db b.example").exits(0).stdout;
    assert_eq!(kept.len(), 512_001);
    sandbox.run("robots export -a db out").exits(0);
    sandbox.run("robots import -a copy out").exits(0);
    sandbox.run("check --robots copy --token GPTBot https://b.example/long").exits(1);
}

/// SQLite reads a row with other bytes without a complaint.
#[test]
fn a_changed_bit_of_a_body_makes_it_unknown() {
    // `/closed` becomes another path, `Disallow` another field, `*` another name, the first byte
    // and the last one another line.
    let text = b"User-agent: *\nDisallow: /closed\n";
    for (offset, bit) in [(0, 0), (12, 1), (14, 2), (25, 0), (27, 7), (text.len() - 1, 3)] {
        let sandbox = archive_of_two_bodies();
        flip(&sandbox, text, offset, bit);
        let ran = sandbox.run("audit --robots db -o report access.log").exits(3);
        ran.complains(
            "https://a.example: db: cannot read the archive: the archive is damaged (a body \
                       does not have its digest, sha256:",
        );
        let rows = sandbox.table("report/summary.csv").cells("origin violations unknown");
        assert_eq!(rows, ["https://a.example | 0 | 1", "https://b.example | 1 | 0"]);
        let evidence = "evidence report --crawler GPTBot --origin https://a.example -o folder";
        sandbox.run(evidence).exits(2);
        assert!(!sandbox.path("folder").exists());

        let ran = sandbox.run("check --robots db --token GPTBot https://a.example/closed").exits(2);
        let ran = ran.complains("does not have its digest");
        assert!(!ran.stdout.contains("allowed"), "{}", ran.stdout);
        let ran = sandbox.run("classify --robots db --token GPTBot urls.txt").exits(3);
        let ran = ran.complains("does not have its digest");
        assert!(
            ran.stdout.contains("https://a.example/closed,https://a.example,GPTBot,unknown"),
            "{}",
            ran.stdout
        );
        assert!(
            ran.stdout.contains("https://b.example/long,https://b.example,GPTBot,disallowed"),
            "{}",
            ran.stdout
        );
        for reads_it in [
            "robots show -a db a.example",
            "robots at -a db a.example 2026-01-05",
            "robots log -a db a.example",
            "robots export -a db out",
        ] {
            let ran = sandbox.run(reads_it).exits(2);
            let ran = ran.complains("does not have its digest");
            assert!(!ran.stdout.contains("Disallow"), "{reads_it}: {}", ran.stdout);
        }
        sandbox.run("robots show -qa db b.example").exits(0);
        sandbox.run("robots at -a db b.example 2026-01-05").exits(0);
    }
}

#[test]
fn a_changed_bit_is_found_in_a_long_body_and_in_a_digest() {
    let long = archive_of_two_bodies();
    flip(&long, b"User-agent: *\nDisallow: /long\n", 5, 4);
    long.run("check --robots db --token GPTBot https://b.example/long").exits(2);
    let digest = archive_of_two_bodies();
    edit(&digest.path("db"), "UPDATE snapshots SET digest = zeroblob(32) WHERE origin LIKE '%a.%'");
    digest.run("check --robots db --token GPTBot https://a.example/closed").exits(2);
    // The row leads to the body of another origin.
    let other = archive_of_two_bodies();
    edit(&other.path("db"), "UPDATE snapshots SET body = 3 - body");
    other.run("check --robots db --token GPTBot https://a.example/closed").exits(2);
}

#[test]
fn a_nightly_job_reports_a_damaged_body() {
    let sandbox = archive_of_two_bodies();
    sandbox.write("botaudit.toml", "[sites.shop]\nlogs = [\"access.log\"]\nrobots = \"db\"\n");
    flip(&sandbox, b"User-agent: *\nDisallow: /closed\n", 27, 0);
    let ran = sandbox.run("nightly --config botaudit.toml -q --day 2026-03-01").exits(3);
    ran.complains("https://a.example: ").complains("does not have its digest");
    let rows = sandbox.table("reports/shop/2026-03-01/summary.csv");
    let rows = rows.cells("origin violations unknown");
    assert_eq!(rows, ["https://a.example | 0 | 1", "https://b.example | 1 | 0"]);
}
