//! A log and a robots.txt that were given in each other's place.

use crate::error::{Error, Result};
use crate::files::read_up_to;
use crate::input::source::{Location, Source};
use crate::judge::Judge;
use crate::robots::parse::parse_body;

/// The most bytes of a log that are read to recognise a robots.txt.
const ROBOTS_BYTES_MAX: u64 = 1 << 20;

/// Refuses a log in place of the robots.txt, with the robots.txt among the logs.
///
/// # Errors
/// If they are swapped.
pub(super) fn refuse_swapped(judge: &Judge, logs: &[Source]) -> Result<()> {
    let Some(what) = judge.unnamed().and_then(|robots| robots.foreign) else { return Ok(()) };
    let is_robots_txt = |log: &&Source| {
        let Location::File(path) = &log.location else { return false };
        // A pipe can be read only once.
        let body = path.is_file().then(|| read_up_to(path, ROBOTS_BYTES_MAX).ok().flatten());
        body.flatten().is_some_and(|body| !parse_body(&body).groups.is_empty())
    };
    let Some(log) = logs.iter().find(is_robots_txt) else { return Ok(()) };
    let (robots, log) = (judge.source(None).unwrap_or_default(), &log.name);
    Err(Error::usage(format!(
        "--robots and the log are swapped: {robots} is {}, and {log} is a robots.txt; write --robots \
         {log} {robots}",
        what.as_str()
    )))
}
