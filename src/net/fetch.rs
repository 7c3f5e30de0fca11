//! Fetches a robots.txt, and tells what came of it in the terms of Google's documentation.
//!
//! An unconditional GET of `/robots.txt` (RETR over FTP), at least five redirects, the first
//! 500 KiB. The answer binds the origin that was asked, whichever gave it.

use url::Url;

use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::follow::follow;
use super::outcome::{FetchOutcome, Redirect};
use super::rate_limit::RateLimit;
use super::settings::Settings;

/// A robots.txt as it was got, or why it was not.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fetched {
    /// When it was asked for.
    pub fetched_at: UtcTime,
    /// The last URL that was asked.
    pub final_url: String,
    /// The redirects that were followed, in order.
    pub chain: Vec<Redirect>,
    /// What came of it.
    pub outcome: FetchOutcome,
    /// `Cache-Control: max-age` of the last answer, in seconds, at most 2^31.
    pub max_age_seconds: Option<u64>,
    /// The bytes of a success, decoded, at most those of the settings: by default one more than
    /// count, so that a file that was cut can be told. Empty for everything else.
    pub body: Vec<u8>,
    /// The outcome in words where there is more to say: a server's refusal, a system's error.
    pub note: String,
}

/// Fetches the robots.txt of `origin`. Whoever shares `rate_limit` is polite to the same hosts.
pub fn fetch(origin: &Origin, settings: &Settings, rate_limit: &RateLimit) -> Fetched {
    let url = match robots_url(origin) {
        Ok(url) => url,
        Err(why) => return not_asked(origin, why),
    };
    let followed = follow(url, settings, rate_limit);
    Fetched {
        fetched_at: followed.asked_at,
        final_url: followed.last_url.into(),
        chain: followed.chain,
        outcome: followed.outcome,
        max_age_seconds: followed.max_age_seconds,
        body: followed.body,
        note: followed.note,
    }
}

fn robots_url(origin: &Origin) -> Result<Url, String> {
    if !matches!(origin.scheme(), "http" | "https" | "ftp") {
        return Err(format!("no robots.txt is defined for {}", origin.scheme()));
    }
    Url::parse(&format!("{origin}/robots.txt")).map_err(|err| err.to_string())
}

fn not_asked(origin: &Origin, why: String) -> Fetched {
    Fetched {
        fetched_at: jiff::Timestamp::now().into(),
        final_url: format!("{origin}/robots.txt"),
        chain: Vec::new(),
        outcome: FetchOutcome::NotAsked,
        max_age_seconds: None,
        body: Vec::new(),
        note: why,
    }
}
