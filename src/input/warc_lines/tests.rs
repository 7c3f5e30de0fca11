//! Records as lines, however the file is cut.

use super::*;

const DATE: &str = "2025-04-17T05:10:56Z";

fn record(kind: &str, url: &str, block: &str) -> String {
    let length = block.len();
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {DATE}\r\n\
         Content-Length: {length}\r\n\r\n{block}\r\n\r\n"
    )
}

fn request(url: &str) -> String {
    record("request", url, "GET / HTTP/1.1\r\nUser-Agent: A/1\r\n\r\n")
}

fn answer(url: &str, body: &str) -> String {
    record("response", url, &format!("HTTP/1.1 200 OK\r\nA: b\r\n\r\n{body}"))
}

/// The text of `file`, read `step` bytes at a time.
fn read(file: &str, step: usize) -> String {
    let (mut lines, mut out) = (WarcLines::default(), Vec::new());
    file.as_bytes().chunks(step).for_each(|bytes| lines.add(bytes, &mut out));
    lines.end(true, &mut out);
    String::from_utf8(out).unwrap()
}

/// The lines of `file`, which are the same however it is cut.
fn lines(file: &str) -> Vec<String> {
    let whole = read(file, usize::MAX);
    for step in [1, 2, 3, 7, 100, 1000] {
        assert_eq!(read(file, step), whole, "{step}");
    }
    whole.lines().map(str::to_owned).collect()
}

const URL: &str = "https://a.example/";

#[test]
fn a_request_and_its_answer_are_one_line() {
    let pair = r#"- 20250417051056 {"url":"https://a.example/","status":"200","method":"GET","user_agent":"A/1","bytes":"5","offset":"0"}"#;
    let (request, answer) = (request(URL), answer(URL, "hello"));
    assert_eq!(lines(&[&*request, &answer].concat()), [pair, ""]);
    assert_eq!(lines(&[&*answer, &request].concat()), [pair, ""]);
    let other = record("metadata", URL, "a: b\r\n");
    assert_eq!(lines(&[&*request, &other, &answer, &other].concat()), [pair, "", "", ""]);
    // Each is a record, so the second one is in the third line.
    let found = lines(&[&*request, &answer, &request, &answer].concat());
    let at = request.len() + answer.len();
    let second = pair.replace("\"offset\":\"0\"", &format!("\"offset\":\"{at}\""));
    assert_eq!(found, [pair, "", &second, ""]);
}

#[test]
fn halves_stand_alone() {
    let alone = lines(&[request(URL), answer("https://b.example/", "")].concat());
    assert!(alone[0].ends_with(
        r#"{"url":"https://a.example/","method":"GET","user_agent":"A/1","offset":"0"}"#
    ));
    assert!(alone[1].contains(r#"{"url":"https://b.example/","status":"200","bytes":"0","#));
    let crawl = record("warcinfo", "x", "software: x\r\nhttp-header-user-agent: Lab/2 \u{e9}\r\n");
    let named = lines(&[crawl, answer(URL, ""), answer(URL, "")].concat());
    assert_eq!(named.len(), 3);
    assert!(named[0].is_empty() && named[1].contains("\"user_agent\":\"Lab/2 \u{e9}\""));
    // A crawl that does not name its user agent does not have that of the crawl before it.
    let other = record("warcinfo", "x", "software: y\r\n");
    let crawl = record("warcinfo", "x", "http-header-user-agent: Lab/2\r\n");
    let two = lines(&[&*crawl, &answer(URL, ""), &other, &answer(URL, "")].concat());
    assert!(two[1].contains("Lab/2") && !two[3].contains("user_agent"), "{two:?}");
    let between = record("metadata", URL, "a").repeat(1000);
    let far = lines(&[request(URL), between, answer(URL, "")].concat());
    assert_eq!(far.len(), 1002);
    assert!(!far[0].contains("status") && far[1001].contains("status"));
    let revisit = record("revisit", "<http://a.example/\"\n>", "HTTP/1.0 304 x\r\n\r\n");
    assert!(lines(&revisit)[0].is_empty(), "a URL of two lines is cut");
}

#[test]
fn other_protocols_and_records_are_blank() {
    let dns = record("response", "dns:a.example", "20250417\r\na.example. 1 IN A 192.0.2.1\r\n");
    assert_eq!(lines(&[dns, record("conversion", URL, "text")].concat()), ["", ""]);
}

#[test]
fn blocks_may_contain_anything() {
    let body = format!("WARC/1.0\r\n\r\n{}", "x".repeat(200_000));
    let found = lines(&[answer(URL, &body), request("https://b.example/")].concat());
    assert!(found[0].contains(&format!("\"bytes\":\"{}\"", body.len())), "{found:?}");
    assert!(found[1].contains("b.example"), "{found:?}");
    let no_http = record("response", URL, "");
    assert!(lines(&no_http)[0].ends_with(r#"{"url":"https://a.example/","offset":"0"}"#));
}

#[test]
fn what_is_no_record_is_one_line() {
    let lost = "WARC record that cannot be read";
    let good = request(URL);
    let found = lines(&format!("{good}nonsense\nmore\n\n{good}"));
    assert_eq!((found.len(), &*found[1]), (3, lost));
    let without = good.replace("Content-Length", "Length");
    let found = lines(&format!("{without}{good}"));
    assert_eq!((&*found[0], found.len()), (lost, 2), "{found:?}");
    let endless = format!("WARC/1.0\r\nA: {}", "x".repeat(2 * HEAD_BYTES_MAX));
    assert_eq!(read(&endless, 64 << 10), format!("{lost}\n"));
    let in_head = &good[..60];
    let found = lines(&format!("{in_head}\u{0}\n{good}"));
    assert_eq!((found.len(), &*found[0]), (2, lost), "{found:?}");
    assert!(found[1].contains("a.example"));
    let found = lines(&format!("{in_head}{good}{good}"));
    assert_eq!((found.len(), &*found[0]), (2, lost), "{found:?}");
    let cut = &good[..good.len() - 20];
    let found = lines(cut);
    assert!(found[0].contains("a.example"), "{found:?}");
    assert_eq!(found[1..], ["WARC record that is cut off"]);
    assert_eq!(lines("WARC/"), [lost]);
    assert_eq!(lines("WARC/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n"), [lost]);
}

/// Text that looks like the start of a record again and again costs no more than other text.
#[test]
fn false_starts_take_little_time() {
    let good = request(URL);
    for start in ["WARC/", "WARC/\n", "WARC/1.0\r\nA: WARC/\r\n"] {
        let file = start.repeat((4 << 20) / start.len());
        let text = read(&format!("{file}\r\n\r\n{good}"), 64 << 10);
        assert_eq!(text.lines().count(), 2, "{start}");
        assert!(text.contains("a.example"), "{start}: {text}");
    }
}

#[test]
fn times_are_digits() {
    assert_eq!(time(b"2025-04-17T05:10:56.123456Z"), "20250417051056");
    assert_eq!(time(b"2025-04-17T05:10:56+01:00"), "2025-04-17T05:10:56+01:00");
    assert_eq!(time(b"17 April"), "17_April");
    assert_eq!(time(b""), "");
}

#[test]
fn random_bytes_never_end_in_a_panic() {
    let mut random = crate::random::Random::new();
    let parts = [
        "WARC/1.0\r\n",
        "WARC",
        "\r\n\r\n",
        "Content-Length: 7\r\n",
        "WARC-Type: response\r\n",
        "WARC-Target-URI: http://a\r\n",
        "x",
        "\n",
    ];
    for _ in 0..2_000 {
        let file: String =
            (0..random.below(40)).map(|_| parts[random.below(parts.len())]).collect();
        lines(&file);
    }
}
