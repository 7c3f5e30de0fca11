//! Caddy's console format: columns with tabs in between, and an object with all other fields.
//!
//! ```text
//! 2025/04/17 05:10:56.123<tab>info<tab>http.log.access.log0<tab>handled request<tab>{"request": {...}, "status": 200}
//! ```

use memchr::memmem;

use crate::logs::time::Time;
use crate::time::Zone;

/// A line of the console format.
pub(super) struct ConsoleLine<'a> {
    pub(super) time: &'a [u8],
    pub(super) logger: &'a [u8],
    /// Empty if the line has none.
    pub(super) object: &'a [u8],
}

impl<'a> ConsoleLine<'a> {
    /// Splits a line; `None` if it does not begin with a time and a level.
    pub(super) fn of(line: &'a [u8]) -> Option<ConsoleLine<'a>> {
        let mut columns = line.split(|&byte| byte == b'\t');
        let (time, level) = (columns.next()?, columns.next()?);
        let is_console = !level.is_empty() && Time::Local(time, &Zone::UTC).read().is_some();
        let object = memmem::find(line, b"\t{").map_or(&b""[..], |tab| &line[tab + 1..]);
        let logger = columns.next()?;
        is_console.then_some(ConsoleLine { time, logger, object })
    }
}
