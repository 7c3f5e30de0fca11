//! Imports into an archive: WARC files, manifests, directories, git histories; good, bad and cut.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use botaudit::store::archive::Archive;
use botaudit::store::export::export;
use botaudit::store::import::files::{FetchedAt, import_directory};
use botaudit::store::import::git::import_git;
use botaudit::store::import::manifest::import_manifest;
use botaudit::store::import::warc::{self, Memory, import_warc};
use botaudit::store::import::{Import, Make, Progress, make_of, redirects};
use botaudit::time::UtcTime;
use botaudit::url::origin::Origin;
use flate2::Compression;
use flate2::write::GzEncoder;

struct Bench {
    dir: tempfile::TempDir,
    memory: Memory,
    problems: Vec<String>,
}

impl Bench {
    fn new() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        Bench { dir, memory: Memory::default(), problems: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs an import to its end.
    fn import(&mut self, job: impl FnOnce(&mut Memory, &mut Import<'_>)) {
        let mut writer = Archive::writer(&self.path("archive")).unwrap();
        let (problems, memory) = (&mut self.problems, &mut self.memory);
        let mut take = |problem: botaudit::error::Error| problems.push(problem.to_string());
        let progress = Progress::default();
        let mut import = Import { writer: &mut writer, progress: &progress, problems: &mut take };
        job(memory, &mut import);
        warc::finish(memory, &mut import).unwrap();
        writer.flush().unwrap();
        redirects::follow(&mut writer).unwrap();
    }

    fn import_warc(&mut self, bytes: &[u8]) {
        let path = self.write("a.warc.gz", bytes);
        assert_eq!(make_of(&path).unwrap(), Make::Warc);
        self.import(|memory, import| import_warc(&path, memory, import).unwrap());
    }

    /// `time outcome body` of each snapshot of an origin; the time in seconds of 2025-01-01.
    fn history(&self, origin: &str) -> Vec<String> {
        let archive = Archive::open(&self.path("archive")).unwrap();
        let origin = Origin::parse(origin.as_bytes()).unwrap();
        let entries = archive.history(&origin).unwrap();
        let text = |entry: botaudit::store::entry::Entry| {
            let body = entry.body.map(|key| archive.body(key).unwrap()).unwrap_or_default();
            let hops: String = entry
                .fetch
                .chain
                .iter()
                .map(|hop| format!(" {}>{}", hop.status, hop.location))
                .collect();
            let age =
                entry.fetch.max_age_seconds.map_or_else(String::new, |age| format!(" max {age}"));
            let seconds = entry.fetch.fetched_at.unix_seconds() - NEW_YEAR;
            let body = String::from_utf8_lossy(&body);
            format!("{seconds} {}{hops}{age} {body}", entry.fetch.outcome).trim_end().to_owned()
        };
        entries.into_iter().map(text).collect()
    }
}

/// 2025-01-01T00:00:00Z.
const NEW_YEAR: i64 = 1_735_689_600;

fn time(seconds: i64) -> String {
    UtcTime::from_unix_seconds(NEW_YEAR + seconds).unwrap().to_string()
}

/// A record of `kind`, with further fields.
fn record(kind: &str, url: &str, seconds: i64, fields: &str, block: &[u8]) -> Vec<u8> {
    let time = time(seconds);
    let length = block.len();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Date: {time}\r\nWARC-Target-URI: {url}\r\n\
         Content-Type: application/http; msgtype=response\r\n{fields}Content-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn response(url: &str, seconds: i64, head: &str, body: &str) -> Vec<u8> {
    let block = format!("HTTP/1.1 {head}\r\n\r\n{body}");
    record("response", url, seconds, "", block.as_bytes())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

const A: &str = "https://a.example/robots.txt";

#[test]
fn responses_of_a_warc_are_snapshots() {
    let records = [
        record("warcinfo", "-", 0, "", b"software: x\r\n"),
        record("request", A, 1, "", b"GET /robots.txt HTTP/1.1\r\n\r\n"),
        response(A, 1, "200 OK\r\nCache-Control: public, Max-Age=60", "User-agent: *"),
        response(A, 2, "404 Not Found", "<html>"),
        response(A, 3, "503 x", ""),
        response("https://a.example/folder/robots.txt", 4, "200 OK", "not this one"),
        response("https://a.example/", 4, "200 OK", "nor this"),
        response("http://A.example:80/robots.txt", 5, "HTTP", "what is no status"),
        record("response", "<http://a.example/robots.txt>", 6, "", b"HTTP/1.1 200 OK\n\nplain"),
        record("resource", "ftp://a.example/robots.txt", 7, "", b"by ftp"),
        record("response", A, 8, "WARC-Truncated: disconnect\r\n", b"HTTP/1.1 200 OK\r\n\r\nUs"),
        record("response", A, 9, "WARC-Truncated: time\r\n", b"HTTP/1.1 200 OK\r\n\r\nUs"),
        record("response", A, 10, "WARC-Truncated: length\r\n", b"HTTP/1.1 200 OK\r\n\r\nUs"),
        response(A, 11, "103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK", "late"),
        record("response", A, 12, "", b""),
    ];
    let by_member: Vec<u8> = records.iter().flat_map(|record| gzip(record)).collect();
    for bytes in [records.concat(), by_member, gzip(&records.concat())] {
        let mut bench = Bench::new();
        bench.import_warc(&bytes);
        assert_eq!(bench.problems, [""; 0]);
        let a = [
            "1 200 max 60 User-agent: *",
            "2 404",
            "3 503",
            "8 interrupted",
            "9 timeout",
            "10 200 Us",
            "11 200 late",
            "12 invalid-response",
        ];
        assert_eq!(bench.history("https://a.example"), a);
        assert_eq!(bench.history("http://a.example"), ["5 invalid-response", "6 200 plain"]);
        assert_eq!(bench.history("ftp://a.example"), ["7 200 by ftp"]);
        let before = bench.history("https://a.example");
        bench.import_warc(&bytes);
        assert_eq!(bench.history("https://a.example"), before, "twice is once");
    }
}

#[test]
fn bodies_are_decoded_or_were() {
    let coded = |seconds, fields: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
        record("response", A, seconds, "", &[head.as_bytes(), body].concat())
    };
    let chunks = b"3\r\nUse\r\n2\r\nr-\r\n0\r\n\r\n";
    let mut bench = Bench::new();
    bench.import_warc(
        &[
            coded(1, "Transfer-Encoding: chunked", chunks),
            coded(2, "Transfer-Encoding: chunked", b"User-"),
            coded(3, "Transfer-Encoding: chunked", b"3\r\nUse\r\n"),
            coded(4, "Transfer-Encoding: chunked", b"3\r\nUse\r\nxx\r\n"),
            coded(5, "content-encoding: gzip", &gzip(b"User-")),
            coded(6, "content-encoding: gzip", b"User-"),
            coded(7, "content-encoding: gzip", &gzip(b"User-")[..12]),
            coded(8, "X-Crawl-Content-Encoding: gzip", b"User-"),
        ]
        .concat(),
    );
    let expected = [
        "1 200 User-",
        "2 200 User-",
        "3 interrupted",
        "4 invalid-response",
        "5 200 User-",
        "6 200 User-",
        "7 invalid-response",
        "8 200 User-",
    ];
    assert_eq!(bench.history("https://a.example"), expected);
    assert_eq!(bench.problems, [""; 0]);
}

fn to(url: &str, seconds: i64, location: &str) -> Vec<u8> {
    response(url, seconds, &format!("301 Moved\r\nLocation: {location}"), "gone")
}

#[test]
fn redirects_bind_the_origin_that_was_asked() {
    let b = "https://b.example/robots.txt";
    let mut bench = Bench::new();
    bench.import_warc(
        &[
            to(A, 1, b),
            to(b, 2, "/en/robots.txt#x"),
            response("https://b.example/en/robots.txt", 3, "200 OK", "moved"),
            response("https://b.example/en/robots.txt", 4, "200 OK", "nobody asked"),
            to("http://c.example/robots.txt", 1, "https://gone.example/robots.txt"),
            to("http://d.example/robots.txt", 1, "http://d.example/robots.txt"),
            response("http://e.example/robots.txt", 1, "302 Found", ""),
            response("http://f.example/robots.txt", 1, "304 Not Modified", ""),
        ]
        .concat(),
    );
    let hops = "301>https://b.example/robots.txt 301>https://b.example/en/robots.txt";
    assert_eq!(bench.history("https://a.example"), [format!("1 200 {hops} moved")]);
    let hops = "301>https://b.example/en/robots.txt";
    assert_eq!(bench.history("https://b.example"), [format!("2 200 {hops} moved")]);
    let c = ["1 unfollowed 301>https://gone.example/robots.txt"];
    assert_eq!(bench.history("http://c.example"), c);
    assert!(bench.history("http://d.example")[0].starts_with("1 301 301>"), "round and round");
    assert_eq!(bench.history("http://e.example"), ["1 302"]);
    assert_eq!(bench.history("http://f.example"), ["1 304"]);
}

#[test]
fn redirects_are_followed_through_the_archive() {
    let name = |n| format!("https://{n}.example/robots.txt");
    let mut bench = Bench::new();
    // What the first file sends for stands in the second, or before.
    bench.import_warc(&response(&name("b"), 0, "200 OK\r\nCache-Control: max-age=5", "rules"));
    bench.import_warc(&[to(A, 10, &name("b")), to(&name("c"), 5, &name("d"))].concat());
    assert_eq!(
        bench.history("https://a.example"),
        [format!("10 200 301>{} max 5 rules", name("b"))]
    );
    assert!(bench.history("https://c.example")[0].starts_with("5 unfollowed"));
    bench.import_warc(&response(&name("d"), 6, "404 x", ""));
    assert_eq!(bench.history("https://c.example"), [format!("5 404 301>{}", name("d"))]);
    // More than a day apart says nothing of each other.
    bench.import_warc(&to(&name("e"), 90_000, &name("d")));
    assert!(bench.history("https://e.example")[0].starts_with("90000 unfollowed"));
    // Five hops are followed, not six; in one file and through the archive.
    for apart in [false, true] {
        let mut bench = Bench::new();
        let name = |n: i64| format!("https://n{n}.example/robots.txt");
        let mut files: Vec<Vec<u8>> = (0..6).map(|n| to(&name(n), n, &name(n + 1))).collect();
        files.push(response(&name(6), 6, "200 OK", "far"));
        match apart {
            true => files.iter().rev().for_each(|file| bench.import_warc(file)),
            false => bench.import_warc(&files.concat()),
        }
        assert!(bench.history("https://n0.example")[0].starts_with("0 301 301>"));
        assert!(bench.history("https://n1.example")[0].ends_with(" far"));
    }
}

#[test]
fn revisits_give_the_body_of_what_they_revisit() {
    let ok = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\n\r\n";
    let digest = "WARC-Payload-Digest: sha1:ABC\r\n";
    let same = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n";
    let unmodified =
        "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified\r\n";
    let refers = |seconds| {
        format!(
            "{same}WARC-Refers-To-Target-URI: {A}\r\nWARC-Refers-To-Date: {}\r\n",
            time(seconds)
        )
    };
    let first = record("response", A, 1, digest, b"HTTP/1.1 200 OK\r\n\r\nrules");
    let mut bench = Bench::new();
    bench.import_warc(
        &[
            first.clone(),
            record("revisit", A, 2, &format!("{same}{digest}"), ok),
            record("revisit", A, 3, &format!("{same}{digest}"), b""),
            record("revisit", A, 4, unmodified, b"HTTP/1.1 304 x\r\n\r\n"),
            record("revisit", "http://b.example/robots.txt", 5, &format!("{same}{digest}"), ok),
        ]
        .concat(),
    );
    // Another run has only the archive to look into.
    bench.memory = Memory::default();
    bench.import_warc(
        &[record("revisit", A, 6, &refers(1), ok), record("revisit", A, 7, &refers(0), ok)]
            .concat(),
    );
    let a = ["1 200 rules", "2 200 max 9 rules", "3 200 rules", "4 304", "6 200 max 9 rules"];
    assert_eq!(bench.history("https://a.example"), a);
    assert_eq!(bench.history("http://b.example"), ["5 200 max 9 rules"]);
    assert_eq!(bench.problems.len(), 1, "{:?}", bench.problems);
    assert!(bench.problems[0].contains("revisits a record that is not here"));
}

#[test]
fn what_is_wrong_in_a_warc_is_told_with_its_place() {
    let good = |seconds| response(A, seconds, "200 OK", "good");
    let check = |bytes: &[u8], kept: &[&str], problem: &str| {
        let mut bench = Bench::new();
        bench.import_warc(bytes);
        assert_eq!(bench.history("https://a.example"), kept, "{problem}");
        assert_eq!(bench.problems.len(), 1, "{:?}", bench.problems);
        let told = &bench.problems[0];
        assert!(told.contains("a.warc.gz: ") && told.contains(problem), "{told}");
    };
    let one = good(1);
    let at = one.len();
    let kept = &["1 200 good", "2 200 good"];
    let bad = record("response", A, 9, "", b"x");
    let bad = String::from_utf8(bad).unwrap();
    let without = |field: &str| bad.replace(field, "X-Other:").into_bytes();
    for (bytes, problem) in [
        (without("Content-Length:"), format!("record at byte {at}: it has no Content-Length")),
        (without("WARC-Target-URI:"), format!("record at byte {at}: it has no WARC-Target-URI")),
        (without("WARC-Date:"), format!("record at byte {at}: its WARC-Date is no time")),
        (b"garbage\r\nand more\r\n".to_vec(), format!("no record begins at byte {at}")),
    ] {
        check(&[one.clone(), bytes, good(2)].concat(), kept, &problem);
    }
    let cut = &[one.clone(), good(2)].concat()[..2 * at - 6];
    check(cut, &["1 200 good"], &format!("truncated record at byte {}", 2 * at - 6));
    let (first, second) = (gzip(&one), gzip(&good(2)));
    let mut damaged = [&first[..], &second].concat();
    damaged.truncate(first.len() + 30);
    let place = format!("truncated gzip stream at byte {}", first.len() + 30);
    check(&damaged, &["1 200 good"], &place);
    let mut damaged = [&first[..], &second].concat();
    let crc = first.len() - 8;
    damaged[crc] ^= 1;
    check(&damaged, &[], &format!("wrong checksum of a gzip member at byte {crc}"));
}

#[test]
fn any_cut_and_any_flip_of_a_warc_keeps_what_is_good() {
    let text = [to(A, 1, "/x"), response("https://a.example/x", 2, "200 OK", "good")].concat();
    let mut bench = Bench::new();
    let path = bench.path("a.warc");
    bench.import(|memory, import| {
        for at in 0..text.len() {
            for bytes in [text[..at].to_vec(), [&text[..at], b"\xff", &text[at + 1..]].concat()] {
                fs::write(&path, bytes).unwrap();
                import_warc(&path, memory, import).unwrap();
            }
        }
    });
    assert!(bench.problems.len() < 4 * text.len());
    assert!(
        bench
            .history("https://a.example")
            .contains(&"1 200 301>https://a.example/x good".to_owned())
    );
}

/// What nobody should have to hold in memory.
#[test]
fn huge_records_are_read_over_and_long_bodies_cut() {
    let long = "#".repeat(600 << 10);
    let mut bench = Bench::new();
    bench.import_warc(&gzip(
        &[
            record("metadata", A, 0, "", &vec![b'x'; 40 << 20]),
            response(A, 1, "200 OK", &long),
            response(A, 2, "404 x", &long),
        ]
        .concat(),
    ));
    let lengths: Vec<usize> = bench.history("https://a.example").iter().map(String::len).collect();
    assert_eq!(lengths, ["1 200 ".len() + (500 << 10) + 1, "2 404".len()]);
}

#[test]
fn rows_of_a_manifest_are_snapshots() {
    let mut bench = Bench::new();
    bench.write("in/b/a.txt", "rules");
    let manifest = "\
origin,fetched_at,status,path,max_age,chain,source
https://a.example,2025-01-01T00:00:01Z,200,b/a.txt,60,301 https://b.example/robots.txt,curl
https://a.example/,2025-01-01T01:00:02+01:00,404,,,,
HTTPS://A.example:443,20250101000003,timeout,,,,
a.example,2025-01-01T00:00:01Z,404,,,,
https://a.example,yesterday,404,,,,
https://a.example,2025-01-01T00:00:01Z,okay,,,,
https://a.example,2025-01-01T00:00:01Z,200,,,,
https://a.example,2025-01-01T00:00:01Z,200,../secret,,,
https://a.example,2025-01-01T00:00:01Z,200,/etc/passwd,,,
https://a.example,2025-01-01T00:00:01Z,200,gone.txt,,,
https://a.example,2025-01-01T00:00:01Z,200,b,,,
https://a.example,2025-01-01T00:00:01Z,200,b/a.txt,-1,,
https://a.example,2025-01-01T00:00:01Z,200,b/a.txt,,x,
https://a.example
https://a.example,2025-01-01T00:00:04Z,204
";
    let path = bench.write("in/manifest.csv", manifest.replace(",204", ",503"));
    assert_eq!(make_of(&path).unwrap(), Make::Manifest);
    bench.import(|_, import| import_manifest(&path, import).unwrap());
    let expected =
        ["1 200 301>https://b.example/robots.txt max 60 rules", "2 404", "3 timeout", "4 503"];
    assert_eq!(bench.history("https://a.example"), expected);
    let lines: Vec<String> = (5..=15).map(|line| format!("manifest.csv:{line}: ")).collect();
    assert_eq!(bench.problems.len(), lines.len(), "{:?}", bench.problems);
    for (problem, line) in bench.problems.iter().zip(lines) {
        assert!(problem.contains(&line), "{line}: {problem}");
    }
}

#[test]
fn broken_manifests_are_told() {
    for (text, problem) in [
        ("origin,fetched_at,status\n", "manifest.csv:1: no column 'path'"),
        ("origin,fetched_at,status,path,etag\n", "manifest.csv:1: unknown column 'etag'"),
    ] {
        let mut bench = Bench::new();
        let path = bench.write("manifest.csv", text);
        bench.import(|_, import| import_manifest(&path, import).unwrap());
        assert!(bench.problems[0].contains(problem), "{:?}", bench.problems);
    }
    let mut bench = Bench::new();
    let bytes = [b"origin,fetched_at,status,path\n".to_vec(), vec![b'x'; 3 << 20]].concat();
    let path = bench.write("manifest.csv", bytes);
    bench.import(|_, import| import_manifest(&path, import).unwrap());
    assert!(bench.problems[0].contains("longer than 1 MiB"), "{:?}", bench.problems);
}

#[test]
fn directories_tell_by_names_whose_files_they_hold_and_of_when() {
    let mut bench = Bench::new();
    for (name, text) in [
        ("d/a.example.txt", "a"),
        ("d/b.example/2025-01-01T00-00-05Z.txt", "b5"),
        ("d/b.example/20250101000006.txt", "b6"),
        ("d/b.example/robots.txt", "b"),
        ("d/b.example/.hidden", ""),
        ("d/b.example/notes", ""),
        ("d/https_c.example_8443/2025-01-01.txt", "c"),
        ("d/https_c.example_443.txt", "c443"),
        ("d/README", ""),
    ] {
        bench.write(name, text);
    }
    let path = bench.path("d");
    let at = FetchedAt::At(UtcTime::from_unix_seconds(NEW_YEAR + 9).unwrap());
    bench.import(|_, import| import_directory(&path, at, import).unwrap());
    for scheme in ["http", "https"] {
        assert_eq!(bench.history(&format!("{scheme}://a.example")), ["9 200 a"]);
        let b = ["5 200 b5", "6 200 b6", "9 200 b"];
        assert_eq!(bench.history(&format!("{scheme}://b.example")), b);
    }
    assert_eq!(bench.history("https://c.example:8443"), ["0 200 c"]);
    assert_eq!(bench.history("https://c.example"), ["9 200 c443"]);
    assert_eq!(bench.problems.len(), 2, "{:?}", bench.problems);
    assert!(bench.problems[0].contains("README: is named like no host"));
    assert!(bench.problems[1].contains("notes: is named like no time"));
    bench.problems.clear();
    bench.import(|_, import| import_directory(&path, FetchedAt::Unsaid, import).unwrap());
    assert_eq!(bench.problems.len(), 5, "{:?}", bench.problems);
}

fn git(folder: &Path, seconds: i64, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(arguments);
    let date = format!("{} +0000", NEW_YEAR + seconds);
    command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
    assert!(command.output().unwrap().status.success(), "{arguments:?}");
}

#[test]
fn commits_of_a_file_are_snapshots() {
    let mut bench = Bench::new();
    let repository = bench.path("r");
    fs::create_dir(&repository).unwrap();
    git(&repository, 0, &["init", "-q", "-b", "main"]);
    let commit = |seconds, name: &str, text: Option<&str>| {
        match text {
            Some(text) => {
                fs::create_dir_all(repository.join(name).parent().unwrap()).unwrap();
                fs::write(repository.join(name), text).unwrap();
            }
            None => fs::remove_file(repository.join(name)).unwrap(),
        }
        git(&repository, seconds, &["add", "-A"]);
        git(&repository, seconds, &["commit", "-qm", "x"]);
    };
    commit(1, "site/robots.txt", Some("one"));
    commit(2, "other", Some("x"));
    commit(3, "site/robots.txt", None);
    commit(4, "site/robots.txt", Some("two\n"));
    git(&repository, 5, &["checkout", "-qb", "topic"]);
    commit(5, "site/robots.txt", Some("on a branch"));
    git(&repository, 5, &["checkout", "-q", "main"]);
    commit(6, "other", Some("y"));
    git(&repository, 7, &["merge", "-q", "--no-ff", "-m", "x", "topic"]);
    let origin = Origin::parse(b"https://a.example").unwrap();
    let (path, origins) = (repository.join("site/robots.txt"), [origin]);
    bench.import(|_, import| import_git(&path, &origins, import).unwrap());
    let expected = ["1 200 one", "3 404", "4 200 two", "7 200 on a branch"];
    assert_eq!(bench.history("https://a.example"), expected);
    assert_eq!(bench.problems, [""; 0]);
    let path = bench.write("no-repository/robots.txt", "");
    bench.import(|_, import| import_git(&path, &origins, import).unwrap());
    assert!(bench.problems[0].contains("git says: "), "{:?}", bench.problems);
}

#[test]
fn what_is_exported_comes_back_the_same() {
    let mut bench = Bench::new();
    let records = [
        response(A, 1, "200 OK\r\nCache-Control: max-age=60", "a"),
        response(A, 1, "200 OK", "another in the same second"),
        response(A, 2, "200 OK", ""),
        response("http://[::1]:8080/robots.txt", 3, "200 OK", "v6\r\n\0"),
        response("http://xn--exmple-cua.com/robots.txt", 3, "503 x", ""),
        to("http://a.example/robots.txt", 1, A),
        to("http://b.example/robots.txt", 1, "http://c.example/,\"x"),
        record("response", A, 8, "WARC-Truncated: time\r\n", b"HTTP/1.1 200 OK\r\n\r\nUs"),
    ];
    bench.import_warc(&records.concat());
    let archive = Archive::open(&bench.path("archive")).unwrap();
    let directory = bench.path("exported");
    assert_eq!(export(&archive, &directory).unwrap(), 8);
    let message = export(&archive, &directory).unwrap_err().to_string();
    assert!(message.contains("is not empty"), "{message}");

    let mut back = Bench::new();
    let manifest = directory.join("manifest.csv");
    back.import(|_, import| import_manifest(&manifest, import).unwrap());
    assert_eq!(back.problems, [""; 0]);
    let again = back.path("again");
    export(&Archive::open(&back.path("archive")).unwrap(), &again).unwrap();
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    assert_eq!(read(again.join("manifest.csv")), read(manifest));
    for origin in ["https://a.example", "http://[::1]:8080", "http://a.example", "http://b.example"]
    {
        assert_eq!(bench.history(origin), back.history(origin));
        assert!(!bench.history(origin).is_empty());
    }
}
