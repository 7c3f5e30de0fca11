use std::fs;
use std::path::Path;

use super::*;
use crate::archive::Store;
use crate::audit::follow::{Extent, Reading, follow};
use crate::audit::identities::Identities;
use crate::audit::{Options, Progress};
use crate::input::checkpoint::Checkpoint;
use crate::input::source::{Location, Source};
use crate::judge::timeline::BeforeFirst;
use crate::merge::Merge;
use crate::time::UtcTime;
use crate::url::dialect::Dialect;

const ROBOTS: &str =
    "User-agent: GPTBot\nDisallow: /a\nCrawl-delay: 10\n\nUser-agent: *\nDisallow: /b\n";

/// Lines of several days and crawlers, late ones and such that are none among them.
fn log() -> Vec<String> {
    let agents = [
        "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
        "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
        "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0",
        "unheard-of-crawler/1.0",
    ];
    let targets = ["/a", "/b/c?d=\\xff", "/robots.txt", "/", "*"];
    let mut lines = vec!["no record\n".to_owned(), "\n".to_owned()];
    for at in 0..400_usize {
        let (day, hour, agent) = (1 + at / 150, at * 7 % 24, agents[at % 4]);
        let (target, host) = (targets[at * 3 % 5], ["a.example", "b.example"][at / 3 % 2]);
        lines.push(match at % 31 {
            30 => format!("odd {at}\n"),
            _ => format!(
                "{host}:443 192.0.2.{at} - - [0{day}/Mar/2026:{hour:02}:{at:02}:00 +0000] \
                 \"GET {target} HTTP/1.1\" 200 10 \"-\" \"{agent}\"\n",
                at = at % 60
            ),
        });
    }
    lines
}

/// The records of a log that is read after each of `cuts` (in lines), each time added to what was
/// kept before by a run of its own.
fn records(directory: &Path, cuts: &[usize], chunk_bytes: usize) -> BTreeMap<Day, DayRecord> {
    let (lines, path) = (log(), directory.join("access.log"));
    let registry = Registry::builtin();
    let sources = [Source { name: "access.log".to_owned(), place: Location::File(path.clone()) }];
    let options = Options { chunk_bytes, ..Options::new(2) };
    let files = BTreeMap::from([(7, FileId::from_index(0))]);
    let mut kept: BTreeMap<Day, Vec<u8>> = BTreeMap::new();
    let mut bodies = Vec::new();
    let (mut reached, mut last_day): (Option<Checkpoint>, Option<Day>) = (None, None);
    for &cut in cuts {
        // What has no end is not read.
        fs::write(&path, lines[..cut].concat() + "192.0.2.1 - - [").unwrap();
        let store = Store::open(&directory.join("robots")).unwrap();
        let judge = Judge::new(store, &registry, Dialect::Google).unwrap();
        bodies.iter().for_each(|body| drop(judge.intern(body)));
        let ids = Ids { registry: &registry, judge: &judge, files: &files };
        let extent = Extent::Rest { reached: reached.clone(), last_day };
        let reading = [Reading { file: FileId::from_index(0), extent }];
        let (identities, progress) = (Identities::default(), Progress::default());
        let judged = (&judge, &registry);
        let followed =
            follow(&sources, &reading, &options, judged, &identities, &progress).unwrap();
        let (end, of_file) = &followed.ends[0];
        reached = end.reached.clone();
        last_day = of_file.last;
        assert_eq!(reached.as_ref().unwrap().lines, cut as u64);
        for (day, mut tally) in followed.days {
            let start = UtcTime::EPOCH;
            let (mut in_force, versions) =
                in_force::InForceRecord::new(&tally, &judge, (start, start), BeforeFirst::AsFirst);
            for version in &versions {
                bodies.push(judge.body(version.origin.as_ref(), &version.digest).unwrap());
            }
            if let Some(before) = kept.get(&day) {
                let before = DayRecord::parse(before).unwrap();
                in_force.absorb(before.in_force.clone());
                tally.absorb(before.tally(day, ids).unwrap());
            }
            let json = DayRecord::new(tally, in_force, ids).to_json();
            assert!(!String::from_utf8_lossy(&json).contains("192.0.2."), "an address is kept");
            kept.insert(day, json);
        }
    }
    kept.into_iter().map(|(day, json)| (day, DayRecord::parse(&json).unwrap())).collect()
}

#[test]
fn how_often_a_log_was_read_does_not_show() {
    let dir = tempfile::tempdir().unwrap();
    let count = log().len();
    fs::create_dir(dir.path().join("robots")).unwrap();
    fs::write(dir.path().join("robots/a.example"), ROBOTS).unwrap();
    fs::write(dir.path().join("robots/b.example"), "User-agent: *\nDisallow: /a\n").unwrap();
    let whole = records(dir.path(), &[count], 1 << 20);
    let days: Vec<String> = whole.keys().map(Day::to_string).collect();
    assert_eq!(days, ["2026-03-01", "2026-03-02", "2026-03-03"]);
    let lines: u64 = whole.values().flat_map(|record| &record.files).map(lines_of).sum();
    assert_eq!(lines, count as u64);
    let violations: u64 =
        whole.values().flat_map(DayRecord::sums).map(|sums| sums.sums.violations).sum();
    assert!(violations > 20, "{violations}");
    for cuts in [&[3, 100, count][..], &[150, 151, 152, 300, count]] {
        for chunk_bytes in [1, 1_000, 1 << 20] {
            assert_eq!(records(dir.path(), cuts, chunk_bytes), whole, "{cuts:?}");
        }
    }
}

fn lines_of(file: &FileRecord) -> u64 {
    let rejected: u64 = file.rejected.values().map(|reject| reject.0).sum();
    file.crawler + file.other + rejected + file.skipped.values().sum::<u64>()
}
