//! The settings of an audit, as its threads use them.

use std::sync::Arc;

use ipnet::IpNet;

use crate::config::audit_config::REACTION_DAYS;
use crate::crawlers::network_names::NetworkNames;
use crate::judge::timeline::BeforeFirst;
use crate::logs::format::Hints;
use crate::time::{Window, Zone};

use super::draft::Draft;
use super::origin_options::OriginOptions;
use super::tally::{counter::TallyLimits, urls::UrlPart};

/// The default size of a chunk in bytes: what a thread has inflated is still in its processor's
/// cache when it counts it.
pub(crate) const CHUNK_BYTES: usize = 384 << 10;

/// How to audit.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads that read, parse and judge.
    pub threads: usize,
    /// The size of a chunk in bytes.
    pub chunk_bytes: usize,
    /// The settings for the formats of all files.
    pub hints: Hints,
    /// The settings for origins.
    pub naming: OriginOptions,
    /// Proxies whose X-Forwarded-For is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// The time zone of days.
    pub zone: Zone,
    /// Lines of other times are skipped.
    pub window: Window,
    /// How requests before the first snapshot of a robots.txt are judged.
    pub before_first: BeforeFirst,
    /// A draft of a robots.txt that requests are also judged by.
    pub draft: Option<Arc<Draft>>,
    /// How many days before a change of robots.txt requests count for it.
    pub reaction_days: usize,
    /// After how many minutes without requests a session ends; `None` if none are counted.
    pub session_minutes: Option<usize>,
    /// Whether requests are counted by path.
    pub paths: bool,
    /// Which part of a URL makes it distinct.
    pub url_part: UrlPart,
    /// Networks by which sessions are counted.
    pub networks: Option<Arc<NetworkNames>>,
    /// The limits of a tally.
    pub limits: TallyLimits,
}

impl Options {
    /// The defaults: all lines, in all formats.
    pub fn new(threads: usize) -> Options {
        Options {
            threads,
            chunk_bytes: CHUNK_BYTES,
            hints: Hints::default(),
            naming: OriginOptions::default(),
            trusted_proxies: Vec::new(),
            zone: Zone::UTC,
            window: Window::ALWAYS,
            before_first: BeforeFirst::AsFirst,
            draft: None,
            reaction_days: REACTION_DAYS,
            session_minutes: None,
            paths: false,
            url_part: UrlPart::Whole,
            networks: None,
            limits: TallyLimits::default(),
        }
    }
}
