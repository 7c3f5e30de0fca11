//! WARC files: valid, invalid and cut.

use std::fs;
use std::io::Write;

use botaudit::archive::import::warc::import_warc;
use botaudit::archive::import::warc_memory::WarcMemory;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::bench::{Bench, time};
/// A record of `kind` with further fields.
pub fn record(kind: &str, url: &str, seconds: i64, fields: &str, block: &[u8]) -> Vec<u8> {
    let time = time(seconds);
    let length = block.len();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Date: {time}\r\nWARC-Target-URI: {url}\r\n\
         Content-Type: application/http; msgtype=response\r\n{fields}Content-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

pub fn response(url: &str, seconds: i64, head: &str, body: &str) -> Vec<u8> {
    let block = format!("HTTP/1.1 {head}\r\n\r\n{body}");
    record("response", url, seconds, "", block.as_bytes())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).unwrap()
}

pub const A: &str = "https://a.example/robots.txt";

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
    let by_frame: Vec<u8> = records.iter().flat_map(|record| zstd(record)).collect();
    let whole = records.concat();
    for bytes in [&whole, &by_member, &gzip(&whole), &by_frame, &zstd(&whole)] {
        let mut bench = Bench::new();
        bench.import_warc(bytes);
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
        bench.import_warc(bytes);
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
            coded(9, "Content-Encoding: zstd", &zstd(b"User-")),
            coded(10, "Content-Encoding: zstd", &zstd(b"User-")[..12]),
            coded(11, "Content-Encoding: compress", b"\x1f\x9d\x90"),
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
        "9 200 User-",
        "10 invalid-response",
        "11 invalid-response",
    ];
    assert_eq!(bench.history("https://a.example"), expected);
    assert_eq!(bench.problems, [""; 0]);
}

pub fn to(url: &str, seconds: i64, location: &str) -> Vec<u8> {
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
    // The targets of the first file's redirects are in the second file, or earlier.
    bench.import_warc(&response(&name("b"), 0, "200 OK\r\nCache-Control: max-age=5", "rules"));
    bench.import_warc(&[to(A, 10, &name("b")), to(&name("c"), 5, &name("d"))].concat());
    assert_eq!(
        bench.history("https://a.example"),
        [format!("10 200 301>{} max 5 rules", name("b"))]
    );
    assert!(bench.history("https://c.example")[0].starts_with("5 unfollowed"));
    bench.import_warc(&response(&name("d"), 6, "404 x", ""));
    assert_eq!(bench.history("https://c.example"), [format!("5 404 301>{}", name("d"))]);
    // Records more than a day apart do not belong together.
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
    // Another run can only use the archive.
    bench.memory = WarcMemory::default();
    bench.import_warc(
        &[record("revisit", A, 6, &refers(1), ok), record("revisit", A, 7, &refers(0), ok)]
            .concat(),
    );
    let a = ["1 200 rules", "2 200 max 9 rules", "3 200 rules", "4 304", "6 200 max 9 rules"];
    assert_eq!(bench.history("https://a.example"), a);
    assert_eq!(bench.history("http://b.example"), ["5 200 max 9 rules"]);
    assert_eq!(bench.problems.len(), 1, "{:?}", bench.problems);
    assert!(bench.problems[0].contains(
        "it refers to a record that was not imported; import the \
                                        file with that record first"
    ));
}

#[test]
fn damage_in_a_warc_is_reported_with_its_position() {
    let good = |seconds| response(A, seconds, "200 OK", "good");
    let check = |bytes: &[u8], kept: &[&str], problem: &str, offset: usize| {
        let mut bench = Bench::new();
        bench.import_warc(bytes);
        assert_eq!(bench.history("https://a.example"), kept, "{problem}");
        assert_eq!(bench.problems.len(), 1, "{:?}", bench.problems);
        let reported = &bench.problems[0];
        assert!(reported.contains("a.warc.gz: ") && reported.contains(problem), "{reported}");
        assert_eq!(bench.offsets, [Some(offset as u64)], "{reported}");
    };
    let one = good(1);
    let at = one.len();
    let kept = &["1 200 good", "2 200 good"];
    let bad = record("response", A, 9, "", b"x");
    let bad = String::from_utf8(bad).unwrap();
    let without = |field: &str| bad.replace(field, "X-Other:").into_bytes();
    let cut_head =
        |at| format!("record at byte {at}: its header is cut off, and the next record begins");
    for (bytes, problem) in [
        (without("Content-Length:"), format!("record at byte {at}: it has no Content-Length")),
        (without("WARC-Target-URI:"), format!("record at byte {at}: it has no WARC-Target-URI")),
        (without("WARC-Date:"), format!("record at byte {at}: its WARC-Date is not a valid time")),
        ([&bad.as_bytes()[..90], b"\0\r\n"].concat(), cut_head(at)),
        (b"WARC/1.0\r\nWARC-Type: response\r\n".to_vec(), cut_head(at)),
        (b"garbage\r\nand more\r\n".to_vec(), format!("no record starts at byte {at}")),
    ] {
        check(&[one.clone(), bytes, good(2)].concat(), kept, &problem, at);
    }
    // Cut within a line, it takes the next record with it.
    let joined = format!(
        "record at byte {at}: its header is cut off, and goes on with that of the next record"
    );
    check(&[&one, &bad.as_bytes()[..60], &good(3), &good(2)].concat(), kept, &joined, at);
    let cut = &[one.clone(), good(2)].concat()[..2 * at - 6];
    check(cut, &["1 200 good"], &format!("truncated record at byte {}", 2 * at - 6), at);
    let (first, second) = (gzip(&one), gzip(&good(2)));
    let mut damaged = [&first[..], &second].concat();
    damaged.truncate(first.len() + 30);
    let place = format!("truncated gzip stream at byte {}", first.len() + 30);
    // Offsets of records are those after decompression.
    check(&damaged, &["1 200 good"], &place, at);
    let mut damaged = [&first[..], &second].concat();
    let crc = first.len() - 8;
    damaged[crc] ^= 1;
    check(&damaged, &[], &format!("wrong checksum of a gzip member at byte {crc}"), 0);
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

/// Of the answers of one second, the same one is the last, whatever the order of the records.
#[test]
fn answers_of_one_second_have_an_order() {
    let answers = ["one", "two", "three"].map(|body| response(A, 1, "200 OK", body));
    let failed = response(A, 1, "503 x", "");
    let history = |records: &[&[u8]]| {
        let mut bench = Bench::new();
        bench.import_warc(&records.concat());
        bench.history("https://a.example")
    };
    let [one, two, three] = &answers;
    let first = history(&[one, two, three, &failed]);
    assert_eq!(first.len(), 4);
    assert_eq!(history(&[&failed, three, one, two]), first);
    assert_eq!(history(&[two, &failed, three, one]), first);
}

/// More data than should be in memory.
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
