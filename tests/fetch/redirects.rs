//! The targets of redirects, and how far they are followed.

use botaudit::net::fetch::{Fetched, download, fetch};
use botaudit::net::outcome::FailureKind::{Connect, Dns};
use botaudit::net::outcome::FetchOutcome;
use botaudit::net::outcome::FetchOutcome::{Failure, Status};
use botaudit::net::settings::Settings;

use super::server::{Server, deaf_port, path_of, relaxed, response, send};

const RULES: &[u8] = b"User-agent: *\nDisallow: /\n";

fn redirect(status: u16, location: &str) -> Vec<u8> {
    response(
        &format!("{status} Moved"),
        &format!("Location: {location}\r\n"),
        b"<html>moved</html>",
    )
}

/// `/robots.txt` leads to `/1`, and so on to `/hops`, which has the rules.
pub fn chain(hops: usize) -> Server {
    Server::http(move |head, stream| {
        let at: usize = path_of(head)[1..].parse().unwrap_or(0);
        let answer = if at == hops {
            response("200 OK", "", RULES)
        } else {
            redirect([301, 302, 303, 307, 308][at % 5], &format!("/{}", at + 1))
        };
        send(stream, &answer);
    })
}

/// `/robots.txt` leads to `location`; everything else has the rules.
fn leading_to(location: String) -> Server {
    Server::http(move |head, stream| {
        let is_start = path_of(head) == "/robots.txt";
        send(
            stream,
            &if is_start { redirect(301, &location) } else { response("200 OK", "", RULES) },
        );
    })
}

fn hops(fetched: &Fetched) -> Vec<(u16, &str)> {
    fetched.chain.iter().map(|hop| (hop.status, hop.location.as_str())).collect()
}

#[test]
fn five_hops_are_followed_and_six_are_not() {
    let server = chain(5);
    let fetched = server.fetch();
    let at = |path: usize| format!("{}/{path}", server.origin());
    assert_eq!((fetched.outcome, fetched.body.as_slice()), (Status(200), RULES));
    assert_eq!(fetched.final_url, at(5));
    assert_eq!(
        hops(&fetched),
        [(301, &*at(1)), (302, &*at(2)), (303, &*at(3)), (307, &*at(4)), (308, &*at(5))]
    );

    let server = chain(6);
    let fetched = server.fetch();
    assert_eq!((fetched.outcome, fetched.chain.len()), (Status(301), 5));
    assert!(fetched.note.starts_with("too many redirects"), "{}", fetched.note);
    assert!(fetched.body.is_empty());
    assert_eq!(server.requests.lock().unwrap().len(), 6);

    let patient = Settings { redirects_max: 10, ..relaxed() };
    assert_eq!(fetch(&chain(10).origin(), &patient).outcome, Status(200));
    let stubborn = Settings { redirects_max: 0, ..relaxed() };
    assert_eq!(fetch(&chain(1).origin(), &stubborn).outcome, Status(301));
}

#[test]
fn a_circle_is_left() {
    let server = Server::saying(redirect(302, "/robots.txt"));
    let fetched = server.fetch();
    assert_eq!((fetched.outcome, fetched.chain.len()), (Status(302), 0));
    assert!(fetched.note.starts_with("a redirect loop"), "{}", fetched.note);
    let server = Server::http(|head, stream| {
        send(stream, &redirect(301, if path_of(head) == "/a" { "/robots.txt" } else { "/a" }));
    });
    assert_eq!(server.fetch().outcome, Status(301));
    assert_eq!(server.requests.lock().unwrap().len(), 2);
}

#[test]
fn a_location_is_read_where_it_was_given() {
    let check = |location: &str, path: &str| {
        let server = leading_to(location.to_owned());
        let fetched = server.fetch();
        assert_eq!(fetched.outcome, Status(200), "{location} {}", fetched.note);
        assert_eq!(fetched.final_url, format!("{}{path}", server.origin()), "{location}");
    };
    check("/other.txt", "/other.txt");
    check("other.txt?a=b c#d", "/other.txt?a=b%20c");
    check("./a/../b.txt", "/b.txt");
    check("?again", "/robots.txt?again");
    check("/caf\u{e9}|{x}", "/caf%C3%A9|%7Bx%7D");
}

#[test]
fn a_redirect_that_leads_nowhere_is_the_outcome() {
    let check = |headers: &str| {
        let server = Server::saying(response("301 Moved", headers, RULES));
        let fetched = server.fetch();
        assert_eq!(fetched.outcome, Status(301), "{headers}");
        assert!(fetched.body.is_empty() && !fetched.note.is_empty(), "{headers}");
    };
    check("");
    for location in [
        "mailto:webmaster@example.com",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "gopher://example.com/",
        "http://",
        "http://[::1/",
        "http://exa mple/",
    ] {
        check(&format!("Location: {location}\r\n"));
    }
    check(&format!("Location: /{}\r\n", "x".repeat(20_000)));
}

#[test]
fn a_redirect_may_leave_the_host_and_fail_there() {
    let check = |location: String, outcome: FetchOutcome| {
        let fetched = leading_to(location.clone()).fetch();
        assert_eq!(fetched.outcome, outcome, "{location}");
        // The redirect was followed: its target is what failed.
        assert_eq!(hops(&fetched), [(301, &*fetched.final_url)], "{location}");
        assert!(fetched.final_url.starts_with(&location), "{location}");
    };
    let other = with_robots(b"User-agent: *\nDisallow: /y\n");
    check(format!("http://localhost:{}/x", other.port), Status(200));
    check(format!("{}/", other.origin()), Status(200));
    check(format!("{}/gone", Server::saying(response("410 Gone", "", b"")).origin()), Status(410));
    check("http://nobody.invalid/".to_owned(), Failure(Dns));
    check(format!("https://127.0.0.1:{}/", deaf_port()), Failure(Connect));
    check(format!("ftp://127.0.0.1:{}/robots.txt", deaf_port()), Failure(Connect));
}

/// `/robots.txt` has `rules`; everything else has other rules.
fn with_robots(rules: &'static [u8]) -> Server {
    Server::http(move |head, stream| {
        let body = if path_of(head) == "/robots.txt" { rules } else { RULES };
        send(stream, &response("200 OK", "", body));
    })
}

/// As a missing robots.txt, but with the status of the redirect.
#[test]
fn a_redirect_to_what_robots_txt_disallows_there_is_not_followed() {
    let rules = b"User-agent: *\nDisallow: /rules/\nUser-agent: googlebot\nDisallow: /\n";
    let other = with_robots(rules);
    let check = |path: &str, outcome: FetchOutcome, paths: &[&str]| {
        other.requests.lock().unwrap().clear();
        let fetched = leading_to(format!("{}{path}", other.origin())).fetch();
        assert_eq!(fetched.outcome, outcome, "{path} {}", fetched.note);
        let asked: Vec<String> = {
            let requests = other.requests.lock().unwrap();
            requests.iter().map(|head| path_of(head).to_owned()).collect()
        };
        assert_eq!(asked, paths, "{path}");
        fetched
    };
    let fetched = check("/rules/r.txt", Status(301), &["/robots.txt"]);
    assert!(fetched.body.is_empty() && fetched.chain.is_empty(), "{fetched:?}");
    assert!(fetched.note.starts_with("a redirect to a URL that robots.txt disallows there: http"));
    check("/r.txt", Status(200), &["/robots.txt", "/r.txt"]);
    check("/robots.txt?x", Status(200), &["/robots.txt", "/robots.txt?x"]);
    let fetched = check("/robots.txt", Status(200), &["/robots.txt"]);
    assert_eq!(fetched.body, rules);
    // A site whose own robots.txt is elsewhere on it.
    assert_eq!(leading_to("/rules/r.txt".to_owned()).fetch().outcome, Status(200));
    // Nothing is known of the rules there.
    let down = Server::saying(response("503 Down", "", b""));
    let fetched = leading_to(format!("{}/r.txt", down.origin())).fetch();
    assert_eq!((fetched.outcome, down.requests.lock().unwrap().len()), (Status(503), 1));
}

#[test]
fn nothing_that_looks_like_a_redirect_is_one() {
    let page = b"<meta http-equiv=refresh content='0; url=/other'><script>location='/x'</script>";
    let server =
        Server::saying(response("200 OK", "Refresh: 0; url=/other\r\nLocation: /x\r\n", page));
    let fetched = server.fetch();
    assert_eq!((fetched.outcome, fetched.body.as_slice()), (Status(200), page.as_slice()));
    assert_eq!(server.requests.lock().unwrap().len(), 1);
}

#[test]
fn a_download_is_all_or_nothing() {
    let settings = Settings { body_bytes_max: 100, ..relaxed() };
    let get = |server: &Server| {
        download(&format!("{}/list.json", server.origin()), &settings)
            .map_err(|err| err.to_string())
    };
    assert_eq!(get(&Server::saying(response("200 OK", "", RULES))).unwrap(), RULES);
    let long = get(&Server::saying(response("200 OK", "", &[b'x'; 100]))).unwrap_err();
    assert!(long.ends_with("/list.json: too large: 100 bytes or more"), "{long}");
    let gone = get(&Server::saying(response("404 No", "", RULES))).unwrap_err();
    assert!(gone.ends_with("/list.json: download failed: 404"), "{gone}");
    assert!(download("list.json", &settings).is_err());
    assert!(download("file:///etc/passwd", &settings).is_err());
}
