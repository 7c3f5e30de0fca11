//! The library as an application sees it: only what the page of the crate names.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fs;
use std::path::{Path, PathBuf};

use botaudit::{Audit, AuditConfig, AuditReport, ErrorKind, Result};

const ROBOTS: &str = "User-agent: GPTBot\nDisallow: /private/\n";

const LOG: &str = "192.0.2.1 - - [01/Nov/2026:00:00:00 +0000] \"GET /private/diary HTTP/1.1\" 200 512 \"-\" \"GPTBot/1.2\"\n\
    192.0.2.2 - - [02/Nov/2026:10:00:00 +0000] \"GET /private/a,b HTTP/1.1\" 404 10 \"-\" \"GPTBot/1.2\"\n\
    192.0.2.2 - - [02/Nov/2026:11:00:00 +0000] \"GET / HTTP/1.1\" 200 10 \"-\" \"GPTBot/1.2\"\n";

/// A directory with a robots.txt and a log.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        let files = Files(tempfile::tempdir().unwrap());
        fs::write(files.path("robots.txt"), ROBOTS).unwrap();
        fs::write(files.path("access.log"), LOG).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn config(&self) -> AuditConfig {
        let mut config = AuditConfig::default();
        config.robots = Some(self.path("robots.txt"));
        config.origin = Some("https://example.com".parse().unwrap());
        config
    }

    fn audit(&self, config: AuditConfig) -> Result<AuditReport> {
        Audit::new(config).run([self.path("access.log")])
    }
}

#[test]
fn callers_can_tell_what_failed() {
    let files = Files::new();
    #[track_caller]
    fn check(result: Result<impl std::fmt::Debug>, kind: ErrorKind, text: &str) {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
    let with = |change: fn(&mut AuditConfig)| {
        let mut config = files.config();
        change(&mut config);
        files.audit(config)
    };
    check(with(|config| config.fetch = Some(true)), ErrorKind::Configuration, "command line");
    check(with(|config| config.since = Some("x".to_owned())), ErrorKind::Configuration, "since");
    check(with(|config| config.robots = Some("/nowhere".into())), ErrorKind::Io, "/nowhere");
    let nothing = Audit::new(files.config()).run([files.path("missing.log")]);
    check(nothing, ErrorKind::Input, "missing.log");
    fs::write(files.path("poem.txt"), "no request\n".repeat(9)).unwrap();
    let poem = Audit::new(files.config()).run([files.path("poem.txt")]);
    check(poem, ErrorKind::Input, "poem.txt");
    // The head of an SQLite file, and nothing behind it.
    fs::write(files.path("robots.db"), b"SQLite format 3\0").unwrap();
    let mut config = files.config();
    config.robots = Some(files.path("robots.db"));
    check(files.audit(config), ErrorKind::Archive, "robots.db");
    let report = files.audit(files.config()).unwrap();
    let foreign = files.path("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("letter.txt"), "mine").unwrap();
    check(report.write(&foreign), ErrorKind::Refused, "foreign");
    assert!(Path::new(&foreign).join("letter.txt").exists());
}
