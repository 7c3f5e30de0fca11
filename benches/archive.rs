//! How fast does an archive take snapshots in, and answer for an origin? In one thread.
//!
//! `cargo bench --bench archive` asks 100,000 origins; BOTAUDIT_BENCH_ORIGINS=1000000 a million.
//! BOTAUDIT_BENCH_ARCHIVE=FILE makes the archive there and leaves it; one that is there, as
//! `scripts/make-archive` makes it by a real import, is only read. Half of the bodies are shared.
//! Everything is checked before it is timed or while it is. Rates are by the clock and, where the
//! system tells it, by the time that the processor was at work, as machines may be busy.
//!
//! A lookup tells the ruling of an origin now, as an audit asks for it once an origin: its snapshots,
//! each with its outcome, max-age, redirects and digest. The bytes of a body are read apart, once for
//! all origins that share it, and are not counted to it.

use std::fs;
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use botaudit::archive::import::warc::{self, import_warc};
use botaudit::archive::import::warc_memory::WarcMemory;
use botaudit::archive::import::{Import, ImportProgress, warc_memory};
use botaudit::archive::reader::Archive;
use botaudit::archive::snapshot::{Fetch, SnapshotOutcome};
use botaudit::archive::writer::NewSnapshot;
use botaudit::time::UtcTime;
use botaudit::url::origin::Origin;
use flate2::Compression;
use flate2::write::GzEncoder;

/// 2025-01-01T00:00:00Z.
const NEW_YEAR: i64 = 1_735_689_600;

/// Bodies that are shared are of so many kinds.
const SHARED: usize = 1000;

fn main() {
    let asked = std::env::var("BOTAUDIT_BENCH_ORIGINS").ok();
    let origins: usize = asked.map_or(100_000, |number| number.parse().expect("a number"));
    let dir = tempfile::tempdir().expect("a directory for the archive");
    let kept = std::env::var_os("BOTAUDIT_BENCH_ARCHIVE").map(PathBuf::from);
    let path = kept.unwrap_or_else(|| dir.path().join("archive"));
    if !path.exists() {
        write(&path, origins);
    }
    let size = fs::metadata(&path).expect("it was written").len();
    println!("{:>12} bytes of archive for each", size / origins as u64);

    let archive = Archive::open(&path).expect("it was written");
    let lookups = origins.min(500_000);
    let asked: Vec<(usize, Origin)> = (0..lookups).map(|n| scattered(n, origins)).collect();
    look_up(&archive, &asked, "once");
    look_up(&archive, &asked, "again");
    let started = Started::now();
    let found = asked.iter().filter(|(_, origin)| archive.holds(origin).expect("it can be read"));
    assert_eq!(found.count(), lookups);
    print_rate("origins known", lookups, started);
    let started = Started::now();
    for (index, origin) in asked.iter().take(lookups / 5) {
        let entry = archive.newest(origin, None).expect("it can be read").expect("it is there");
        let snapshot = archive.snapshot(origin, entry).expect("it can be read");
        assert_eq!(snapshot.body, body(*index));
    }
    print_rate("bodies read", lookups / 5, started);
    import_a_warc(dir.path(), origins.min(100_000));
    println!("{:>12} MiB of memory at the most", peak_memory_mib());
}

fn write(path: &Path, origins: usize) {
    let started = Started::now();
    let mut writer = Archive::writer(path).expect("a new archive");
    for index in 0..origins {
        writer.push(snapshot(index)).expect("room on the disk");
    }
    writer.flush().expect("room on the disk");
    assert_eq!(writer.added().snapshots, origins as u64);
    print_rate("snapshots written", origins, started);
}

fn look_up(archive: &Archive, asked: &[(usize, Origin)], how: &str) {
    let started = Started::now();
    for (index, origin) in asked {
        let entries = archive.history(origin).expect("it can be read");
        let [entry] = &entries[..] else { panic!("{origin}: {} snapshots", entries.len()) };
        assert_eq!(entry.fetch.fetched_at.unix_seconds(), NEW_YEAR + *index as i64);
        assert_eq!(entry.fetch.outcome, SnapshotOutcome::Status(200));
        black_box(entry.body.expect("it was given one").digest);
    }
    print_rate(&format!("origins looked up {how}"), asked.len(), started);
}

fn import_a_warc(dir: &Path, records: usize) {
    let path = dir.join("robots.warc.gz");
    let mut file = fs::File::create(&path).expect("room on the disk");
    for index in 0..records {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&record(index)).expect("room in memory");
        file.write_all(&gzip.finish().expect("room in memory")).expect("room on the disk");
    }
    let started = Started::now();
    let mut writer = Archive::writer(&dir.join("from-warc")).expect("a new archive");
    let (progress, mut memory) = (ImportProgress::default(), WarcMemory::default());
    let mut problems = |problem: botaudit::archive::import::ImportProblem| panic!("{problem}");
    let mut import = Import { writer: &mut writer, progress: &progress, problems: &mut problems };
    import_warc(&path, &mut memory, &mut import).expect("room on the disk");
    warc::finish(&mut memory, &mut import).expect("room on the disk");
    writer.flush().expect("room on the disk");
    warc_memory::follow(&mut writer).expect("room on the disk");
    assert_eq!(writer.added().snapshots, records as u64);
    print_rate("WARC records imported", records, started);
}

fn record(index: usize) -> Vec<u8> {
    let body = body(index);
    let http = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: max-age=600\r\n\r\n";
    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: {}\r\nWARC-Target-URI: {}/robots.txt\r\n\
         WARC-Payload-Digest: sha1:{index}\r\nContent-Length: {}\r\n\r\n",
        time(index),
        origin(index),
        http.len() + body.len()
    );
    [head.as_bytes(), http, &body, b"\r\n\r\n"].concat()
}

fn snapshot(index: usize) -> NewSnapshot {
    let fetch = Fetch {
        fetched_at: time(index),
        outcome: SnapshotOutcome::Status(200),
        max_age_seconds: None,
        chain: Vec::new(),
    };
    let source = format!("CC-MAIN-2025-05-{:05}.warc.gz", index / 10_000);
    NewSnapshot { origin: origin(index), fetch, source, body: body(index).into() }
}

fn time(index: usize) -> UtcTime {
    UtcTime::from_unix_seconds(NEW_YEAR + index as i64).expect("not so far from now")
}

/// In no order, as crawls come.
fn origin(index: usize) -> Origin {
    let name = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Origin::parse(format!("https://www.site-{name:016x}.example").as_bytes()).expect("a host")
}

fn scattered(n: usize, origins: usize) -> (usize, Origin) {
    let index = n.wrapping_mul(7_368_787) % origins;
    (index, origin(index))
}

/// About 1 KB, as robots.txt files have.
fn body(index: usize) -> Vec<u8> {
    let name = if index.is_multiple_of(2) { index % SHARED } else { SHARED + index };
    let mut text = format!("# {name}\nUser-agent: *\n");
    for line in 0..30 {
        text.push_str(&format!("Disallow: /section-{line}/{}/\n", name * 31 + line));
    }
    text.into_bytes()
}

/// By the clock, and by what the processor did for this process.
struct Started {
    clock: Instant,
    work_seconds: Option<f64>,
}

impl Started {
    fn now() -> Started {
        Started { clock: Instant::now(), work_seconds: work_seconds() }
    }
}

fn print_rate(what: &str, count: usize, started: Started) {
    let seconds = started.clock.elapsed().as_secs_f64();
    let rate = |seconds: f64| count as f64 / seconds.max(0.01);
    let worked = work_seconds().zip(started.work_seconds).map(|(now, then)| now - then);
    let worked = worked.map_or_else(String::new, |worked| {
        format!("; {:.0} a second of work, {worked:.2} s", rate(worked))
    });
    println!("{:>12.0} {what} a second ({count} in {seconds:.2} s{worked})", rate(seconds));
}

/// Seconds that the processor worked for this process, to a hundredth; Linux tells.
fn work_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let after_name = stat.rsplit_once(')')?.1;
    let mut ticks = after_name.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((ticks.next()?.ok()? + ticks.next()?.ok()?) / 100.0)
}

fn peak_memory_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}
