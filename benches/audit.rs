//! Bench: what does a whole audit cost, and how much of it is inflating?
//!
//! Makes a log in memory-sized pieces on disk, audits it plain and gzipped with
//! one thread and with all, and prints CSV: `case,lines,mib,seconds,mib_per_second`.
//! Every audit's counts are checked against what was written before its time counts.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may stop at what it did not expect")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use botaudit::archive::Store;
use botaudit::audit;
use botaudit::audit::identities::Identities;
use botaudit::audit::model::ReportModel;
use botaudit::audit::options::Options;
use botaudit::audit::progress::Progress;
use botaudit::audit::tally;
use botaudit::crawlers::registry::Registry;
use botaudit::input::source::expand;
use botaudit::judge::Judge;
use botaudit::url::origin::Origin;
use botaudit::url::path::Dialect;
use flate2::Compression;
use flate2::write::GzEncoder;

const LINES: u64 = 400_000;
const ROUNDS: usize = 5;

/// Every fifth line is a crawler's, every tenth a violation.
fn log() -> (Vec<u8>, u64) {
    let mut log = Vec::new();
    for line in 0..LINES {
        let (hour, minute, second) = (line / 3600 % 24, line / 60 % 60, line % 60);
        let target = match line % 10 {
            0 => format!("/private/{}/page.html?id={line}", line % 977),
            _ => format!("/articles/{}/{}.html", line % 313, line % 7919),
        };
        let user_agent = match line % 5 {
            0 => "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)".to_owned(),
            _ => format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Safari/537.36", line % 1000),
        };
        writeln!(
            log,
            "192.0.2.{} - - [01/Mar/2026:{hour:02}:{minute:02}:{second:02} +0000] \"GET {target} HTTP/1.1\" 200 {} \"-\" \"{user_agent}\"",
            line % 250,
            line % 50_000
        )
        .unwrap();
    }
    (log, LINES / 10)
}

fn audit(path: &Path, threads: usize, judge: &Judge, registry: &Registry) -> (u64, f64) {
    let mut options = Options::new(threads);
    options.naming.origin = Origin::parse(b"https://example.com");
    let sources = expand(&[path.into()]);
    let identities = Identities::default();
    let start = Instant::now();
    let (record, progress) = (tally::header::ReportedOptions::default(), Progress::default());
    let tally =
        audit::run(&sources, &options, &record, judge, registry, &identities, &progress, None);
    let audit = ReportModel::new(tally.unwrap()).unwrap();
    (audit.total().violations, start.elapsed().as_secs_f64())
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let (log, violations) = log();
    let robots: String =
        (0..200).map(|rule| format!("Disallow: /nothing/{rule}/*.php$\n")).collect();
    fs::write(
        dir.path().join("robots.txt"),
        format!("User-agent: *\n{robots}Disallow: /private/\n"),
    )
    .unwrap();
    fs::write(dir.path().join("plain.log"), &log).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&log).unwrap();
    fs::write(dir.path().join("gzip.log.gz"), gzip.finish().unwrap()).unwrap();

    let registry = Registry::builtin();
    let store = Store::open(&dir.path().join("robots.txt")).unwrap();
    let judge = Judge::new(store, &registry, Dialect::Google).unwrap();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mib = log.len() as f64 / f64::from(1 << 20);
    println!("case,lines,mib,seconds,mib_per_second");
    for (name, file) in [("plain", "plain.log"), ("gzip", "gzip.log.gz")] {
        for threads in [1, threads] {
            let mut seconds: Vec<f64> = (0..ROUNDS)
                .map(|_| {
                    let (found, seconds) =
                        audit(&dir.path().join(file), threads, &judge, &registry);
                    assert_eq!(found, violations, "the audit counts what was written");
                    seconds
                })
                .collect();
            seconds.sort_by(f64::total_cmp);
            let median = seconds[ROUNDS / 2];
            println!("{name} {threads} threads,{LINES},{mib:.1},{median:.4},{:.0}", mib / median);
        }
    }
}
