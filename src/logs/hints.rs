//! What the user says about the format of all files.

use std::sync::Arc;

use crate::logs::{format::Format, haproxy::Captures, json::own_names::OwnNames};
use crate::time::Zone;

/// The user's settings for all files.
#[derive(Clone, Debug)]
pub struct Hints {
    /// The format; `None` if it is detected for each file.
    pub format: Option<Format>,
    /// The zone of times without one.
    pub zone: Zone,
    /// The request headers that HAProxy captures; `None` if they are detected for each file.
    pub haproxy_captures: Option<Captures>,
    /// The keys of JSON logs.
    pub json_fields: Option<OwnNames>,
    /// The user agent of requests in crawls that do not name one.
    pub user_agent: Option<Arc<[u8]>>,
}

impl Default for Hints {
    /// No settings.
    fn default() -> Hints {
        Hints {
            format: None,
            zone: Zone::UTC,
            haproxy_captures: None,
            json_fields: None,
            user_agent: None,
        }
    }
}
