//! Any bytes are a log: every format reads or rejects each line, and what it
//! reads are slices of that line.

#![no_main]

use botaudit::input::lines::lines;
use botaudit::logs::detect::detect;
use botaudit::logs::record::{Fields, Record, Scratch};
use botaudit::logs::reject::{Reject, Skip};
use botaudit::logs::{Line, LogFormat};
use botaudit::time::{UtcTime, Zone};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    check_detection(data);
    let mut scratch = Scratch::default();
    for line in lines(data).take(32) {
        for format in LogFormat::ALL {
            check_line(format, line, &mut scratch);
        }
    }
});

fn check_detection(data: &[u8]) {
    let detection = detect(lines(data));
    assert!(detection.lines_parsed <= detection.lines_tried && detection.lines_tried <= 100);
    assert_eq!(detection.format.is_some(), detection.lines_parsed > 0);
    if let Some(format) = detection.format {
        let is_read = |line: &&[u8]| matches!(format.line(line), Line::Fields(_));
        assert!(lines(data).filter(is_read).count() >= detection.lines_parsed);
    }
}

fn check_line(format: LogFormat, line: &[u8], scratch: &mut Scratch) {
    match format.line(line) {
        Line::Skip(skip) => match skip {
            Skip::Blank => assert!(line.trim_ascii().is_empty()),
            Skip::Comment => assert!(line.starts_with(b"#")),
            Skip::Partial => panic!("only damage cuts lines"),
        },
        Line::Reject(reject) => {
            use Reject::{NoClient, NoRequest, NoTime, NoUserAgent};
            assert!([NoTime, NoClient, NoRequest, NoUserAgent].contains(&reject), "{reject:?}");
        }
        Line::Fields(fields) => check_fields(format, line, &fields, scratch),
    }
}

fn check_fields(format: LogFormat, line: &[u8], fields: &Fields<'_>, scratch: &mut Scratch) {
    let user_agent = fields.user_agent(scratch).to_vec();
    assert!(format != LogFormat::Common || user_agent == b"-");
    // The scratch of the line before must not show.
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
    assert!(!record.client.is_empty() && is_within(line, record.client));
    assert!(!record.client.contains(&b' '));
    assert!(!record.method.is_empty() && !record.method.contains(&b' '));
    assert_eq!(record.target.is_none(), record.method == b"-");
    assert!(record.target.is_none_or(|target| !target.is_empty() && target.len() <= line.len()));
    assert!(record.user_agent.len() <= line.len());
    if let Some(host) = record.host {
        assert!(is_within(line, host) && !host.contains(&b' '));
    }
    assert!(record.host.is_some() || record.port.is_none());
    check_time(record.time);
}

fn is_within(line: &[u8], part: &[u8]) -> bool {
    line.as_ptr_range().contains(&part.as_ptr())
}

/// Times print what they are, and days do not part at the wrong second.
fn check_time(time: UtcTime) {
    let text = time.to_string();
    assert!(text.ends_with('Z'));
    let day = Zone::UTC.day_of(time).to_string();
    assert_eq!(text.split('T').next(), Some(&*day));
    if let Some(zone) = Zone::named("Pacific/Kiritimati") {
        assert!(!zone.day_of(time).to_string().is_empty());
    }
}
