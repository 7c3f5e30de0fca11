//! What users of other crates would write instead of `botaudit classify`, and the lists to compare
//! them by. `scripts/bench-classify` runs it.
//!
//! `make CORPUS DIRECTORY ORIGINS URLS` writes `robots/`, a file an origin in turn of those of CORPUS,
//! and `shuffled.txt`. `ask ENGINE ROBOTS LIST` judges a list on one thread, with one parsed file
//! cached for each origin, and prints a row a URL.

mod ask;
mod make;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["make", corpus, directory, origins, urls] => match (origins.parse(), urls.parse()) {
            (Ok(origins), Ok(urls)) => {
                make::make(corpus.as_ref(), directory.as_ref(), origins, urls)
            }
            _ => return usage(),
        },
        ["ask", "texting_robots", robots, list] => {
            ask::ask(robots.as_ref(), list.as_ref(), |body| {
                let robot = texting_robots::Robot::new(ask::ASKING, body).ok()?;
                Some(Box::new(move |path| robot.allowed(path)))
            })
        }
        ["ask", "robotxt", robots, list] => ask::ask(robots.as_ref(), list.as_ref(), |body| {
            let robots = robotxt::Robots::parse(body, ask::ASKING);
            Some(Box::new(move |path| robots.is_allowed(path)))
        }),
        _ => return usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("botaudit-classify-peers: {err}");
            ExitCode::from(2)
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: botaudit-classify-peers make CORPUS DIRECTORY ORIGINS URLS");
    eprintln!("       botaudit-classify-peers ask texting_robots|robotxt ROBOTS LIST");
    ExitCode::from(2)
}
