//! The table of rulings, row by row: from a server's answer, through the program and the archive,
//! to the ruling in force.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use botaudit::archive::reader::Archive;
use botaudit::judge::timeline::History;
use botaudit::judge::timeline::{AllowAll, BeforeFirst, Ruling};
use botaudit::net::settings::ROBOTS_BYTES_MAX;
use botaudit::url::origin::Origin;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::ftp::{Data, FtpServer};
use super::program::{run_words, said};
use super::redirects::chain;
use super::server::{Server, deaf_port, listen, response, send};
use super::tls::untrusted;

const RULES: &[u8] = b"User-agent: *\nDisallow: /private\n";

/// The expected ruling of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Expected {
    /// The rules of a body with this many bytes.
    Rules(usize),
    /// Everything allowed: there is no robots.txt.
    NoFile,
    /// Everything allowed: its redirects have no target.
    Redirects,
    /// Disallowed for now.
    Unreachable,
}

use Expected::{NoFile, Redirects, Rules, Unreachable};

fn local(scheme: &str, port: u16) -> Origin {
    Origin::new(scheme.as_bytes(), b"127.0.0.1", Some(port)).unwrap()
}

fn saying(response: impl Into<Vec<u8>>) -> Origin {
    Server::saying(response).origin()
}

fn status(status: &str) -> Origin {
    saying(response(status, "", RULES))
}

/// Closes with a part of the request unread, in the middle of the body: that resets the connection.
fn resetting() -> Origin {
    let port = listen(|mut stream: TcpStream| {
        stream.read_exact(&mut [0]).unwrap();
        send(&mut stream, b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nUser-agent: *\n");
        thread::sleep(Duration::from_millis(50));
    });
    local("http", port)
}

/// Sends single bytes as long as the client reads.
fn dripping() -> Origin {
    let server = Server::http(|_, stream| {
        send(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n");
        while stream.write_all(b"#").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
    server.origin()
}

/// A body of 1 GiB.
fn endless() -> Origin {
    let server = Server::http(|_, stream| {
        send(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
        while stream.write_all(&[b'#'; 65_536]).is_ok() {}
    });
    server.origin()
}

/// 100 MiB in 100 KB.
fn bomb() -> Origin {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&vec![b'#'; 100 << 20]).unwrap();
    saying(response("200 OK", "Content-Encoding: gzip\r\n", &gzip.finish().unwrap()))
}

fn circle() -> Origin {
    saying(response("301 Moved", "Location: /robots.txt\r\n", b""))
}

fn rows() -> Vec<(&'static str, Origin, Expected)> {
    let all = RULES.len();
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nallow\r\n0\r\n\r\n";
    let chained = |hops| chain(hops).origin();
    let ftp = |answer: fn(&str) -> Option<&'static str>| {
        let server = FtpServer::new(answer, Data::Sends(RULES));
        local("ftp", server.port)
    };
    let ftp_refuses = |command: &str| command.starts_with("RETR").then_some("550 no such file\r\n");
    let ftp_fails = |command: &str| command.starts_with("RETR").then_some("451 not now\r\n");
    vec![
        ("200", status("200 OK"), Rules(all)),
        ("206", status("206 Partial Content"), Rules(all)),
        ("204", saying("HTTP/1.1 204 No Content\r\n\r\n"), Rules(0)),
        ("five hops", chained(5), Rules(26)),
        ("six hops", chained(6), Redirects),
        ("a redirect loop", circle(), Redirects),
        ("a redirect to nowhere", status("302 Found"), Redirects),
        ("401", status("401 Who"), NoFile),
        ("403", status("403 No"), NoFile),
        ("404", status("404 No"), NoFile),
        ("410", status("410 Gone"), NoFile),
        ("429", status("429 Slow"), Unreachable),
        ("500", status("500 Oh"), Unreachable),
        ("503", status("503 Later"), Unreachable),
        (
            "this host name can never exist",
            Origin::parse(b"http://nobody.invalid").unwrap(),
            Unreachable,
        ),
        ("nobody listens", local("http", deaf_port()), Unreachable),
        ("a time-out", dripping(), Unreachable),
        ("an invalid response", saying("SSH-2.0-OpenSSH_9.6\r\n\r\n"), Unreachable),
        ("a reset connection", resetting(), Unreachable),
        ("bad chunking", saying(chunks), Unreachable),
        ("a wrong certificate", local("https", untrusted()), Unreachable),
        ("1 GiB", endless(), Rules(ROBOTS_BYTES_MAX)),
        ("a bomb", bomb(), Rules(ROBOTS_BYTES_MAX)),
        ("FTP", ftp(|_| None), Rules(all)),
        ("FTP without the file", ftp(ftp_refuses), NoFile),
        ("FTP that fails", ftp(ftp_fails), Unreachable),
    ]
}

#[test]
fn every_row_of_the_table_ends_in_its_ruling() {
    let dir = tempfile::tempdir().unwrap();
    let rows = rows();
    let list: String = rows.iter().map(|(_, origin, _)| format!("{origin}\n")).collect();
    let command = ["robots", "fetch", "-q", "-a", "db", "--timeout", "3", "-"];
    let (code, _, stderr) = said(&run_words(dir.path(), &command, &list));
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("the robots.txt of 15 of 26 origins was fetched"), "{stderr}");
    let archive = Archive::open(&dir.path().join("db")).unwrap();
    for (name, origin, expected) in rows {
        let history = archive.history(&origin).unwrap();
        let [entry] = &history[..] else { panic!("{name}: {} snapshots", history.len()) };
        let timeline = History::new(&history).timeline;
        let in_force = timeline.at(entry.fetch.fetched_at, BeforeFirst::Unknown);
        let found = match in_force.unwrap_or_else(|| panic!("{name}")).ruling {
            Ruling::Rules(_) => Rules(archive.body(entry.body.unwrap()).unwrap().len()),
            Ruling::AllowAll(AllowAll::NoFile) => NoFile,
            Ruling::AllowAll(_) => Redirects,
            Ruling::Unreachable => Unreachable,
        };
        assert_eq!(found, expected, "{name}: {}", entry.fetch.outcome);
    }
}
