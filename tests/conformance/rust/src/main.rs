//! Parsers of robots.txt in Rust for `run.py --pipe`: one line of robots.txt, token and URL gives one line `1`, `0` or a
//! reason why there is no answer.

#[path = "../../../google_parser/mod.rs"]
mod google_parser;

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::panic::{catch_unwind, set_hook};
use std::process::ExitCode;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use botaudit::RobotsTxt;
use botaudit::matcher::reference;
use botaudit::url::path::Dialect;

type Answer = Result<bool, Box<dyn Error>>;

/// A parser: robots.txt, product token and URL to an answer.
type Parser = fn(&[u8], &[u8], &[u8]) -> Answer;

const PARSERS: [(&str, Parser); 7] = [
    ("botaudit", |robots, token, url| {
        Ok(RobotsTxt::parse(robots).is_allowed(str::from_utf8(token)?, url)?)
    }),
    ("botaudit-rfc9309", |robots, token, url| {
        let robots = RobotsTxt::parse(robots).with_dialect(Dialect::Rfc9309);
        Ok(robots.is_allowed(str::from_utf8(token)?, url)?)
    }),
    // Names and URLs as Google's parser takes them: digits end a name, and nothing of a URL is encoded.
    ("botaudit-as-google", |robots, token, url| {
        let answer = google_parser::ask(robots, token, url, |rules, path| {
            reference::decide(rules, Dialect::Google, path)
        });
        Ok(answer.decision.allowed)
    }),
    ("fast-robots", |robots, token, url| {
        let robots = fast_robots::RobotsTxt::parse(str::from_utf8(robots)?);
        let url = str::from_utf8(url)?;
        Ok(robots.matcher().is_allowed(str::from_utf8(token)?, path_of(url)))
    }),
    ("robotstxt", |robots, token, url| {
        let mut matcher = robotstxt::DefaultMatcher::default();
        let (robots, token) = (str::from_utf8(robots)?, str::from_utf8(token)?);
        Ok(matcher.one_agent_allowed_by_robots(robots, token, str::from_utf8(url)?))
    }),
    ("robotxt", |robots, token, url| {
        let robots = robotxt::Robots::parse(robots, str::from_utf8(token)?);
        Ok(robots.is_allowed(path_of(str::from_utf8(url)?)))
    }),
    ("texting_robots", |robots, token, url| {
        let robot = texting_robots::Robot::new(str::from_utf8(token)?, robots);
        let robot = robot.map_err(|err| err.to_string())?;
        Ok(robot.allowed(str::from_utf8(url)?))
    }),
];

/// Path and query, for parsers that take no URL.
fn path_of(url: &str) -> &str {
    let url = url.split('#').next().unwrap_or_default();
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    let path = url[after_scheme..].find(['/', '?']).map(|at| &url[after_scheme + at..]);
    path.unwrap_or("/")
}

fn field(text: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    match text.strip_prefix(b"b64:") {
        Some(encoded) => Ok(STANDARD.decode(encoded)?),
        None => Ok(text.to_vec()),
    }
}

fn answer(parser: Parser, line: &[u8], robots: &mut Vec<u8>) -> Answer {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
    let [text, token, url, ..] = fields[..] else {
        return Err("a line has robots.txt, token and URL".into());
    };
    if text != b"-" {
        *robots = STANDARD.decode(text)?;
    }
    let (token, url) = (field(token)?, field(url)?);
    let answer = catch_unwind(|| parser(robots, &token, &url).map_err(|err| err.to_string()));
    Ok(answer.map_err(|_| "it panicked")??)
}

fn serve(parser: Parser) -> io::Result<()> {
    let mut robots = Vec::new();
    let mut stdout = io::stdout().lock();
    for line in io::stdin().lock().split(b'\n') {
        let line = line?;
        match answer(parser, &line, &mut robots) {
            Ok(allowed) => writeln!(stdout, "{}", u8::from(allowed))?,
            Err(err) => writeln!(stdout, "failed: {}", err.to_string().replace('\n', " "))?,
        }
        stdout.flush()?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1);
    let parser = PARSERS.iter().find(|(known, _)| name.as_deref() == Some(*known));
    let Some((_, parser)) = parser else {
        let names: Vec<&str> = PARSERS.iter().map(|(name, _)| *name).collect();
        eprintln!("usage: botaudit-conformance PARSER\nparsers: {}", names.join(", "));
        return ExitCode::from(2);
    };
    // A panic is no answer. Its text would be printed for each request.
    set_hook(Box::new(|_| {}));
    match serve(*parser) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("botaudit-conformance: {err}");
            ExitCode::from(2)
        }
    }
}
