use super::*;
use crate::random::Random;
use crate::time::Zone;

#[track_caller]
fn check(text: &str, expected: Option<&str>) {
    let found = parse(text.as_bytes()).map(|time| time.to_string());
    assert_eq!(found.as_deref(), expected, "{text}");
}

#[test]
fn common_log_format() {
    check("17/Apr/2025:05:10:56 +0100", Some("2025-04-17T04:10:56Z"));
    check("29/feb/2024:00:00:00 +0000", Some("2024-02-29T00:00:00Z"));
    check("31/DEC/2023:23:59:60 -0330", Some("2024-01-01T03:29:59Z"));
    check("01/Jan/2025:00:00:00 +1400", Some("2024-12-31T10:00:00Z"));
    check("01/Jan/0000:00:00:00 +0000", Some("0000-01-01T00:00:00Z"));
}

#[test]
fn no_time_of_the_calendar() {
    for text in [
        "",
        "-",
        "29/Feb/2025:00:00:00 +0000",
        "00/Apr/2025:00:00:00 +0000",
        "17/Foo/2025:00:00:00 +0000",
        "17/Apr/2025:24:00:00 +0000",
        "17/Apr/2025:00:60:00 +0000",
        "17/Apr/2025:00:00:61 +0000",
        "17/Apr/2025:00:00:00 +9900",
        "17/Apr/2025:00:00:00 +0160",
        "17/Apr/2025:00:00:00 00000",
        "17/Apr/2025:00:00:00",
        "17/Apr/2025 00:00:00 +0000",
        "+7/Apr/2025:00:00:00 +0000",
        "November 23, 2021T00:18:22 +0000",
    ] {
        check(text, None);
    }
}

#[test]
fn rfc3339() {
    check("2025-04-17T05:10:56+01:00", Some("2025-04-17T04:10:56Z"));
    check("2025-04-17T05:10:56.999Z", Some("2025-04-17T05:10:56Z"));
    check("2025-04-17 05:10:56+0100", Some("2025-04-17T04:10:56Z"));
    check("2026-01-01T00:00:00+0000", Some("2026-01-01T00:00:00Z"));
    check("2025-04-17T05:10:56", None);
    check(&format!("2025-04-17T05:10:56.{}Z", "0".repeat(1000)), None);
}

#[test]
fn counts_since_the_epoch() {
    for text in [
        "1744863056",
        "1744863056.999",
        "1744863056999",
        "1744863056999.5",
        "1744863056999999",
        "1744863056999999999",
    ] {
        check(text, Some("2025-04-17T04:10:56Z"));
    }
    check("0", Some("1970-01-01T00:00:00Z"));
    for text in [".5", "1744863056.x", "-5", "99999999999999999999", "1744863056 "] {
        check(text, None);
    }
}

#[test]
fn times_of_another_zone() {
    let berlin = Zone::named("Europe/Berlin").unwrap();
    let check = |time: Time<'_>, expected: Option<&str>| {
        let found = time.read().map(|time| time.to_string());
        assert_eq!(found.as_deref(), expected, "{time:?}");
    };
    let expected = Some("2025-04-17T03:10:56Z");
    check(Time::Local(b"17/Apr/2025:05:10:56.123", &berlin), expected);
    check(Time::Local(b"17/Apr/2025:05:10:56", &berlin), expected);
    check(Time::Local(b"2025-04-17 05:10:56", &berlin), expected);
    check(Time::Columns(b"2025-04-17", b"05:10:56", &berlin), expected);
    check(Time::Columns(b"2025-04-17", b"05:10:56.5", &berlin), expected);
    check(Time::Local(b"17/Apr/2025:05:10:56.123 +0000", &berlin), Some("2025-04-17T05:10:56Z"));
    check(Time::Local(b"2025-04-17T05:10:56Z", &berlin), Some("2025-04-17T05:10:56Z"));
    check(Time::Local(b"17/Apr/2025:05:10:56 x", &berlin), None);
    check(Time::Columns(b"2025-04-17", b"", &berlin), None);
    check(Time::Columns(b"-", b"-", &berlin), None);
    check(Time::Columns(&[b'1'; 99], &[b'1'; 99], &berlin), None);
}

/// Times of usual forms, others of the same lengths, and damaged ones, in any order.
#[test]
fn a_time_is_of_the_last_minute_if_nothing_but_the_second_differs() {
    let forms = [
        "17/Apr/2025:05:1M:SS +0100",
        "17/Apr/2025:05:1M:SS +0200",
        "2025-04-17T05:1M:SS+01:00",
        "2025-04-17T05:1M:SSZ",
        "2025-04-17 05:1M:SS.123456",
        "7/Apr/2025:05:1M:SS +0100",
        "Thu Apr 17 05:1M:SS 2025 ",
        "2025-04-17T05:1M:SS",
    ];
    let (mut random, mut minute) = (Random::new(), LastMinute::default());
    let (mut last, mut same) = (None, 0);
    for _ in 0..20_000 {
        let usual_or_all = [3, forms.len()][random.below(2)];
        let form = forms[random.below(usual_or_all)];
        let form = form.replace('M', ["2", "3"][random.below(2)]);
        let text = form.replace("SS", ["00", "07", "59", "60", "x1"][random.below(5)]);
        let has_minute = second_of_form(text.as_bytes()).is_some();
        let is_last = last.as_ref() == Some(&form);
        let is_same = minute.is_of(Time::Text(text.as_bytes()));
        assert_eq!(is_same, has_minute && is_last, "{last:?} {text}");
        same += u32::from(is_same);
        if !is_last {
            last = has_minute.then_some(form);
        }
    }
    assert!(same > 400, "{same}");
}

#[test]
fn a_clock_reads_what_was_written() {
    let mut clock = Clock::default();
    for text in [
        "17/Apr/2025:05:10:56 +0100",
        "17/Apr/2025:05:10:59 +0100",
        "17/Apr/2025:05:10:60 +0100",
        "17/Apr/2025:05:10:61 +0100",
        "17/Apr/2025:05:10:7x +0100",
        "17/Apr/2025:05:10:00 +0000",
        "17/Apr/2025:05:11:00 +0000",
        "17/Apr/2025:05:11:00.5 +0000",
        "31/Feb/2025:05:11:00 +0000",
        "31/Feb/2025:05:11:01 +0000",
        "17/Apr/2025:05:11:01 +0000",
        "2025-04-17T05:11:01+00:00x",
        "2025-04-17T05:11:02.0+0000",
        "2025-04-17T05:11:02.0+00:0",
        "2025-04-17T05:11:02+01:00",
        "2025-04-17T05:11:59+01:00",
        "2025-04-17T05:11:60+01:00",
        "2025-04-17T05:11:7x+01:00",
        "2025-04-17T05:11:03+01:30",
        "2025-04-17T05:11:03+01300",
        "2025-04-17T05:11:03.1234Z",
        "2025-04-17T05:11:04.1234Z",
        "2025-04-17T05:11:04.123456",
        "2025-04-17T05:12:04Z",
        "2025-04-17T05:12:05Z",
        "2025-04-17T05:12:05z",
        "2025-04-17T05:12:05 ",
        "2025-04-17T05:12:06Z\0",
        "2025-04-17T05:12+01:02:03",
        "2025-04-17T05:12+01:02:04",
        "2025-02-30T05:12:05Z",
        "2025-02-30T05:12:06Z",
        "1744863056",
    ] {
        let zone = Zone::named("Europe/Berlin").unwrap();
        for time in [Time::Text(text.as_bytes()), Time::Local(text.as_bytes(), &zone)] {
            assert_eq!(clock.read(time), time.read(), "{text}");
        }
        if let Ok(usual) = text.as_bytes().try_into() {
            assert_eq!(clock.read_text(usual), Time::Text(usual).read(), "{text}");
        }
    }
}
