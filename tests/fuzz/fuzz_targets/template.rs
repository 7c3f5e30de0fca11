//! The first line is the log format of a server, the others are lines of its log.

#![no_main]

use botaudit::input::lines::lines;
use botaudit::logs::format::Hints;
use botaudit::logs::own_format::parse;
use botaudit::logs::{LineContent, record::Scratch};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (text, log) = data.split_at(memchr::memchr(b'\n', data).map_or(data.len(), |lf| lf + 1));
    let Ok(format) = parse(&String::from_utf8_lossy(text), &Hints::default()) else { return };
    let mut reader = format.reader();
    let mut scratch = Scratch::default();
    for line in lines(log).take(32) {
        if let LineContent::Fields(fields) = reader.line(line) {
            let user_agent = fields.user_agent(&mut scratch).to_vec();
            if let Ok(record) = fields.record(&mut scratch) {
                assert_eq!(record.user_agent, user_agent, "both steps say the same");
                assert!(record.status <= 999 && !record.method.is_empty());
            }
        }
    }
});
