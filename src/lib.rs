//! `botaudit` joins access logs with robots.txt: which crawler broke which
//! rule in force, how often and when.
//!
//! As a library it judges without a log, too: parse a robots.txt, select what binds a crawler,
//! compile that once, and ask as often as you like. A verdict allocates nothing, and all of it
//! may be shared by threads.
//!
//! ```
//! use botaudit::matcher::{compiled::CompiledPolicy, limits::Limits, select::{Star, select}};
//! use botaudit::url::{dialect::Dialect, path::prepare};
//!
//! let text = b"User-agent: examplebot\nDisallow: /private/\nAllow: /private/*.css$\n";
//! let (robots, _findings) = botaudit::robots::parse::parse(text);
//! let selection = select(&robots, &["examplebot"], Star::Honoured);
//! let policy = CompiledPolicy::new(&selection.rules, Dialect::Google, &Limits::default());
//!
//! let mut scratch = Vec::new(); // kept from one URL to the next
//! for (target, allowed, line) in [
//!     (&b"/private/diary"[..], false, Some(2)),
//!     (b"/private/site.css", true, Some(3)),
//!     (b"/public", true, None),
//! ] {
//!     let path = prepare(target, Dialect::Google, &mut scratch);
//!     let decision = selection.decision(policy.decide(path.as_bytes()));
//!     assert_eq!((decision.allowed, decision.line), (allowed, line));
//! }
//! ```
//!
//! [`judge::Judge`] does this for many origins and all known crawlers, [`crawlers::registry::Registry`]
//! tells crawlers by their user agents, and [`lint::lint`] says what is odd in a robots.txt.
//!
//! The modules stand in reading order, from the ground up. A room uses only
//! rooms of lower floors; `tests/layers.rs` holds that.

pub mod bounded;
pub mod bytes;
pub mod digest;
pub mod error;
pub mod merge;
pub mod staged;
pub mod time;
pub mod url;

pub mod config;

pub mod crawlers;
pub mod input;
pub mod logs;
pub mod net;
pub mod robots;

pub mod archive;
pub mod matcher;

pub mod judge;

pub mod audit;
pub mod classify;
pub mod lint;

pub mod explain;

pub mod report;

pub mod nightly;

pub mod cli;
