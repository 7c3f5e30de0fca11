//! Finds the logs or lists that the user names, and says what is not read.

use std::ffi::OsString;

use crate::input::source::{Source, expand, unread_directories};

use super::console::Console;

/// The logs or lists that `arguments` name, as [`expand`] has them. Folders that are not read are told.
pub(crate) fn found_sources(arguments: &[OsString], console: &dyn Console) -> Vec<Source> {
    unread_directories(arguments).iter().for_each(|what| console.warn(what));
    expand(arguments)
}
