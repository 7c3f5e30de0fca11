//! `--since` and `--until`.

use clap::Args;

use crate::error::{Error, Result};
use crate::time::{Window, Zone};

/// The flags.
#[derive(Args, Debug)]
#[command(next_help_heading = "How logs are read")]
pub struct WindowArgs {
    /// Pass over requests made before TIME: 2026-01-31, 2026-01-31T12:00, or with an offset.
    ///
    /// A date begins at midnight in the zone of --timezone, and so does a time without an offset.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Pass over requests made at TIME or later; written as for --since.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl WindowArgs {
    /// What they say in `zone`.
    pub fn window(&self, zone: &Zone) -> Result<Window> {
        let bound = |flag: &str, text: &Option<String>| match text {
            Some(text) => zone.parse(text).map(Some).ok_or_else(|| {
                Error::usage(format!(
                    "'{text}' is no time; write {flag} 2026-01-31T12:00:00Z or {flag} 2026-01-31"
                ))
            }),
            None => Ok(None),
        };
        let window =
            Window { since: bound("--since", &self.since)?, until: bound("--until", &self.until)? };
        match window {
            Window { since: Some(since), until: Some(until) } if since >= until => Err(
                Error::usage(format!("no time lies between --since {since} and --until {until}")),
            ),
            _ => Ok(window),
        }
    }
}
