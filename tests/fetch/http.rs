//! One request, and all possible outcomes.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use botaudit::net::fetch::fetch;
use botaudit::net::outcome::FailureKind::{
    BadChunking, BadEncoding, Connect, Dns, Interrupted, InvalidResponse, Timeout,
};
use botaudit::net::outcome::FetchOutcome::{Failure, NotAsked, Status};
use botaudit::net::outcome::{FailureKind, FetchOutcome};
use botaudit::net::settings::{ROBOTS_BYTES_MAX, Reach, Settings, UserAgent};
use botaudit::url::origin::Origin;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::server::{PATIENCE, Server, deaf_port, hasty, listen, relaxed, response, send};

const RULES: &[u8] = b"User-agent: *\nDisallow: /private\n";

#[track_caller]
fn check(response: impl Into<Vec<u8>>, outcome: FetchOutcome, body: &[u8]) {
    let response = response.into();
    let shown = String::from_utf8_lossy(&response[..response.len().min(200)]).into_owned();
    let fetched = Server::saying(response).fetch();
    assert_eq!(fetched.outcome, outcome, "{shown}\n{}", fetched.note);
    assert!(fetched.body == body, "{shown}: {} bytes", fetched.body.len());
}

#[track_caller]
fn check_failure(response: impl Into<Vec<u8>>, kind: FailureKind) {
    check(response, Failure(kind), b"");
}

#[test]
fn a_success_gives_its_body() {
    for status in ["200 OK", "201 Created", "206 Partial Content", "299 Fine", "200"] {
        let code = status[..3].parse().unwrap();
        check(response(status, "", RULES), Status(code), RULES);
    }
    check("HTTP/1.1 204 No Content\r\n\r\n", Status(204), b"");
    check(response("200 OK", "", b""), Status(200), b"");
    // Without a length, the end of the connection is the end of the body.
    check([b"HTTP/1.1 200 OK\r\n\r\n", RULES].concat(), Status(200), RULES);
    check([b"HTTP/1.0 200 OK\r\n\r\n", RULES].concat(), Status(200), RULES);
    let early = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
    check([early.to_vec(), response("200 OK", "", RULES)].concat(), Status(200), RULES);
}

#[test]
fn a_refusal_is_its_status() {
    for status in [400, 401, 403, 404, 410, 429, 451, 500, 502, 503, 504, 599, 999] {
        check(response(&format!("{status} No"), "", b"nothing"), Status(status), b"");
    }
    for status in [300, 304, 305] {
        check(response(&format!("{status} Odd"), "Location: /x\r\n", b""), Status(status), b"");
    }
}

#[test]
fn asks_once_in_its_own_name() {
    let server = Server::saying(response("200 OK", "", RULES));
    let settings = Settings {
        user_agent: UserAgent::new("Example/1 (+https://example.com)").unwrap(),
        ..relaxed()
    };
    fetch(&server.origin(), &settings);
    let requests = server.requests.lock().unwrap();
    let [head] = requests.as_slice() else { panic!("{requests:?}") };
    let lower = head.to_ascii_lowercase();
    assert!(head.starts_with("GET /robots.txt HTTP/1.1\r\n"), "{head}");
    assert!(lower.contains(&format!("\r\nhost: 127.0.0.1:{}\r\n", server.port)), "{head}");
    assert!(lower.contains("\r\nuser-agent: example/1 (+https://example.com)\r\n"), "{head}");
    assert!(lower.contains("\r\nconnection: close\r\n"), "{head}");
    // Unconditional: an answer of 304 would have no body.
    assert!(!lower.contains("\r\nif-"), "{head}");
    assert!(!lower.contains("cookie"), "{head}");
}

#[test]
fn reads_how_long_a_copy_may_be_kept() {
    let age =
        |headers: &str| Server::saying(response("200 OK", headers, RULES)).fetch().max_age_seconds;
    assert_eq!(age(""), None);
    assert_eq!(age("Cache-Control: public, max-age=600\r\n"), Some(600));
    assert_eq!(age("cache-control: no-transform\r\nCACHE-CONTROL: Max-Age=5\r\n"), Some(5));
    assert_eq!(age("Cache-Control: max-age=soon\r\n"), None);
    let fetched = Server::saying(response("503 No", "Cache-Control: max-age=9\r\n", b"")).fetch();
    assert_eq!((fetched.outcome, fetched.max_age_seconds), (Status(503), Some(9)));
}

#[test]
fn reads_chunks() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check(format!("{head}5\r\nallow\r\n3;x=y\r\n: /\r\n0\r\n\r\n"), Status(200), b"allow: /");
    check(format!("{head}1\r\na\r\n0\r\nTrailer: x\r\n\r\n"), Status(200), b"a");
    for chunks in ["zz\r\nallow\r\n0\r\n\r\n", "5\r\nallow!!\r\n0\r\n\r\n", "-5\r\nallow\r\n"] {
        check_failure(format!("{head}{chunks}"), BadChunking);
    }
    check_failure(format!("{head}5\r\nall"), Interrupted);
    check_failure(format!("{head}5\r\nallow\r\n"), Interrupted);
    check_failure(format!("{head}ffffffffffffffff\r\nallow"), Interrupted);
}

#[test]
fn an_interrupted_body_is_no_body() {
    check_failure("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nUser-agent: *\n", Interrupted);
    check_failure("HTTP/1.1 200 OK\r\nContent-Le", Interrupted);
    check_failure("", Interrupted);
    for length in ["", "Content-Length: 1000\r\n", "Transfer-Encoding: chunked\r\n"] {
        let head = format!("HTTP/1.1 200 OK\r\n{length}\r\n5\r\nallow");
        // Closing with a part of the request unread resets the connection.
        let port = listen(move |mut stream| {
            stream.read_exact(&mut [0]).unwrap();
            send(&mut stream, head.as_bytes());
            thread::sleep(Duration::from_millis(50));
        });
        let origin = Origin::new(b"http", b"127.0.0.1", Some(port)).unwrap();
        let fetched = fetch(&origin, &relaxed());
        assert_eq!(fetched.outcome, Failure(Interrupted), "{length} {}", fetched.note);
        assert!(fetched.body.is_empty());
    }
}

#[test]
fn garbage_is_no_response() {
    for garbage in [
        "User-agent: *\nDisallow: /\n".to_owned(), // HTTP/0.9
        "220 ready\r\n".to_owned(),
        "SSH-2.0-OpenSSH_9.6\r\n\r\n".to_owned(),
        "HTTP/2.0 200 OK\r\n\r\n".to_owned(),
        "HTTP/1.1 abc OK\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nx".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx".to_owned(),
        "\0".repeat(5000),
        "a".repeat(200_000),
    ] {
        check_failure(garbage, InvalidResponse);
    }
}

#[test]
fn a_flood_of_headers_ends() {
    let mut many = "HTTP/1.1 200 OK\r\n".to_owned();
    (0..100_000).for_each(|n| write!(many, "X-{n}: y\r\n").unwrap());
    check_failure(many, InvalidResponse);
    check_failure(
        format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(1 << 20)),
        InvalidResponse,
    );
    let endless = Server::http(|_, stream| {
        send(stream, b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(b"X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n").is_ok() {}
    });
    assert_eq!(endless.fetch().outcome, Failure(InvalidResponse));
    let continues =
        Server::http(
            |_, stream| {
                while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_ok() {}
            },
        );
    let start = Instant::now();
    let outcome = fetch(&continues.origin(), &hasty()).outcome;
    assert!(matches!(outcome, Failure(Timeout | InvalidResponse)), "{outcome}");
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn a_slow_server_is_not_waited_for() {
    let drip = |pause: u64| {
        move |_: &str, stream: &mut TcpStream| {
            send(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n");
            while stream.write_all(b"#").is_ok() {
                thread::sleep(Duration::from_millis(pause));
            }
        }
    };
    let settings = Settings {
        read_timeout: Duration::from_millis(100),
        total_timeout: Duration::from_millis(400),
        ..hasty()
    };
    for server in [
        Server::http(drip(20)),  // each byte in time, all of them not
        Server::http(drip(300)), // one byte too late
        Server::http(|_, _| thread::sleep(2 * PATIENCE)),
    ] {
        let start = Instant::now();
        let fetched = fetch(&server.origin(), &settings);
        assert_eq!(fetched.outcome, Failure(Timeout), "{}", fetched.note);
        assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    }
}

#[test]
fn a_long_body_is_read_as_far_as_it_counts() {
    let exact = vec![b'#'; ROBOTS_BYTES_MAX - 1];
    check(response("200 OK", "", &exact), Status(200), &exact);
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let huge = Server::http(move |_, stream| {
        send(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
        while stream.write_all(&[b'#'; 65_536]).is_ok() {
            counted.fetch_add(65_536, Ordering::Relaxed);
        }
    });
    let fetched = huge.fetch();
    assert_eq!((fetched.outcome, fetched.body.len()), (Status(200), ROBOTS_BYTES_MAX));
    // The rest is what buffers of the system hold.
    let sent = sent.load(Ordering::Relaxed);
    assert!(sent < 64 << 20, "{sent}");
    // Text after the cut does not matter.
    let cut = ["HTTP/1.1 200 OK\r\nContent-Length: 600000\r\n\r\n", &"#".repeat(520_000)].concat();
    check(cut, Status(200), &vec![b'#'; ROBOTS_BYTES_MAX]);
}

#[test]
fn decodes_what_it_offered_and_no_bomb() {
    let gzip = |text: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let gzipped = "Content-Encoding: gzip\r\n";
    check(response("200 OK", gzipped, &gzip(RULES)), Status(200), RULES);
    let bomb = gzip(&vec![b'a'; 100 << 20]);
    check(response("200 OK", gzipped, &bomb), Status(200), &vec![b'a'; ROBOTS_BYTES_MAX]);
    check_failure(response("200 OK", gzipped, RULES), BadEncoding);
    check_failure(response("200 OK", gzipped, &gzip(RULES)[..30]), BadEncoding);
    check_failure(response("200 OK", "Content-Encoding: br\r\n", RULES), BadEncoding);
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nContent-Encoding: gzip\r\n\r\n";
    check_failure([cut.as_bytes(), &gzip(RULES)[..30]].concat(), Interrupted);
    // The body of an error is not read.
    check(response("404 No", gzipped, RULES), Status(404), b"");
}

#[test]
fn unreachable_servers_are_distinguished() {
    let check = |origin: &str, outcome: FetchOutcome| {
        let origin = Origin::parse(origin.as_bytes()).unwrap();
        let fetched = fetch(&origin, &relaxed());
        assert_eq!(fetched.outcome, outcome, "{origin}");
        assert!(!fetched.note.is_empty(), "{origin}");
        assert_eq!(fetched.final_url, format!("{origin}/robots.txt"));
    };
    check(&format!("http://127.0.0.1:{}", deaf_port()), Failure(Connect));
    check(&format!("https://127.0.0.1:{}", deaf_port()), Failure(Connect));
    check(&format!("ftp://127.0.0.1:{}", deaf_port()), Failure(Connect));
    check("http://nobody.invalid", Failure(Dns));
    check("ftp://nobody.invalid", Failure(Dns));
    check("gopher://127.0.0.1", NotAsked);
}

#[test]
fn a_private_host_is_asked_only_by_who_may() {
    let server = Server::saying(response("200 OK", "", RULES));
    let settings = Settings { reach: Reach::Public, ..relaxed() };
    for host in ["127.0.0.1", "localhost"] {
        let origin = Origin::new(b"http", host.as_bytes(), Some(server.port)).unwrap();
        assert_eq!(fetch(&origin, &settings).outcome, NotAsked, "{host}");
    }
    assert!(server.requests.lock().unwrap().is_empty());
    let origin = Origin::new(b"http", b"localhost", Some(server.port)).unwrap();
    assert_eq!(fetch(&origin, &relaxed()).outcome, Status(200));
}
