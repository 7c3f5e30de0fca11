//! Prints which URLs a crawler may request according to one robots.txt; reads them, one in a line.
//!
//! `cargo run -p botaudit-robots --example check_urls ROBOTS_TXT TOKEN < urls.txt`

use std::{env, error::Error, io};

use botaudit_robots::{Decision, RobotsTxt};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let usage = "usage: check_urls ROBOTS_TXT TOKEN < urls.txt";
    let (path, token) = arguments.next().zip(arguments.next()).ok_or(usage)?;

    let robots = RobotsTxt::parse(std::fs::read(path)?);
    let matcher = robots.matcher([token])?;
    for url in io::stdin().lines() {
        let url = url?;
        let Decision { allowed, line } = matcher.decide(&url);
        let word = if allowed { "allowed" } else { "disallowed" };
        match line {
            Some(line) => println!("{word} by line {line}: {url}"),
            None => println!("{word}: {url}"),
        }
    }
    Ok(())
}
