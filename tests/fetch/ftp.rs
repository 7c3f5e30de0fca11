//! FTP: the dialogue, and how it ends.

use std::io::Read;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use botaudit::net::fetch::{Fetched, fetch};
use botaudit::net::outcome::FailureKind::{Connect, Interrupted, InvalidResponse, Timeout};
use botaudit::net::outcome::FetchOutcome;
use botaudit::net::outcome::FetchOutcome::{Failure, Status};
use botaudit::net::settings::{ROBOTS_BYTES_MAX, Settings};
use botaudit::url::origin::Origin;

use super::server::{PATIENCE, Server, deaf_port, hasty, listen, relaxed, response, send};

const RULES: &[u8] = b"User-agent: *\r\nDisallow: /pub\r\n";

/// The special answers of a server; `None` means the usual one.
pub type Answer = fn(command: &str) -> Option<&'static str>;

/// The behaviour of a server on the data connection.
#[derive(Clone, Copy)]
pub enum Data {
    Sends(&'static [u8]),
    /// Sends as long as the client reads.
    Endless,
    /// Accepts it and sends nothing.
    FoundOutages,
    /// Names a port that is closed.
    Deaf,
}

pub struct FtpServer {
    pub port: u16,
    commands: Arc<Mutex<Vec<String>>>,
}

impl FtpServer {
    /// A server with the special answers of `answer`, otherwise the usual ones.
    pub fn new(answer: Answer, data: Data) -> FtpServer {
        let commands = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&commands);
        let port = listen(move |stream| talk(stream, answer, data, &seen));
        FtpServer { port, commands }
    }

    fn fetch(&self) -> Fetched {
        fetch(&self.origin(), &relaxed())
    }

    fn fetch_hastily(&self) -> Fetched {
        fetch(&self.origin(), &hasty())
    }

    fn origin(&self) -> Origin {
        Origin::new(b"ftp", b"127.0.0.1", Some(self.port)).unwrap()
    }
}

fn talk(mut stream: TcpStream, answer: Answer, data: Data, seen: &Mutex<Vec<String>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = match data {
        Data::Deaf => deaf_port(),
        _ => listener.local_addr().unwrap().port(),
    };
    send(
        &mut stream,
        answer("").unwrap_or("220-Welcome\r\n 220 not yet\r\n220 ready\r\n").as_bytes(),
    );
    while let Some(command) = read_command(&mut stream) {
        seen.lock().unwrap().push(command.clone());
        let good = match &command[..4] {
            "USER" => "331 who are you?\r\n".to_owned(),
            "PASS" => "230-Hello\r\n230 logged in\r\n".to_owned(),
            "TYPE" => "200 binary\r\n".to_owned(),
            "EPSV" => format!("229 Entering Extended Passive Mode (|||{port}|)\r\n"),
            "PASV" => format!("227 Passive (10,1,2,3,{},{})\r\n", port >> 8, port & 255),
            "RETR" => "150 here it comes\r\n".to_owned(),
            _ => "502 unknown\r\n".to_owned(),
        };
        let said = answer(&command);
        send(&mut stream, said.unwrap_or(&good).as_bytes());
        if command.starts_with("RETR") && said.is_none_or(|said| said.starts_with('1')) {
            transfer(&listener, data);
            send(&mut stream, answer("done").unwrap_or("226 done\r\n").as_bytes());
        }
    }
}

fn transfer(listener: &TcpListener, data: Data) {
    let (mut stream, _) = listener.accept().unwrap();
    match data {
        Data::Sends(bytes) => send(&mut stream, bytes),
        Data::Endless => while std::io::Write::write_all(&mut stream, &[b'#'; 65_536]).is_ok() {},
        Data::FoundOutages => thread::sleep(2 * PATIENCE),
        Data::Deaf => {}
    }
}

fn read_command(stream: &mut TcpStream) -> Option<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\r\n") {
        if !matches!(stream.read(&mut byte), Ok(1)) {
            return None;
        }
        line.push(byte[0]);
    }
    Some(String::from_utf8(line).unwrap().trim_end().to_owned())
}

#[track_caller]
fn check(answer: Answer, data: Data, outcome: FetchOutcome, body: &[u8]) {
    let server = FtpServer::new(answer, data);
    let start = Instant::now();
    let is_slow = outcome == Failure(Timeout);
    let fetched = if is_slow { server.fetch_hastily() } else { server.fetch() };
    assert_eq!(fetched.outcome, outcome, "{} {:?}", fetched.note, server.commands.lock().unwrap());
    assert!(fetched.body == body, "{} bytes", fetched.body.len());
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn a_file_is_fetched_by_a_guest_in_passive_mode() {
    let server = FtpServer::new(|_| None, Data::Sends(RULES));
    let fetched = server.fetch();
    assert_eq!((fetched.outcome, fetched.body.as_slice()), (Status(200), RULES));
    assert_eq!((fetched.max_age_seconds, fetched.chain.len()), (None, 0));
    let commands = server.commands.lock().unwrap();
    assert_eq!(commands[0], "USER anonymous");
    assert!(commands[1].starts_with("PASS botaudit/"), "{commands:?}");
    assert_eq!(commands[2..], ["TYPE I", "EPSV", "RETR /robots.txt"]);
}

#[test]
fn servers_may_do_less_than_is_asked() {
    check(|_| None, Data::Sends(b""), Status(200), b"");
    let no_password: Answer = |command| command.starts_with("USER").then_some("230 come in\r\n");
    check(no_password, Data::Sends(RULES), Status(200), RULES);
    let no_type: Answer = |command| command.starts_with("TYPE").then_some("504 only binary\r\n");
    check(no_type, Data::Sends(RULES), Status(200), RULES);
    // The address in the reply to PASV is that of another host and must be ignored.
    let old: Answer = |command| command.starts_with("EPSV").then_some("500 what?\r\n");
    check(old, Data::Sends(RULES), Status(200), RULES);
    let soon: Answer = |command| command.is_empty().then_some("120 soon\r\n220 ready\r\n");
    check(soon, Data::Sends(RULES), Status(200), RULES);
}

#[test]
fn a_refusal_is_reported_as_an_http_status() {
    let no_file: Answer = |command| command.starts_with("RETR").then_some("550 no such file\r\n");
    check(no_file, Data::Sends(b""), Status(404), b"");
    let busy: Answer = |command| command.starts_with("RETR").then_some("450 busy\r\n");
    check(busy, Data::Sends(b""), Status(503), b"");
    let no_guests: Answer = |command| command.starts_with("PASS").then_some("530 no guests\r\n");
    check(no_guests, Data::Sends(b""), Status(401), b"");
    let no_user: Answer = |command| command.starts_with("USER").then_some("530-no\r\n530 no\r\n");
    check(no_user, Data::Sends(b""), Status(401), b"");
    let account: Answer = |command| command.starts_with("PASS").then_some("332 account?\r\n");
    check(account, Data::Sends(b""), Status(401), b"");
    let full: Answer = |command| command.is_empty().then_some("421 too many users\r\n");
    check(full, Data::Sends(b""), Status(503), b"");
    let closed: Answer = |command| command.is_empty().then_some("554 go away\r\n");
    check(closed, Data::Sends(b""), Status(401), b"");
    let no_ports: Answer = |command| command.starts_with("EPSV").then_some("425 no ports\r\n");
    check(no_ports, Data::Sends(b""), Status(503), b"");
}

#[test]
fn a_refusal_is_kept_in_the_words_of_the_server() {
    let answer: Answer = |command| command.starts_with("RETR").then_some("550 gone fishing\r\n");
    assert_eq!(FtpServer::new(answer, Data::Sends(b"")).fetch().note, "550 gone fishing");
}

#[test]
fn what_is_no_dialogue_fails() {
    let web: Answer = |_| Some("HTTP/1.1 400 Bad Request\r\n\r\n");
    check(web, Data::Sends(b""), Failure(InvalidResponse), b"");
    let noise: Answer = |_| Some("\0\0\0\0\r\n");
    check(noise, Data::Sends(b""), Failure(InvalidResponse), b"");
    let no_port: Answer = |command| {
        let is_passive = command.starts_with("EPSV") || command.starts_with("PASV");
        is_passive.then_some("229 somewhere\r\n")
    };
    check(no_port, Data::Sends(b""), Failure(InvalidResponse), b"");
    let neither: Answer = |command| {
        let is_passive = command.starts_with("EPSV") || command.starts_with("PASV");
        is_passive.then_some("502 active only\r\n")
    };
    check(neither, Data::Sends(b""), Failure(InvalidResponse), b"");
    for babble in [&b"220-hello\r\n"[..], &[b'2'; 64]] {
        let port = listen(
            move |mut stream| {
                while std::io::Write::write_all(&mut stream, babble).is_ok() {}
            },
        );
        let origin = Origin::new(b"ftp", b"127.0.0.1", Some(port)).unwrap();
        assert_eq!(fetch(&origin, &relaxed()).outcome, Failure(InvalidResponse));
    }
}

#[test]
fn a_file_that_does_not_come_whole_is_no_file() {
    let aborted: Answer = |command| (command == "done").then_some("426 aborted\r\n");
    check(aborted, Data::Sends(RULES), Failure(Interrupted), b"");
    let silent: Answer = |command| (command == "done").then_some("");
    check(silent, Data::Sends(RULES), Failure(Timeout), b"");
    check(|_| None, Data::FoundOutages, Failure(Timeout), b"");
    check(|_| None, Data::Deaf, Failure(Connect), b"");
    let hangs: Answer = |command| command.starts_with("RETR").then_some("");
    check(hangs, Data::Sends(RULES), Failure(Timeout), b"");
    let mute: Answer = |command| command.is_empty().then_some("");
    check(mute, Data::Sends(RULES), Failure(Timeout), b"");
    let port = listen(drop);
    let origin = Origin::new(b"ftp", b"127.0.0.1", Some(port)).unwrap();
    assert_eq!(fetch(&origin, &relaxed()).outcome, Failure(Interrupted));
}

#[test]
fn a_long_file_is_read_as_far_as_it_counts() {
    check(|_| None, Data::Endless, Status(200), &vec![b'#'; ROBOTS_BYTES_MAX]);
}

#[test]
fn a_slow_dialogue_ends_in_time() {
    let port = listen(|mut stream| {
        send(&mut stream, b"220-");
        for _ in 0..3_000 {
            send(&mut stream, b"a");
            thread::sleep(Duration::from_millis(20));
        }
    });
    let settings = Settings { total_timeout: Duration::from_millis(300), ..hasty() };
    let origin = Origin::new(b"ftp", b"127.0.0.1", Some(port)).unwrap();
    let start = Instant::now();
    assert_eq!(fetch(&origin, &settings).outcome, Failure(Timeout));
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn a_web_server_may_redirect_to_ftp() {
    let server = FtpServer::new(|_| None, Data::Sends(RULES));
    let location = format!("Location: {}/my%20robots.txt\r\n", server.origin());
    let fetched = Server::saying(response("301 Moved", &location, b"")).fetch();
    assert_eq!((fetched.outcome, fetched.body.as_slice()), (Status(200), RULES));
    assert_eq!(server.commands.lock().unwrap().last().unwrap(), "RETR /my robots.txt");
    let location = format!("Location: {}/x%0D%0ADELE%20y\r\n", server.origin());
    let fetched = Server::saying(response("301 Moved", &location, b"")).fetch();
    assert_eq!(fetched.outcome, Failure(InvalidResponse));
}
