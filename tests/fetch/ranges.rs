//! `botaudit crawlers fetch-ranges`, from servers on loopback in place of the operators'.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use botaudit::crawlers::registry::Registry;

use super::program::{run_words, said};
use super::server::{Server, path_of, response, send};

const GOOD: &str =
    r#"{"creationTime": "2026-03-01", "prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}"#;
const LATER: &str =
    r#"{"creationTime": "2026-03-01", "prefixes": [{"ipv4Prefix": "198.51.100.0/24"}]}"#;

/// One list exists, one is behind a redirect, one is gone, and two are not lists.
fn operators(good: &'static str) -> Server {
    Server::http(move |head, stream| {
        let say = match path_of(head) {
            "/good.json" => response("200 OK", "", good.as_bytes()),
            "/moved.json" => response("301 Moved", "Location: /good.json\r\n", b""),
            "/sorry.json" => response("200 OK", "", b"<html>We are sorry</html>"),
            "/huge.json" => {
                send(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
                while std::io::Write::write_all(stream, &[b' '; 65_536]).is_ok() {}
                return;
            }
            _ => response("404 No", "", b""),
        };
        send(stream, &say);
    })
}

/// A registry in which only crawlers of the test publish lists: no test uses the outside network.
fn registry(directory: &Path, port: u16, lists: &[&str]) {
    let mut csv = "name,user_agent_regex,ip_list_urls\n".to_owned();
    let builtin = Registry::builtin();
    for (_, crawler) in builtin.iter().filter(|(_, crawler)| !crawler.ip_list_urls.is_empty()) {
        csv.push_str(&format!("\"{}\",nobody-calls-himself-so,\n", crawler.name));
    }
    for (index, list) in lists.iter().enumerate() {
        csv.push_str(&format!("Our{index}bot,our{index}bot,http://127.0.0.1:{port}/{list}\n"));
    }
    std::fs::write(directory.join("crawlers.csv"), csv).unwrap();
}

fn fetch(directory: &Path, more: &[&str]) -> (i32, String, String) {
    let command = ["crawlers", "--crawlers", "crawlers.csv", "fetch-ranges", "lists"];
    said(&run_words(directory, &[&command, more].concat(), ""))
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory.join("lists")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The content of a file of `lists`, by the list's path at its server.
fn list(directory: &Path, port: u16, name: &str) -> String {
    std::fs::read_to_string(directory.join(format!("lists/127.0.0.1_{port}_{name}"))).unwrap()
}

#[test]
fn lists_are_put_in_place_and_one_that_fails_keeps_no_other_away() {
    let dir = tempfile::tempdir().unwrap();
    let server = operators(GOOD);
    let lists = ["good.json", "moved.json", "gone.json", "sorry.json", "huge.json"];
    registry(dir.path(), server.port, &lists);
    let (code, stdout, stderr) = fetch(dir.path(), &[]);
    assert_eq!((code, stdout.as_str()), (3, "2 of 5 lists downloaded to lists\n"), "{stderr}");
    assert_eq!(stderr.lines().count(), 3, "{stderr}");
    assert!(stderr.contains("/gone.json: download failed: 404"), "{stderr}");
    assert!(stderr.contains("/sorry.json: not a list of addresses"), "{stderr}");
    assert!(stderr.contains("/huge.json: too large: 16777216 bytes or more"), "{stderr}");
    let (good, moved) = ("good.json", "moved.json");
    assert_eq!([good, moved].map(|name| list(dir.path(), server.port, name)), [GOOD, GOOD]);
    let prefix = format!("127.0.0.1_{}_", server.port);
    let expected = [format!("{prefix}{good}"), format!("{prefix}{moved}"), "manifest.json".into()];
    assert_eq!(names(dir.path()), expected.into());
    let manifest = std::fs::read_to_string(dir.path().join("lists/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let listed = manifest["lists"].as_array().unwrap();
    assert_eq!(listed.len(), 2);
    let url = format!("http://127.0.0.1:{}/good.json", server.port);
    assert_eq!((&listed[0]["url"], &listed[0]["size_bytes"]), (&url.into(), &GOOD.len().into()));
}

/// The lists verify a crawler. A later run replaces them, and keeps those that it cannot get.
#[test]
fn lists_are_used_kept_and_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let server = operators(GOOD);
    registry(dir.path(), server.port, &["good.json"]);
    assert_eq!(fetch(dir.path(), &["-q"]), (0, String::new(), String::new()));
    let verified = |client: &str| {
        let log = format!(
            "{client} - - [05/Mar/2026:10:00:00 +0000] \"GET /x HTTP/1.1\" 200 5 \"-\" \"Our0bot\"\n"
        );
        std::fs::write(dir.path().join("access.log"), log).unwrap();
        std::fs::write(dir.path().join("robots.txt"), "User-agent: *\nDisallow: /x\n").unwrap();
        let command = "audit -q --robots robots.txt --origin https://a.example --crawlers \
                       crawlers.csv --ip-ranges lists access.log -o out";
        let arguments: Vec<&str> = command.split_whitespace().collect();
        let (code, _, stderr) = said(&run_words(dir.path(), &arguments, ""));
        assert_eq!(code, 0, "{stderr}");
        let summary = std::fs::read_to_string(dir.path().join("out/summary.csv")).unwrap();
        ["verified", "spoofed"].map(|word| summary.contains(&format!(",{word},")))
    };
    assert_eq!(verified("192.0.2.7"), [true, false]);
    assert_eq!(verified("198.51.100.7"), [false, true]);
    // The same port may be in use later, so the operator moves.
    let gone = operators(LATER);
    registry(dir.path(), gone.port, &["gone.json"]);
    let (code, ..) = fetch(dir.path(), &[]);
    assert_eq!((code, list(dir.path(), server.port, "good.json").as_str()), (3, GOOD));
    let file = dir.path().join(format!("lists/127.0.0.1_{}_good.json", gone.port));
    std::fs::write(&file, GOOD).unwrap();
    registry(dir.path(), gone.port, &["good.json"]);
    assert_eq!(fetch(dir.path(), &["-q"]).0, 0);
    assert_eq!(list(dir.path(), gone.port, "good.json"), LATER);
    let history = dir.path().join("lists/history");
    let kept = std::fs::read_dir(&history).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<String> = kept.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    assert!(kept.len() == 2 && kept.iter().any(|text| text == GOOD), "{kept:?}");
    assert_eq!(verified("198.51.100.7"), [true, false]);
    // A file that is not a list is from somebody else.
    let other = operators(GOOD);
    registry(dir.path(), other.port, &["good.json"]);
    let file = dir.path().join(format!("lists/127.0.0.1_{}_good.json", other.port));
    std::fs::write(&file, "mine").unwrap();
    let (code, _, stderr) = fetch(dir.path(), &[]);
    assert!(code == 2 && stderr.contains("was not written by botaudit"), "{stderr}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(fetch(dir.path(), &["-q", "--force"]).0, 0);
    assert_eq!(list(dir.path(), other.port, "good.json"), GOOD);
    assert!(names(dir.path()).iter().all(|name| !name.starts_with('.')));
}

/// The page of a crawler names its list, which is used, fetched again without the page, and kept with
/// its history.
#[test]
fn lists_are_discovered_on_the_pages_of_crawlers() {
    let dir = tempfile::tempdir().unwrap();
    let pages = Server::http(|head, stream| {
        let page = b"<html><link rel='client-ranges' href='/ips.json?v=1'><link rel=client-ranges href=gone.json>";
        let say = match path_of(head) {
            "/bot.html" => response("200 OK", "", page),
            "/ips.json?v=1" => response("200 OK", "", GOOD.as_bytes()),
            _ => response("404 No", "", b""),
        };
        send(stream, &say);
    });
    // No page of a real crawler is fetched.
    let mut csv = "name,user_agent_regex,documentation_url\n".to_owned();
    for (_, crawler) in Registry::builtin().iter() {
        csv.push_str(&format!(
            "\"{}\",nobody-calls-himself-so,\n",
            crawler.name.replace('"', "\"\"")
        ));
    }
    let own =
        |name: &str, page: &str| format!("{name},{name},http://127.0.0.1:{}/{page}\n", pages.port);
    csv += &[own("our0bot", "bot.html"), own("our1bot", "bot.html"), own("our2bot", "none.html")]
        .concat();
    std::fs::write(dir.path().join("crawlers.csv"), csv).unwrap();
    assert_eq!(fetch(dir.path(), &[]).1, "0 of 0 lists downloaded to lists\n");
    let (code, stdout, stderr) = fetch(dir.path(), &["--discover"]);
    assert_eq!((code, stdout.as_str()), (3, "1 of 2 lists downloaded to lists\n"), "{stderr}");
    assert!(stderr.contains("1 of 2 pages read; 2 lists found"), "{stderr}");
    assert!(stderr.contains("/gone.json: download failed: 404"), "{stderr}");
    let fetched = pages.requests.lock().unwrap().len();
    let (code, stdout, stderr) = fetch(dir.path(), &[]);
    assert_eq!((code, stdout.as_str()), (0, "1 of 1 lists downloaded to lists\n"), "{stderr}");
    assert_eq!(pages.requests.lock().unwrap().len(), fetched + 1, "the page is not read again");
    let log = ["192.0.2.7 Our0bot", "192.0.2.7 our1bot", "203.0.113.5 our0bot", "192.0.2.7 our2bot"]
        .map(|request| {
            let (client, agent) = request.split_once(' ').unwrap();
            format!("{client} - - [05/Mar/2026:10:00:00 +0000] \"GET /x HTTP/1.1\" 200 5 \"-\" \"{agent}\"\n")
        });
    std::fs::write(dir.path().join("access.log"), log.concat()).unwrap();
    std::fs::write(dir.path().join("robots.txt"), "User-agent: *\nDisallow: /x\n").unwrap();
    let command = "audit -q --robots robots.txt --origin https://a.example --crawlers crawlers.csv \
                   --ip-ranges lists access.log -o out";
    let arguments: Vec<&str> = command.split_whitespace().collect();
    let (code, _, stderr) = said(&run_words(dir.path(), &arguments, ""));
    assert_eq!(code, 0, "{stderr}");
    let summary = std::fs::read_to_string(dir.path().join("out/summary.csv")).unwrap();
    for (name, identity) in [
        ("our0bot", "verified"),
        ("our1bot", "verified"),
        ("our0bot", "spoofed"),
        ("our2bot", "unverified"),
    ] {
        let is_it = |line: &&str| line.contains(name) && line.contains(&format!(",{identity},"));
        assert_eq!(summary.lines().filter(is_it).count(), 1, "{name} {identity} {summary}");
    }
}

#[test]
fn what_cannot_be_written_is_said_before_anybody_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let server = operators(GOOD);
    registry(dir.path(), server.port, &["good.json"]);
    std::fs::write(dir.path().join("lists"), "a file").unwrap();
    let (code, _, stderr) = fetch(dir.path(), &[]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("cannot create lists"), "{stderr}");
    assert!(server.requests.lock().unwrap().is_empty());
    let help = Command::new(env!("CARGO_BIN_EXE_botaudit"))
        .args(["crawlers", "fetch-ranges", "--help"])
        .output();
    assert!(help.unwrap().status.success());
}
