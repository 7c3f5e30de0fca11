//! What all commands say to the terminal, and what they ask of the command line.

use std::io::{self, Write};
use std::path::Path;

use crate::error::{Error, Result};
use crate::report::cell::visible;

/// Prints `text` to standard output; a full disk or a closed pipe is an error.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|err| Error::io("cannot write to", Path::new("standard output"), err))
}

/// One line to standard error. Names of files and hosts are strangers' text.
pub fn complain(what: &str) {
    // There is nowhere left to complain to if this fails.
    let _ = writeln!(io::stderr().lock(), "botaudit: {}", visible(what.as_bytes()));
}
