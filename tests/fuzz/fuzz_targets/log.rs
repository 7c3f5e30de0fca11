//! Any bytes are a log: every format reads or rejects each line, and the fields are slices of that
//! line.

#![no_main]

use botaudit::input::lines::lines;
use botaudit::logs::detect::{detect, named};
use botaudit::logs::record::{Fields, Record, Scratch};
use botaudit::logs::reject::{Reject, Skip};
use botaudit::logs::LineContent;
use botaudit::logs::format::{Format, Hints};
use botaudit::logs::registry::ENTRIES;
use botaudit::time::{UtcTime, Zone};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    check_detection(data);
    let mut scratch = Scratch::default();
    for line in lines(data).take(32) {
        for entry in ENTRIES {
            if let Some(format) = named(entry.name, &Hints::default()) {
                check_line(&format, line, &mut scratch);
            }
        }
    }
});

fn check_detection(data: &[u8]) {
    let detection = detect(lines(data), &Hints::default());
    assert!(detection.lines_parsed <= detection.lines_tried && detection.lines_tried <= 2_000);
    // A format without parsed lines is only accepted if the file declares its columns. Error logs
    // are recognised to be skipped.
    let is_declared = lines(data).any(|line| line.starts_with(b"#"));
    assert!(detection.format.is_some() || detection.lines_parsed == 0);
    let is_log = |format: &Format| format.name() != "error-log";
    let is_chosen = detection.format.as_ref().is_some_and(is_log);
    assert!(!is_chosen || detection.lines_parsed > 0 || is_declared);
    if let Some(format) = detection.format {
        let mut reader = format.reader();
        let is_read = |line: &&[u8]| matches!(reader.line(line), LineContent::Fields(_));
        // Detection joins the pieces of lines that these cut.
        let has_pieces = ["cri", "docker-json"].iter().any(|kind| format.name().contains(kind));
        assert!(has_pieces || lines(data).filter(is_read).count() >= detection.lines_parsed);
    }
}

fn check_line(format: &Format, line: &[u8], scratch: &mut Scratch) {
    match format.reader().line(line) {
        LineContent::Skip(skip) => match skip {
            Skip::Blank => assert!(line.trim_ascii().is_empty()),
            Skip::Comment => assert!(line.starts_with(b"#")),
            Skip::Partial => panic!("only damage cuts lines"),
            Skip::OutsideTime => panic!("the parser knows no stretch of time"),
            Skip::EnvelopePartial | Skip::Subrequest | Skip::NotAccess | Skip::Directive => {}
        },
        LineContent::Reject(reject) => {
            use Reject::{BadBytes, BadRequest, BadStatus, BadTime};
            assert!(![BadTime, BadRequest, BadStatus, BadBytes].contains(&reject), "{reject:?}");
        }
        LineContent::Fields(fields) => check_fields(format, line, &fields, scratch),
    }
}

fn check_fields(format: &Format, line: &[u8], fields: &Fields<'_>, scratch: &mut Scratch) {
    let user_agent = fields.user_agent(scratch).to_vec();
    assert!(format.name() != "common" || user_agent == b"-");
    // The scratch of the previous line must have no effect.
    let again = fields.record(&mut Scratch::default()).map(owned);
    match fields.record(scratch) {
        Err(reject) => {
            use Reject::{BadBytes, BadRequest, BadStatus, BadTime};
            assert!([BadTime, BadRequest, BadStatus, BadBytes].contains(&reject), "{reject:?}");
            assert_eq!(again, Err(reject));
        }
        Ok(record) => {
            check_record(line, &record);
            assert_eq!(record.user_agent, user_agent, "both steps say the same");
            assert_eq!(again, Ok(owned(record)));
        }
    }
}

type Owned = (UtcTime, Vec<u8>, Vec<u8>, Option<Vec<u8>>, u16, u64);

fn owned(record: Record<'_>) -> Owned {
    let Record { time, client, method, target, status, bytes, .. } = record;
    (time, client.to_vec(), method.to_vec(), target.map(<[u8]>::to_vec), status, bytes)
}

fn check_record(line: &[u8], record: &Record<'_>) {
    assert!(record.status <= 999);
    assert!(!record.client.is_empty());
    assert!(!record.method.is_empty() && !record.method.contains(&b' '));
    assert!(record.target.is_some() || record.method == b"-");
    assert!(record.target.is_none_or(|target| !target.is_empty() && target.len() <= line.len()));
    assert!(record.user_agent.len() <= line.len());
    check_time(record.time);
}

/// Times print their value, and days end at the right second.
fn check_time(time: UtcTime) {
    let text = time.to_string();
    assert!(text.ends_with('Z'));
    let day = Zone::UTC.day_of(time).to_string();
    assert_eq!(text.split('T').next(), Some(&*day));
    if let Some(zone) = Zone::named("Pacific/Kiritimati") {
        assert!(!zone.day_of(time).to_string().is_empty());
    }
}
