//! Imports of manifests and directories, and exports.

use std::fs;
use std::path::PathBuf;

use botaudit::archive::export::export;
use botaudit::archive::import::files::{FetchedAt, HistoryKind, import_directory, kind_of};
use botaudit::archive::import::manifest::import_manifest;
use botaudit::archive::reader::Archive;
use botaudit::time::UtcTime;

use super::bench::{Bench, NEW_YEAR};
use super::warc::{A, record, response, to};
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
https://a.example,2025-01-01T00:00:05Z,200,b/a.txt,,HOPS,
";
    // Past five hops, what lies behind is never fetched.
    let hops = ["301 https://b.example/robots.txt"; 6].join("\n");
    let manifest = manifest.replace(",204", ",503").replace("HOPS", &format!("\"{hops}\""));
    let path = bench.write("in/manifest.csv", manifest);
    assert_eq!(kind_of(&path).unwrap(), HistoryKind::Manifest);
    bench.import(|_, import| import_manifest(&path, import).unwrap());
    let expected =
        ["1 200 301>https://b.example/robots.txt max 60 rules", "2 404", "3 timeout", "4 503"];
    let history = bench.history("https://a.example");
    assert_eq!(history[..4], expected);
    assert!(history.len() == 5 && history[4].starts_with("5 301 "), "{}", history[4]);
    let lines: Vec<String> = (5..=15).map(|line| format!("manifest.csv:{line}: ")).collect();
    assert_eq!(bench.problems.len(), lines.len(), "{:?}", bench.problems);
    for (problem, line) in bench.problems.iter().zip(lines) {
        assert!(problem.contains(&line), "{line}: {problem}");
    }
}

#[test]
fn broken_manifests_are_reported() {
    for (text, problem) in [
        ("origin,fetched_at,status\n", "manifest.csv:1: column 'path' is missing"),
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
fn names_of_files_give_their_origins_and_times() {
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
    assert!(bench.problems[0].contains("README: the file name is not a host"));
    assert!(bench.problems[1].contains("notes: the file name is not a time"));
    bench.problems.clear();
    bench.import(|_, import| import_directory(&path, FetchedAt::Unsaid, import).unwrap());
    assert_eq!(bench.problems.len(), 5, "{:?}", bench.problems);
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
