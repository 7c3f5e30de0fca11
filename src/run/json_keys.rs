//! Refuses `--json-fields` for logs without keys that it could name.

use crate::audit::probe::examine;
use crate::error::{Error, Result};
use crate::input::source::{Location, Source};
use crate::logs::hints::Hints;

/// The most logs that are examined.
const EXAMINED_MAX: usize = 64;

/// Checks that a log may have keys that `--json-fields` can name. Other logs beside it are usual. A pipe can be read only once, so it is not examined.
pub(super) fn check_json_fields(sources: &[Source], hints: &Hints) -> Result<()> {
    if hints.json_fields.is_none() || sources.len() > EXAMINED_MAX {
        return Ok(());
    }
    let formats: Option<Vec<String>> =
        sources.iter().map(|source| other_format(source, hints)).collect();
    let Some((source, format)) =
        formats.and_then(|formats| sources.first().zip(formats.into_iter().next()))
    else {
        return Ok(());
    };
    Err(Error::usage(format!(
        "--json-fields is for the format json, and the format of {} is {format}; omit it, or add --log-format json",
        source.name
    )))
}

/// The format of `source` if lines were read by one without keys.
fn other_format(source: &Source, hints: &Hints) -> Option<String> {
    let Location::File(path) = &source.location else { return None };
    if !path.is_file() {
        return None;
    }
    let probe = examine(source, hints).ok().filter(|probe| probe.records > 0)?;
    let name = probe.detection.format?.name().to_owned();
    // Such as `json in docker`.
    (!name.split(' ').any(|word| word == "json")).then_some(name)
}
