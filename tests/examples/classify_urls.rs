//! Classifies URLs of many sites, one per line on standard input, by their robots.txt files.
//!
//! `cargo run --example classify_urls DIRECTORY TOKEN < urls.txt`

use botaudit::{Classifier, Dialect};

use std::error::Error;
use std::io::{self, BufWriter, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: classify_urls DIRECTORY TOKEN < urls.txt";
    let (directory, token) = arguments.next().zip(arguments.next()).ok_or(usage)?;

    let classifier = Classifier::open(directory, [token], Dialect::Google)?;
    let mut output = BufWriter::new(io::stdout());
    for url in io::stdin().lines() {
        let url = url?;
        writeln!(output, "{}\t{url}", classifier.classify(&url).verdict.as_str())?;
    }
    output.flush()?;
    Ok(())
}
