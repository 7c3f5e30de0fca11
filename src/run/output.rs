//! Files that may be standard output.

use std::io::{self, Write};
use std::path::Path;

use crate::error::{Error, Result};
use crate::staged::is_stdout;
use crate::table::escape::visible;

use super::console::Console;

/// The name of standard output in messages.
pub const STDOUT_NAME: &str = "standard output";

/// Writes `bytes` to `path` as `replace` does, or to standard output if `path` is `-`.
pub fn write_output(
    path: &Path,
    bytes: &[u8],
    replace: fn(&Path, &[u8]) -> Result<()>,
    console: &dyn Console,
) -> Result<()> {
    match is_stdout(path) {
        true => console.stdout()?.write_all(bytes).map_err(cannot_print),
        false => replace(path, bytes),
    }
}

/// The error for a failed write to standard output.
pub fn cannot_print(err: io::Error) -> Error {
    Error::io("cannot write to", Path::new(STDOUT_NAME), err)
}

/// A path in a text for people.
pub fn path_text(path: &Path) -> String {
    visible(path.as_os_str().as_encoded_bytes())
}
