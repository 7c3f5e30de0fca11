//! Files that may be standard output.

use std::{io, path::Path};

use crate::error::Error;
use crate::table::escape::visible;

/// The name of standard output in messages.
pub(crate) const STDOUT_NAME: &str = "standard output";

/// The error for a failed write to standard output.
pub(crate) fn cannot_print(err: io::Error) -> Error {
    Error::io("cannot write to", Path::new(STDOUT_NAME), err)
}

/// A path in a text for people.
pub(crate) fn path_text(path: &Path) -> String {
    visible(path.as_os_str().as_encoded_bytes())
}
