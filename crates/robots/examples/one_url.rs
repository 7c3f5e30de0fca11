//! Prints whether a crawler may request one URL according to one robots.txt.
//!
//! `cargo run -p botaudit-robots --example one_url ROBOTS_TXT TOKEN URL`

use std::{env, error::Error};

use botaudit_robots::RobotsTxt;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [path, token, url] = &arguments[..] else {
        return Err("usage: one_url ROBOTS_TXT TOKEN URL".into());
    };
    let robots = RobotsTxt::parse(std::fs::read(path)?);
    println!("{}", if robots.is_allowed(token, url)? { "allowed" } else { "disallowed" });
    Ok(())
}
