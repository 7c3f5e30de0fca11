//! `botaudit` joins access logs with robots.txt: which crawler broke which
//! rule in force, how often and when.
//!
//! As a library it also judges without a log: parse a robots.txt, select the rules that bind a
//! crawler, compile them once, and decide any number of paths. A decision allocates nothing, and
//! threads can share all of it.
//!
//! ```
//! use botaudit::matcher::{compiled::CompiledPolicy, limits::Limits, select::{Star, select}};
//! use botaudit::url::{dialect::Dialect, path::prepare};
//!
//! let text = b"User-agent: examplebot\nDisallow: /private/\nAllow: /private/*.css$\n";
//! let (robots, _findings) = botaudit::robots::parse::parse(text);
//! let selection = select(&robots, &["examplebot"], Star::Honoured);
//! let policy = CompiledPolicy::new(&selection.rules(), Dialect::Google, &Limits::default());
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
//! [`judge::Judge`] gives the [`judge::verdict::Verdict`] for many origins and all known crawlers,
//! [`crawlers::registry::Registry`] identifies crawlers by their user agents, [`audit::run`] counts
//! logs into an [`audit::tally::Tally`], and [`lint::lint`] finds mistakes in a robots.txt.
//!
//! The modules stand in reading order, from the lowest layer to the highest. A module uses only
//! modules of lower layers, which `tests/layers.rs` checks; `docs/architecture.md` describes them.

#[cfg(feature = "cli")]
pub mod bounded;
pub mod bytes;
#[cfg(feature = "cli")]
pub mod digest;
pub mod error;
pub mod files;
#[cfg(feature = "cli")]
pub mod merge;
mod named_enum;
#[cfg(feature = "cli")]
pub mod staged;
#[cfg(feature = "cli")]
pub mod time;
pub mod url;

#[cfg(feature = "cli")]
pub mod config;
#[cfg(feature = "cli")]
pub mod pipeline;

pub mod crawlers;
#[cfg(feature = "cli")]
pub mod input;
#[cfg(feature = "cli")]
pub mod logs;
#[cfg(feature = "cli")]
pub mod net;
pub mod robots;

#[cfg(feature = "cli")]
pub mod archive;
pub mod matcher;

#[cfg(feature = "cli")]
pub mod judge;

#[cfg(feature = "cli")]
pub mod audit;
#[cfg(feature = "cli")]
pub mod classify;
#[cfg(feature = "cli")]
pub mod lint;

#[cfg(feature = "cli")]
pub mod explain;

#[cfg(feature = "cli")]
pub mod report;

#[cfg(feature = "cli")]
pub mod nightly;

#[cfg(feature = "cli")]
pub mod cli;
