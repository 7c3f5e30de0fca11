//! How fast are bytes made into records? Each stage alone, on one thread, on a
//! generated log in memory: inflating, cutting into chunks, finding the user agent of
//! each line, reading each line in full.
//!
//! `cargo bench --bench parse` prints CSV; the answers are checked first.

use std::io::{Cursor, Write};
use std::{hint::black_box, sync::Arc, time::Instant};

use botaudit::input::{chunks::Chunks, lines::lines, open::Opened, source::FileId};
use botaudit::logs::LineContent;
use botaudit::logs::detect::{detect, named};
use botaudit::logs::format::Format;
use botaudit::logs::format::Hints;
use botaudit::logs::record::Scratch;
use botaudit::logs::registry::{BuiltinFormat, ENTRIES};
use botaudit::logs::reject::Limitation;
use flate2::{Compression, write::GzEncoder};

const LINES: u64 = 200_000;
const RUNS: usize = 7;
const CHUNK_BYTES: usize = 1 << 20;

fn main() {
    let format = |name| named(name, &Hints::default()).expect("it is built in");
    let (combined, vhost_combined) = (format("combined"), format("vhost_combined"));
    let text = log(&combined);
    let vhost = log(&vhost_combined);
    let gz = gzip(&text);
    let size = text.len() as u64;

    println!("stage,unit,value");
    time("inflate", size, &|| inflate(&gz), size);
    time("chunk", size, &|| chunk(&text), LINES);
    time("inflate_and_chunk", size, &|| chunk(&gz), LINES);
    time("lines", size, &|| lines(&text).count() as u64, LINES);
    let user_agents = user_agent_bytes(&text, &combined);
    assert!(user_agents > LINES * 20, "every line has a user agent");
    for (format, text) in [(&combined, &text), (&vhost_combined, &vhost)] {
        time_format(format, text, user_agents);
    }
    let others =
        |entry: &&BuiltinFormat| ![combined.name(), vhost_combined.name()].contains(&entry.name);
    for entry in ENTRIES.iter().filter(others) {
        let text = log_like(entry);
        let format = detect(lines(&text), &Hints::default()).format.expect("the bench made it");
        assert_eq!(format.name(), entry.name);
        let has_user_agent = !format.limitations().contains(&Limitation::NoUserAgent);
        let length = first_user_agent_bytes(&text, &format, has_user_agent);
        time_format(&format, &text, length * LINES);
    }
}

fn time_format(format: &Format, text: &Arc<[u8]>, user_agents: u64) {
    let (name, size) = (format.name(), text.len() as u64);
    time(&format!("user_agent_{name}"), size, &|| user_agent_bytes(text, format), user_agents);
    time(&format!("record_{name}"), size, &|| records(text, format), LINES);
}

const USER_AGENT: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36";

/// The format's own sample over and over, with paths, addresses and a user agent of the usual
/// length.
fn log_like(entry: &BuiltinFormat) -> Arc<[u8]> {
    let (head, record) = entry.sample.rsplit_once('\n').unwrap_or(("", entry.sample));
    let user_agent = match entry.name {
        "w3c" => USER_AGENT.replace(' ', "+"),
        "cloudfront" => USER_AGENT.replace(' ', "%20"),
        _ => USER_AGENT.to_owned(),
    };
    let record = record.replace("Examplebot/1.2", &user_agent);
    let (before, after) = record.split_once("/music/").expect("each sample asks for it");
    let mut text = head.as_bytes().to_vec();
    if !head.is_empty() {
        text.push(b'\n');
    }
    for line in 0..LINES {
        let (shelf, item) = (line * 7 % 50, line * 31 % 3000);
        writeln!(text, "{before}/catalogue/{shelf}/item-{item}{after}").expect("memory takes all");
    }
    text.into()
}

/// Prints the best of some runs; each must give `expected`.
fn time(stage: &str, bytes: u64, run: &dyn Fn() -> u64, expected: u64) {
    assert_eq!(run(), expected, "{stage}");
    let seconds = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            assert_eq!(black_box(run()), expected, "{stage}");
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    println!("{stage},mebibytes_per_second,{:.0}", bytes as f64 / seconds / f64::from(1 << 20));
    println!("{stage},nanoseconds_per_line,{:.1}", seconds * 1e9 / LINES as f64);
}

fn open(bytes: &Arc<[u8]>) -> Opened {
    Opened::new(Box::new(Cursor::new(Arc::clone(bytes))), None, &Default::default())
}

fn inflate(gz: &Arc<[u8]>) -> u64 {
    let (mut opened, mut buffer, mut total) = (open(gz), vec![0; CHUNK_BYTES], 0);
    loop {
        match opened.read(&mut buffer).expect("the bench made it") {
            0 => return total,
            count => total += count as u64,
        }
    }
}

fn chunk(bytes: &Arc<[u8]>) -> u64 {
    let mut chunks = Chunks::new(FileId::from_index(0), open(bytes), CHUNK_BYTES);
    let mut buffer = Vec::new();
    while let Some(chunk) = chunks.next_chunk(buffer) {
        buffer = chunk.bytes;
    }
    chunks.ending().lines
}

fn user_agent_bytes(text: &[u8], format: &Format) -> u64 {
    let (mut scratch, mut reader) = (Scratch::default(), format.reader());
    let length = |line| match reader.line(line) {
        LineContent::Fields(fields) => fields.user_agent(&mut scratch).len() as u64,
        _ => 0,
    };
    lines(text).map(length).sum()
}

/// Of all lines, as they have the same; some samples put more around it.
fn first_user_agent_bytes(text: &[u8], format: &Format, is_there: bool) -> u64 {
    let (mut scratch, mut reader) = (Scratch::default(), format.reader());
    let first = lines(text).find_map(|line| match reader.line(line) {
        LineContent::Fields(fields) => Some(fields.user_agent(&mut scratch).to_vec()),
        _ => None,
    });
    let user_agent = String::from_utf8(first.expect("there are records")).expect("it is ASCII");
    assert!(if is_there { user_agent.contains(USER_AGENT) } else { user_agent == "-" });
    user_agent.len() as u64
}

fn records(text: &[u8], format: &Format) -> u64 {
    let (mut scratch, mut reader) = (Scratch::default(), format.reader());
    let is_record = |line: &&[u8]| match reader.line(line) {
        LineContent::Fields(fields) => black_box(fields.record(&mut scratch)).is_ok(),
        _ => false,
    };
    lines(text).filter(is_record).count() as u64
}

fn gzip(text: &[u8]) -> Arc<[u8]> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect("memory takes all");
    encoder.finish().expect("memory takes all").into()
}

/// A log that varies enough not to flatter the inflater.
fn log(format: &Format) -> Arc<[u8]> {
    const USER_AGENTS: [&str; 4] = [
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (compatible; Examplebot/2.1; +https://example.com/bot.html)",
        "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
    ];
    let mut text = Vec::new();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for line in 0..LINES {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let random = |modulus: u64, shift: u32| (state >> shift) % modulus;
        if format.name() == "vhost_combined" {
            write!(text, "www{}.example.com:443 ", random(200, 8)).expect("memory takes all");
        }
        let (hour, minute, second) = (line / 3600 % 24, line / 60 % 60, line % 60);
        writeln!(
            text,
            "192.0.{}.{} - - [17/Apr/2025:{hour:02}:{minute:02}:{second:02} +0100] \"GET /catalogue/{}/item-{}?page={} HTTP/1.1\" 200 {} \"https://www.example.com/catalogue/{}/\" \"{}\"",
            random(256, 3),
            random(256, 11),
            random(50, 17),
            random(3000, 23),
            random(9, 31),
            random(60_000, 37),
            random(50, 41),
            USER_AGENTS[random(4, 47) as usize],
        )
        .expect("memory takes all");
    }
    text.into()
}
