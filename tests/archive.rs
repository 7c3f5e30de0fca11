//! Archives: written snapshots can be read, also after crashes and from untrusted files.

use std::path::Path;

use botaudit::archive::Store;
use botaudit::archive::reader::Archive;
use botaudit::archive::snapshot::{Failure, Fetch, Hop, SnapshotOutcome};
use botaudit::archive::writer::{Added, KEPT_BYTES_MAX, NewSnapshot};
use botaudit::time::UtcTime;
use botaudit::url::origin::Origin;

fn origin(url: &str) -> Origin {
    Origin::parse(url.as_bytes()).unwrap()
}

fn at(seconds: i64) -> UtcTime {
    UtcTime::from_unix_seconds(seconds).unwrap()
}

fn new(url: &str, seconds: i64, outcome: SnapshotOutcome, body: &str) -> NewSnapshot {
    let fetch =
        Fetch { fetched_at: at(seconds), outcome, max_age_seconds: None, chain: Vec::new() };
    NewSnapshot {
        origin: origin(url),
        fetch,
        source: "test".to_owned(),
        body: body.as_bytes().to_vec().into(),
    }
}

fn fill(path: &Path, snapshots: Vec<NewSnapshot>) -> Added {
    let mut writer = Archive::writer(path).unwrap();
    for snapshot in snapshots {
        writer.push(snapshot).unwrap();
    }
    writer.flush().unwrap();
    writer.added()
}

const OK: SnapshotOutcome = SnapshotOutcome::Status(200);
const GONE: SnapshotOutcome = SnapshotOutcome::Status(410);
const SLOW: SnapshotOutcome = SnapshotOutcome::Failure(Failure::Timeout);

#[test]
fn what_goes_in_comes_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive");
    let mut redirected = new("https://a.example", 30, OK, "b");
    redirected.fetch.max_age_seconds = Some(600);
    redirected.fetch.chain =
        vec![Hop { status: 301, location: "https://b.example/robots.txt".to_owned() }];
    let mut long = new("https://a.example", -5, OK, "");
    long.body = vec![b'#'; KEPT_BYTES_MAX + 100].into();
    let snapshots = vec![
        redirected.clone(),
        new("https://a.example", 10, OK, "a"),
        new("https://a.example", 20, SLOW, "not kept"),
        new("https://b.example:8443", 10, GONE, "not kept"),
        new("https://b.example:8443", 11, SnapshotOutcome::Unfollowed, ""),
        new("http://c.example", 10, OK, "a"),
        new("http://c.example", 10, OK, ""),
        long,
    ];
    assert_eq!(fill(&path, snapshots.clone()), Added { snapshots: 8, known: 0, bodies: 4 });
    assert_eq!(fill(&path, snapshots), Added { snapshots: 0, known: 8, bodies: 0 });

    let archive = Archive::open(&path).unwrap();
    let a = archive.history(&origin("https://a.example")).unwrap();
    let times: Vec<i64> = a.iter().map(|entry| entry.fetch.fetched_at.unix_seconds()).collect();
    assert_eq!(times, [-5, 10, 20, 30]);
    assert_eq!(a[3].fetch, redirected.fetch);
    assert_eq!((a[2].fetch.outcome, a[2].body), (SLOW, None));
    assert_eq!(archive.body(a[3].body.unwrap()).unwrap(), b"b");
    assert_eq!(a[0].body.unwrap().size_bytes, KEPT_BYTES_MAX as u64);
    let c = archive.history(&origin("http://c.example")).unwrap();
    assert_eq!(c.len(), 2, "one second, two bodies: both are facts");
    let shared = c.iter().any(|entry| entry.body == a[1].body);
    assert!(shared, "equal bytes are kept once, whose ever they are");
    assert!(archive.history(&origin("http://a.example")).unwrap().is_empty());
    let newest = |time| archive.newest(&origin("https://a.example"), time).unwrap();
    assert_eq!(newest(None).as_ref(), Some(&a[3]));
    assert_eq!(newest(Some(at(29))).as_ref(), Some(&a[2]));
    assert_eq!(newest(Some(at(-6))), None);
}

#[test]
fn all_origins_are_listed_once_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive");
    let many = (0..2500).map(|n| new(&format!("https://{n:04}.example"), n, OK, "a"));
    fill(&path, many.collect());
    fill(
        &path,
        vec![new("https://0007.example", 5, OK, "b"), new("https://0007.example", 9000, GONE, "")],
    );
    let mut all = Vec::new();
    let archive = Archive::open(&path).unwrap();
    let listed = archive.each_origin(|summary| {
        all.push(summary);
        Ok(())
    });
    listed.unwrap();
    assert_eq!(all.len(), 2500);
    assert!(all.is_sorted_by(|a, b| a.origin < b.origin));
    let seven = &all[7];
    assert_eq!((seven.snapshots, seven.bodies, seven.outcome), (3, 2, GONE));
    assert_eq!((seven.first, seven.last), (at(5), at(9000)));
}

#[test]
fn the_kind_of_a_store_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robots.txt");
    fill(&path, vec![new("https://a.example", 10, OK, "a"), new("https://a.example", 9, OK, "b")]);
    let store = Store::open(&path).unwrap();
    assert!(matches!(store, Store::Archive(_)));
    let snapshot = store.snapshot(&origin("https://a.example")).unwrap().unwrap();
    assert_eq!(snapshot.body, b"a");
    assert!(snapshot.source.ends_with("robots.txt: https://a.example at 1970-01-01T00:00:10Z"));
    assert_eq!(store.source(&origin("https://b.example")), None);
    assert!(store.single_file().unwrap().is_none());
}

/// A writer without a commit has the same effect as a crash.
#[test]
fn an_unfinished_batch_leaves_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive");
    let mut writer = Archive::writer(&path).unwrap();
    writer.push(new("https://a.example", 1, OK, "a")).unwrap();
    writer.flush().unwrap();
    writer.push(new("https://a.example", 2, OK, "b")).unwrap();
    drop(writer);
    let history = Archive::open(&path).unwrap().history(&origin("https://a.example")).unwrap();
    assert_eq!(history.len(), 1);
}

#[test]
fn readers_see_whole_batches_while_a_writer_works() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive");
    fill(&path, vec![new("https://a.example", 0, OK, "a")]);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let archive = Archive::open(&path).unwrap();
                let mut seen = 1;
                while seen < 501 {
                    let now = archive.history(&origin("https://a.example")).unwrap().len();
                    assert!(now >= seen && (now - 1).is_multiple_of(50), "{now} after {seen}");
                    seen = now;
                }
            });
        }
        let mut writer = Archive::writer(&path).unwrap();
        for n in 1..=500 {
            writer.push(new("https://a.example", n, OK, "a")).unwrap();
            if n % 50 == 0 {
                writer.flush().unwrap();
            }
        }
    });
}

#[cfg(unix)]
#[test]
fn what_must_not_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("medium");
    std::fs::create_dir(&inner).unwrap();
    let path = inner.join("archive");
    fill(&path, vec![new("https://a.example", 0, OK, "a")]);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o444)).unwrap();
    std::fs::set_permissions(&inner, PermissionsExt::from_mode(0o555)).unwrap();
    let held = Archive::open(&path).unwrap().holds(&origin("https://a.example")).unwrap();
    let names: Vec<_> = std::fs::read_dir(&inner).unwrap().collect();
    std::fs::set_permissions(&inner, PermissionsExt::from_mode(0o755)).unwrap();
    assert!(held && names.len() == 1);
}

#[test]
fn nonsense_in_an_archive_is_reported_as_damage() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive");
    fill(&path, vec![new("https://a.example", 0, OK, "a")]);
    let change = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let history = || Archive::open(&path).unwrap().history(&origin("https://a.example"));
    for sql in [
        "UPDATE snapshots SET outcome = 5",
        "UPDATE snapshots SET outcome = 200, fetched_at = 9000000000000000000",
        "UPDATE snapshots SET fetched_at = 0, chain = 'x'",
    ] {
        change(sql);
        let message = history().unwrap_err().to_string();
        assert!(message.contains("an invalid value"), "{message}");
    }
}
