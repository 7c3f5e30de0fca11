//! Which crawler may request which URL by a site's robots.txt, and which crawlers broke its rules,
//! by its access logs.
//!
//! [`RobotsTxt`] answers for one robots.txt:
//!
//! ```
//! use botaudit::{Decision, Registry, RobotsTxt};
//!
//! let robots = RobotsTxt::parse(
//!     "User-agent: Googlebot\n\
//!      Disallow: /private/\n\
//!      Allow: /private/*.css$\n",
//! );
//! assert!(!robots.is_allowed("Googlebot", "/private/diary")?);
//!
//! // For many URLs: the rules of one crawler, compiled once and shared by threads.
//! let matcher = robots.matcher(["Googlebot-Image", "Googlebot"])?;
//! let Decision { allowed, line } = matcher.decide("https://example.com/private/site.css");
//! assert_eq!((allowed, line), (true, Some(3)));
//!
//! // For a whole User-Agent header.
//! let header = "Googlebot/2.1 (+http://www.google.com/bot.html)";
//! let matcher = Registry::builtin().matcher(&robots, header);
//! assert!(!matcher.is_allowed("/private/diary"));
//! # Ok::<(), botaudit::Error>(())
//! ```
//!
//! [`Registry`] knows crawlers by their User-Agent headers.
//!
#![cfg_attr(
    feature = "cli",
    doc = "[`Classifier`] answers for URLs of many origins, and [`Audit`] makes the report of access logs."
)]
//!
//! # Features
//!
//! `cli`, on by default, is the program, and what the library needs for archives, logs and
//! reports. Without it (`default-features = false`), the crate has the types above and ten small
//! dependencies.
//!
//! # Stability
//!
//! The items on this page are the interface of the crate. Its modules are public for the program,
//! its tests and benchmarks, and may change in any release; `docs/architecture.md` describes them.

// The modules stand in reading order, from the lowest layer to the highest. A module uses only
// modules of lower layers, which `tests/layers.rs` checks.

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod bounded;
#[doc(hidden)]
pub mod bytes;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod digest;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod files;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod merge;
#[cfg(feature = "cli")]
mod mutex;
mod named_enum;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod numbers;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod staged;
#[cfg(feature = "cli")]
mod statistics;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod time;
#[doc(hidden)]
pub mod url;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod config;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod pipeline;

#[doc(hidden)]
pub mod crawlers;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod input;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod logs;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod net;
#[doc(hidden)]
pub mod robots;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod archive;
#[doc(hidden)]
pub mod matcher;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod judge;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod table;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod audit;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod classify;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod lint;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod explain;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod report;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod abuse_report;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod deny;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod nightly;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod run;

#[cfg(feature = "cli")]
#[doc(hidden)]
#[allow(
    rustdoc::bare_urls,
    rustdoc::invalid_html_tags,
    reason = "doc comments of arguments are the texts of --help"
)]
pub mod cli;

#[cfg(feature = "cli")]
pub use classify::answer::VerdictWord;
#[cfg(feature = "cli")]
pub use classify::classifier::{Classification, Classifier};
#[cfg(feature = "cli")]
pub use config::audit_config::AuditConfig;
pub use crawlers::crawler::{Crawler, Obligation, StatedPolicy};
pub use crawlers::registry::Registry;
pub use error::{Error, Result};
pub use matcher::decision::Decision;
pub use matcher::robots_txt::{Matcher, RobotsTxt};
pub use robots::model::StarGroups;
pub use robots::product_token::{InvalidToken, first_product_token};
#[cfg(feature = "cli")]
pub use run::library::{Audit, AuditReport, AuditRow};
pub use url::dialect::Dialect;
