//! The network flags that several commands share.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::error::{Error, Result};
use crate::net::settings::{Settings, Trust, UserAgent};

/// The longest timeout and the longest pause, in seconds: a day.
const SECONDS_MAX: f64 = 86_400.0;

/// Network settings. No proxy is used.
#[derive(Args, Debug)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkArgs {
    /// User-Agent header to send [default: botaudit/VERSION and a URL]
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    user_agent: Option<String>,

    /// Time limit of one fetch, with its redirects.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    timeout: f64,

    /// PEM file of the certificate authorities to trust instead of the built-in ones (Mozilla's).
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    ca_file: Option<PathBuf>,
}

impl NetworkArgs {
    /// The settings for `net`.
    pub(crate) fn settings(&self) -> Result<Settings> {
        let settings = Settings::default();
        let total_timeout = seconds("--timeout", self.timeout)?;
        if total_timeout.is_zero() {
            return Err(Error::usage("--timeout 0 is too short; write --timeout 30"));
        }
        let user_agent = match &self.user_agent {
            Some(text) => UserAgent::new(text)?,
            None => UserAgent::default(),
        };
        let trust = match &self.ca_file {
            Some(path) => Trust::from_pem_file(path)?,
            None => Trust::BuiltIn,
        };
        Ok(Settings { user_agent, total_timeout, trust, ..settings })
    }
}

/// The value of `flag` in seconds.
pub(crate) fn seconds(flag: &str, value: f64) -> Result<Duration> {
    if (0.0..=SECONDS_MAX).contains(&value) {
        return Ok(Duration::from_secs_f64(value));
    }
    Err(Error::usage(format!(
        "{flag} {value} is not valid; write a number of seconds, at most \
                              {SECONDS_MAX}"
    )))
}
