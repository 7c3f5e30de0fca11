//! Servers on loopback: one thread that accepts, one for each connection.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use botaudit::net::fetch::{Fetched, fetch};
use botaudit::net::settings::Settings;
use botaudit::url::origin::Origin;

/// A server that runs until the tests end.
pub struct Server {
    pub port: u16,
    /// The heads of the requests so far.
    pub requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each request with `respond`, which receives its head.
    pub fn http(respond: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Server {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let port = listen(move |mut stream| {
            let head = read_head(&mut stream);
            seen.lock().unwrap().push(head.clone());
            respond(&head, &mut stream);
        });
        Server { port, requests }
    }

    /// Answers any request with `response`.
    pub fn saying(response: impl Into<Vec<u8>>) -> Server {
        let response = response.into();
        Server::http(move |_, stream| send(stream, &response))
    }

    pub fn origin(&self) -> Origin {
        Origin::new(b"http", b"127.0.0.1", Some(self.port)).unwrap()
    }

    pub fn fetch(&self) -> Fetched {
        fetch(&self.origin(), &relaxed())
    }
}

/// Calls `talk` for each connection, and returns the port.
pub fn listen(talk: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let talk = Arc::new(talk);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let talk = Arc::clone(&talk);
            thread::spawn(move || talk(stream));
        }
    });
    port
}

/// A closed port.
pub fn deaf_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// What a test waits for that must come, also on a slow machine; and what a server waits that is to be
/// given up is twice that.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Settings for a server that answers, or fails at once.
pub fn relaxed() -> Settings {
    Settings {
        connect_timeout: PATIENCE,
        read_timeout: PATIENCE,
        total_timeout: PATIENCE,
        ..Settings::default()
    }
}

/// Settings for a server that is not waited for.
pub fn hasty() -> Settings {
    Settings {
        read_timeout: Duration::from_millis(400),
        total_timeout: Duration::from_secs(3),
        ..relaxed()
    }
}

/// The path of a request.
pub fn path_of(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}

/// Ignores an error: the client may have disconnected.
pub fn send(stream: &mut impl Write, bytes: &[u8]) {
    let _ = stream.write_all(bytes).and_then(|()| stream.flush());
}

/// A response with a length.
pub fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut response =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n").into_bytes();
    response.extend_from_slice(body);
    response
}

/// Reads up to the empty line after the headers.
pub fn read_head(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            Err(err) if err.kind() == ErrorKind::Interrupted => {}
            _ => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}
