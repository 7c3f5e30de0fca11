//! Prints which URLs a crawler may request according to one robots.txt.
//!
//! `cargo run --no-default-features --example check_urls ROBOTS_TXT TOKEN URL...`

use botaudit::{Decision, RobotsTxt};

use std::env;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let usage = "usage: check_urls ROBOTS_TXT TOKEN URL...";
    let (path, token) = arguments.next().zip(arguments.next()).ok_or(usage)?;

    let robots = RobotsTxt::parse(std::fs::read(path)?);
    let matcher = robots.matcher([token])?;
    for url in arguments {
        let Decision { allowed, line } = matcher.decide(&url);
        let word = if allowed { "allowed" } else { "disallowed" };
        match line {
            Some(line) => println!("{word} by line {line}: {url}"),
            None => println!("{word}: {url}"),
        }
    }
    Ok(())
}
