//! Downloads a published file, such as the address ranges of a crawler, completely or not at all.

use std::path::Path;

use url::Url;

use crate::error::{Error, Result};

use super::{fetch::follow, outcome::FetchOutcome, settings::Settings};

/// The file at `url`, following redirects as the settings allow.
///
/// # Errors
/// If the file does not exist, or it has `body_bytes_max` bytes or more.
pub fn download(url: &str, settings: &Settings) -> Result<Vec<u8>> {
    let invalid = |why: String| Error::invalid_file(Path::new(url), why);
    let parsed = Url::parse(url).map_err(|err| invalid(err.to_string()))?;
    if !matches!(parsed.scheme(), "http" | "https" | "ftp") || parsed.host_str().is_none() {
        return Err(invalid("not an http, https or ftp URL".to_owned()));
    }
    let followed = follow(parsed, settings);
    match followed.outcome {
        FetchOutcome::Status(200) if followed.body.len() < settings.body_bytes_max => {
            Ok(followed.body)
        }
        FetchOutcome::Status(200) => {
            Err(invalid(format!("too large: {} bytes or more", settings.body_bytes_max)))
        }
        outcome if followed.note.is_empty() => Err(invalid(format!("download failed: {outcome}"))),
        outcome => Err(invalid(format!("download failed: {outcome} ({})", followed.note))),
    }
}
