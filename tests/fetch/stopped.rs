//! Runs that are stopped during a fetch: completed fetches are kept, and nothing else.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use botaudit::archive::reader::Archive;
use botaudit::url::origin::Origin;

use super::server::{Server, response, send};
use crate::stoppable::stoppable;

/// A server that never answers.
fn silent() -> Server {
    Server::http(|_, stream| {
        thread::sleep(Duration::from_secs(60));
        send(stream, b"");
    })
}

fn start(directory: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_botaudit"));
    command.current_dir(directory).args(arguments);
    let mut command = stoppable(&command);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for requests to the servers, sends the signal of Ctrl-C, and returns exit code and
/// messages.
fn stop(child: Child, asked: &[&Server]) -> (i32, String) {
    let start = Instant::now();
    while asked.iter().any(|server| server.requests.lock().unwrap().is_empty()) {
        assert!(start.elapsed() < Duration::from_secs(30), "nobody was asked");
        thread::sleep(Duration::from_millis(10));
    }
    // The answers are passed from one thread to another.
    thread::sleep(Duration::from_secs(1));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap_or(-1), stderr)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn answers_that_had_come_in_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (quick, slow) = (Server::saying(response("404 No", "", b"")), silent());
    // There is one request at a time per host.
    let elsewhere = Origin::new(b"http", b"localhost", Some(slow.port)).unwrap();
    let origins = [quick.origin().to_string(), elsewhere.to_string()];
    let arguments = ["robots", "fetch", "-q", "-a", "db", &origins[0], &origins[1]];
    let (code, stderr) = stop(start(dir.path(), &arguments), &[&quick, &slow]);
    assert_eq!((code, stderr.contains("stopped; the answers")), (130, true), "{stderr}");
    assert_eq!(names(dir.path()), ["db"]);
    let archive = Archive::open(&dir.path().join("db")).unwrap();
    assert_eq!(archive.history(&quick.origin()).unwrap().len(), 1);
    assert!(archive.history(&elsewhere).unwrap().is_empty());
}

#[test]
fn an_audit_that_was_fetching_leaves_no_report() {
    let dir = tempfile::tempdir().unwrap();
    let slow = silent();
    let log = "192.0.2.7 - - [05/Mar/2026:10:00:00 +0000] \"GET /x HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.2\"\n";
    std::fs::write(dir.path().join("access.log"), log).unwrap();
    let origin = slow.origin().to_string();
    let arguments = ["audit", "-q", "--fetch", "--origin", &origin, "-o", "out", "access.log"];
    let (code, stderr) = stop(start(dir.path(), &arguments), &[&slow]);
    assert_eq!(code, 130, "{stderr}");
    assert_eq!(names(dir.path()), ["access.log", "robots.db"]);
    assert!(Archive::open(&dir.path().join("robots.db")).is_ok());
}
