//! `report.html` in a real browser.
//!
//! `harness.html` has the report in a frame, acts like a reader, and writes the result where the
//! browser dumps it. Both are served from this machine, so every request is seen.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// Reads, sorts and filters the page, then writes the results.
const HARNESS: &str = include_str!("harness.html");

/// The browser; without one, says that the test is skipped.
pub fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        eprintln!("skipped: NO CHROMIUM HERE: the page is not shown");
    }
    found
}

/// What the browser saw of the page, and the requested paths.
pub struct Shown {
    pub seen: Value,
    asked: Vec<String>,
}

/// Whether the script of a page runs.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Script {
    Runs,
    Blocked,
}

/// The browser without a window, as a command without an address.
pub fn headless(browser: &Path, profile: &Path) -> Command {
    let mut command = Command::new(browser);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
        .stdin(Stdio::null());
    command
}

/// Shows the report `page`; sorts the table `id` by requests and filters it by `word`.
pub fn show(browser: &Path, page: String, id: &str, word: &str) -> Shown {
    show_with(browser, page, id, word, Script::Runs)
}

pub fn show_with(browser: &Path, page: String, id: &str, word: &str, script: Script) -> Shown {
    let sandbox = if script == Script::Runs { "" } else { "sandbox=\"allow-same-origin\"" };
    let harness = HARNESS.replace("ID;", &format!("{id:?};")).replace("WORD", word);
    let harness = harness.replace("SANDBOX", sandbox);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            log.lock().unwrap().extend(answer(stream.unwrap(), &harness, &page));
        }
    });
    let profile = tempfile::tempdir().unwrap();
    let output = headless(browser, profile.path())
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!("http://{address}/harness.html"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty() || script == Script::Blocked, "{console:?}");
    let dom = String::from_utf8_lossy(&output.stdout);
    let seen = dom.split("<pre id=\"seen\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let seen = seen.unwrap_or_else(|| panic!("nothing shown:\n{dom}\n{said}"));
    let seen = seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let seen = serde_json::from_str(&seen).unwrap_or_else(|err| panic!("{err}: {seen}\n{said}"));
    let asked = asked.lock().unwrap().clone();
    Shown { seen, asked }
}

/// Answers one request; returns the requested path.
fn answer(mut stream: TcpStream, harness: &str, page: &str) -> Option<String> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => request.extend_from_slice(&buffer[..count]),
        }
    }
    let path = String::from_utf8_lossy(&request).split(' ').nth(1)?.to_owned();
    let (status, body) = match path.as_str() {
        "/harness.html" => ("200 OK", harness),
        "/report.html" => ("200 OK", page),
        _ => ("404 Not Found", ""),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // The browser may disconnect at any time.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    Some(path)
}

impl Shown {
    /// Checks that apply to every page.
    #[track_caller]
    pub fn is_sound(&self) {
        let seen = &self.seen;
        for (what, expected) in [
            ("captioned", Value::Bool(true)),
            ("scoped", Value::Bool(true)),
            ("ids", Value::Bool(true)),
            ("links", Value::Bool(true)),
            ("scripts", 1.into()),
            ("foreign", 0.into()),
            ("pwned", Value::Bool(false)),
            ("charts_told", Value::Bool(true)),
            ("named", Value::Bool(true)),
            ("wide", Value::Bool(false)),
            ("wide_when_narrow", Value::Bool(false)),
            ("main_wide", Value::Bool(false)),
            ("main_wide_when_narrow", Value::Bool(false)),
            ("loaded", 0.into()),
            ("blocked", 0.into()),
        ] {
            assert_eq!(seen[what], expected, "{what}");
        }
        let headings = seen["headings"].as_array().unwrap();
        for heading in ["Summary", "Warnings and notes", "Method"] {
            assert!(headings.contains(&heading.into()), "{heading}");
        }
        let mut asked = self.asked.clone();
        asked.sort();
        assert_eq!(asked, ["/harness.html", "/report.html"]);
    }

    pub fn numbers(&self, what: &str) -> Vec<u64> {
        let numbers = self.seen[what].as_array().unwrap();
        numbers.iter().map(|number| number.as_u64().unwrap()).collect()
    }

    #[track_caller]
    pub fn says(&self, what: &str) {
        let text = self.seen["text"].as_str().unwrap();
        assert!(text.contains(what), "{what:?} is not in:\n{text}");
    }
}
