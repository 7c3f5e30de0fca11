//! Tallies of strangers and damaged ones. Any content is read and reported, or refused with the name
//! of the file, and never takes more memory than is allowed.

use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::random::Random;
use allocation_counter::measure;
use botaudit::audit::model::ReportModel;
use botaudit::audit::tally::merge::name_damaged;
use botaudit::audit::tally::{counter::TallyLimits, merge::merge_files};
use botaudit::error::Error;
use botaudit::report::html::page;
use botaudit::report::page_model::PageModel;
use botaudit::report::run::{EvidenceFile, run_json};
use botaudit::report::summary::summary_text;
use botaudit::report::table::Audited;
use botaudit::report::tables::tables_of;

/// The memory that the tallies here may take.
const LIMIT: usize = 24 << 20;

/// What a run holds beside that: the report, and what the allocator was asked for at once.
const BESIDE: u64 = 16 << 20;

const DAMAGED: &str = "is a damaged tally; create it again";

const ROBOTS: &str = "User-agent: *\nCrawl-delay: 5\nDisallow: /private\nContent-Usage: train-ai=n\n\
                      User-agent: GPTBot\nDisallow: /shop\n";

/// The header and the counts of a tally, unpacked.
struct Parts {
    head: Vec<u8>,
    parts: [Vec<u8>; 2],
}

impl Parts {
    fn of(bytes: &[u8]) -> Parts {
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let (line, frames) = bytes.split_at(end);
        let first = zstd::zstd_safe::find_frame_compressed_size(frames).unwrap();
        let unpack = |frame: &[u8]| zstd::stream::decode_all(frame).unwrap();
        let parts = [unpack(&frames[..first]), unpack(&frames[first..])];
        // Without the hash and the line end.
        Parts { head: line[..line.len() - 33].to_vec(), parts }
    }

    /// The tally with another `part`.
    fn with(&self, part: usize, content: &[u8]) -> Vec<u8> {
        let mut frames = Vec::new();
        for (at, own) in self.parts.iter().enumerate() {
            let content = if at == part { content } else { own };
            frames.extend(zstd::bulk::compress(content, 1).unwrap());
        }
        let hash = format!("{:032x}\n", xxhash_rust::xxh3::xxh3_128(&frames));
        [&self.head, hash.as_bytes(), &frames].concat()
    }
}

fn botaudit(directory: &Path, arguments: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_botaudit"));
    let output = command.args(arguments.split(' ')).current_dir(directory).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A directory with `all.tally`, which has something of all that a tally can hold.
fn tally() -> (tempfile::TempDir, Parts) {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("old.txt", "User-agent: *\nDisallow: /old\n");
    write("new.txt", ROBOTS);
    write("draft.txt", "User-agent: *\nDisallow: /about\n");
    write("networks.csv", "prefix,network\n192.0.2.0/24,Example Net\n");
    write(
        "manifest.csv",
        "origin,fetched_at,status,path,max_age\nhttps://a.example,2026-03-01,200,old.txt,\n\
         https://a.example,2026-03-09,200,old.txt,\nhttps://a.example,2026-03-10,200,new.txt,\n",
    );
    let agents = [
        "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
        "CCBot/2.0 (https://commoncrawl.org/faq/)",
        "unknown-crawler/1.0 (+http://x.example)",
        "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0",
    ];
    let paths = ["/robots.txt", "/shop/1", "/private/a/b?c=d", "/about", "/llms.txt", "*"];
    let mut log = String::from("not a line\n");
    for day in 1..=20 {
        for (number, path) in paths.iter().enumerate() {
            for (client, agent) in agents.iter().enumerate() {
                writeln!(
                    log,
                    "192.0.2.{client} - - [{day:02}/Mar/2026:12:{number:02}:{client:02} \
                     +0000] \"GET {path} HTTP/1.1\" {} 5 \"https://chatgpt.com/\" \"{agent}\"",
                    [200, 304, 404][(day + number) % 3],
                )
                .unwrap();
            }
        }
    }
    write("access.log", &log);
    for arguments in [
        "robots import -q -a db manifest.csv",
        "audit -q --robots db --origin https://a.example --what-if draft.txt --paths --session-minutes 5 \
         --networks networks.csv --partial all.tally access.log",
    ] {
        let (code, message) = botaudit(dir.path(), arguments);
        assert_eq!(code, Some(0), "{message}");
    }
    let parts = Parts::of(&fs::read(dir.path().join("all.tally")).unwrap());
    (dir, parts)
}

/// What `report` does with the tally at `path`.
fn report(path: &Path) -> Result<(), Error> {
    let limits = TallyLimits { memory_bytes: LIMIT, ..TallyLimits::default() };
    let paths: [PathBuf; 1] = [path.to_owned()];
    let model = merge_files(&paths, limits).and_then(ReportModel::new);
    let audit = model.map_err(|err| name_damaged(err, &paths, limits))?;
    for table in tables_of(&audit) {
        table.write(Audited { audit: &audit }, &mut std::io::sink()).unwrap();
    }
    let model = PageModel::of(&audit, None);
    assert!(!page(&model).is_empty() && !summary_text(&model, &Default::default()).is_empty());
    run_json(&audit, EvidenceFile::default(), jiff::Timestamp::UNIX_EPOCH.into());
    Ok(())
}

/// The message of the refusal, if the tally with these `bytes` is refused.
fn refusal(path: &Path, bytes: &[u8], what: &dyn std::fmt::Debug) -> Option<String> {
    fs::write(path, bytes).unwrap();
    let reported = catch_unwind(AssertUnwindSafe(|| report(path)));
    let reported = reported.unwrap_or_else(|_| panic!("panicked at {what:?}"));
    let message = reported.err()?.to_string();
    let is_named = message.starts_with(&path.display().to_string());
    assert!(is_named && !message.contains("please report"), "{what:?}: {message}");
    Some(message)
}

/// The values of MessagePack in `bytes`, from the outermost on.
fn values(bytes: &[u8]) -> Vec<Range<usize>> {
    fn walk(bytes: &[u8], start: usize, found: &mut Vec<Range<usize>>) -> usize {
        let index = found.len();
        found.push(start..start);
        let number = |at: usize, length: usize| {
            bytes[at..at + length].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte))
        };
        let (content, length, children) = match bytes[start] {
            0x80..=0x8f => (1, 0, 2 * usize::from(bytes[start] & 15)),
            0x90..=0x9f => (1, 0, usize::from(bytes[start] & 15)),
            0xa0..=0xbf => (1, usize::from(bytes[start] & 31), 0),
            kind @ (0xc4..=0xc6 | 0xd9..=0xdb) => {
                let size = 1 << ((kind - 0xc4) % 21);
                (1 + size, number(start + 1, size), 0)
            }
            0xcc | 0xd0 => (1, 1, 0),
            0xcd | 0xd1 => (1, 2, 0),
            0xca | 0xce | 0xd2 => (1, 4, 0),
            0xcb | 0xcf | 0xd3 => (1, 8, 0),
            kind @ (0xdc | 0xdd) => {
                let size = if kind == 0xdc { 2 } else { 4 };
                (1 + size, 0, number(start + 1, size))
            }
            kind @ (0xde | 0xdf) => {
                let size = if kind == 0xde { 2 } else { 4 };
                (1 + size, 0, 2 * number(start + 1, size))
            }
            _ => (1, 0, 0),
        };
        let mut end = start + content + length;
        for _ in 0..children {
            end = walk(bytes, end, found);
        }
        found[index].end = end;
        end
    }
    let mut found = Vec::new();
    assert_eq!(walk(bytes, 0, &mut found), bytes.len());
    found
}

/// `part` with one of its values replaced, removed or moved, or with other bytes.
fn mutated(part: &[u8], values: &[Range<usize>], random: &mut Random) -> Vec<u8> {
    let one = values[random.below(values.len())].clone();
    let other = values[random.below(values.len())].clone();
    let put = |bytes: &[u8]| [&part[..one.start], bytes, &part[one.end..]].concat();
    let mut changed = part.to_vec();
    match random.below(8) {
        0 => changed.truncate(random.below(part.len())),
        1 => changed[random.below(part.len())] ^= 1 << random.below(8),
        2 => changed[random.below(part.len())] = random.below(256) as u8,
        3 => changed = put(&part[other]),
        4 => changed = put(&[0xcf, 255, 255, 255, 255, 255, 255, 255, 255]),
        5 => changed = put(&[0xd3, 128, 0, 0, 0, 0, 0, 0, random.below(3) as u8]),
        6 => changed = put(&[random.below(4) as u8]),
        _ => changed = put(&[[0x80, 0x90, 0xa0, 0xc0][random.below(4)]]),
    }
    changed
}

#[test]
fn a_damaged_tally_is_refused_by_name_and_nothing_panics() {
    let (dir, tally) = tally();
    let path = dir.path().join("damaged.tally");
    assert_eq!(refusal(&path, &tally.with(0, &tally.parts[0]), &"the whole tally"), None);
    let cases = std::env::var("DAMAGED_TALLIES").ok().and_then(|cases| cases.parse().ok());
    let cases: usize = cases.unwrap_or(1_500);
    let (mut random, mut refused) = (Random::new(), 0);
    for (part, content) in tally.parts.iter().enumerate() {
        let values = values(content);
        for case in 0..cases {
            let changed = mutated(content, &values, &mut random);
            let mut message = None;
            let bytes = tally.with(part, &changed);
            let info = measure(|| message = refusal(&path, &bytes, &(part, case)));
            assert!(info.bytes_max < LIMIT as u64 + BESIDE, "{part}, {case}: {}", info.bytes_max);
            refused += usize::from(message.is_some());
        }
    }
    assert!(refused > cases, "{refused} of {} refused", 2 * cases);
}

/// Each list of a tally a million times as long: many are refused for the memory that they would
/// take, which is not taken.
#[test]
fn no_list_of_a_tally_fills_the_memory() {
    const TIMES: u32 = 1 << 20;
    let (dir, tally) = tally();
    let path = dir.path().join("bomb.tally");
    let mut too_large = 0;
    for (part, content) in tally.parts.iter().enumerate() {
        let values = values(content);
        let mut seen = Vec::new();
        for (at, list) in values.iter().enumerate() {
            let (kind, is_map) = match content[list.start] {
                0x81..=0x8f | 0xde | 0xdf => (0xdf, true),
                0x91..=0x9f | 0xdc | 0xdd => (0xdd, false),
                _ => continue,
            };
            let first = &values[at + 1];
            let end = if is_map {
                values.iter().find(|value| value.start == first.end).unwrap().end
            } else {
                first.end
            };
            let element = &content[first.start..end];
            // The same fields of many rows.
            let name = element[..element.len().min(12)].to_vec();
            if element.len() > 64 || seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let mut changed = content[..list.start].to_vec();
            changed.push(kind);
            changed.extend(TIMES.to_be_bytes());
            changed.extend(element.repeat(TIMES as usize));
            changed.extend(&content[list.end..]);
            let bytes = tally.with(part, &changed);
            drop(changed);
            let mut message = None;
            let info = measure(|| message = refusal(&path, &bytes, &(part, list)));
            let shown = element.escape_ascii();
            assert!(
                info.bytes_max < LIMIT as u64 + BESIDE + bytes.len() as u64,
                "{part}, {list:?} {shown}: {} bytes, {message:?}",
                info.bytes_max
            );
            too_large += usize::from(message.is_some_and(|why| why.contains(" of memory")));
        }
    }
    assert!(too_large > 10, "{too_large}");
}

/// Rows of a kilobyte each, which take a few bytes in the file.
#[test]
fn a_small_tally_of_many_rows_is_refused_with_the_limit() {
    let (dir, tally) = tally();
    let counts = &tally.parts[1];
    let found = counts.windows(5).position(|bytes| bytes == b"\xa4rows").unwrap() + 5;
    let values = values(counts);
    let rows = values.iter().find(|value| value.start == found).unwrap();
    let actor = &values[values.iter().position(|value| value.start == found).unwrap() + 2];
    let empty_row = [&[0x92], &counts[actor.clone()], &[0x80]].concat();
    let many = (4u32 << 20).to_be_bytes();
    let repeated = empty_row.repeat(4 << 20);
    let bomb = [&counts[..found], &[0xdd], &many, &repeated[..], &counts[rows.end..]].concat();
    let bytes = tally.with(1, &bomb);
    assert!(bytes.len() < 64 << 10, "{}", bytes.len());
    fs::write(dir.path().join("bomb.tally"), &bytes).unwrap();
    for (command, limit) in [
        ("report --format text bomb.tally", "2GiB"),
        ("merge --memory 100MiB -o sum.tally bomb.tally", "100MiB"),
        ("deny --memory 100MiB --for nginx bomb.tally", "100MiB"),
        (
            "evidence --memory 100MiB --crawler GPTBot --origin https://a.example -o x bomb.tally",
            "100MiB",
        ),
    ] {
        let (code, message) = botaudit(dir.path(), command);
        let expected = format!(
            "error: bomb.tally: takes more than {limit} of memory, the limit; if you know who made \
             it, allow more with --memory "
        );
        assert_eq!((code, message.starts_with(&expected)), (Some(2), true), "{command}: {message}");
    }
    assert!(!dir.path().join("sum.tally").exists());
}

/// Numbers that no other number of the tally explains.
#[test]
fn a_tally_that_contradicts_itself_is_damaged() {
    let (dir, tally) = tally();
    let path = dir.path().join("odd.tally");
    // A request more in the row than lines were read.
    let counts = &tally.parts[1];
    let named = |name: &[u8]| counts.windows(name.len()).position(|bytes| bytes == name).unwrap();
    let at = named(b"\xa7crawler") + 8;
    let value = values(counts).into_iter().find(|value| value.start == at).unwrap();
    let changed = [&counts[..at], &[7], &counts[value.end..]].concat();
    let message = refusal(&path, &tally.with(1, &changed), &"lines").unwrap();
    assert!(message.contains(DAMAGED), "{message}");
    let (code, printed) = botaudit(dir.path(), "merge -o sum.tally all.tally odd.tally");
    assert!(code == Some(2) && printed.contains("odd.tally"), "{printed}");
    // Of several tallies, the one that contradicts itself is named; else they do not fit together.
    let limits = TallyLimits::default();
    let all = dir.path().join("all.tally");
    let found = || {
        let odd = merge_files(std::slice::from_ref(&path), limits).unwrap();
        ReportModel::new(odd).map(drop).unwrap_err()
    };
    let of = |paths: &[&PathBuf]| {
        let paths: Vec<PathBuf> = paths.iter().map(|path| (*path).clone()).collect();
        name_damaged(found(), &paths, limits).to_string()
    };
    for (message, name, why) in [
        (of(&[&path]), "odd.tally", DAMAGED),
        (of(&[&all]), "all.tally", DAMAGED),
        (of(&[&all, &path]), "odd.tally", DAMAGED),
        (of(&[&path, &all]), "odd.tally", DAMAGED),
        (of(&[&all, &all]), "all.tally", "cannot be merged with the other tallies"),
    ] {
        assert!(message.contains(name) && message.contains(why), "{message}");
    }
}

/// An endless file that is no tally, and a pipe without an end, are refused soon.
#[cfg(unix)]
#[test]
fn an_endless_file_is_refused() {
    let (dir, _) = tally();
    for (command, expected) in [
        ("report --format text /dev/zero", "/dev/zero: is not a tally"),
        ("merge -o sum.tally /dev/zero", "/dev/zero: is not a tally"),
        ("deny --for nginx /dev/zero", "/dev/zero: is not a tally"),
        (
            "audit --robots db --collected /dev/zero --infer-outages access.log",
            "/dev/zero: is not a file of audit --collect",
        ),
        (
            "evidence --crawler GPTBot --origin https://a.example --requests-file /dev/zero -o \
             folder all.tally",
            "/dev/zero: ",
        ),
    ] {
        let begun = std::time::Instant::now();
        let (code, message) = botaudit(dir.path(), command);
        assert!(code == Some(2) && message.contains(expected), "{command}: {code:?} {message}");
        assert!(begun.elapsed().as_secs() < 60, "{command}");
    }
}
