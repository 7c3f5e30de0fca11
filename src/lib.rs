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
//! [`Classifier`] answers for URLs of many origins, and [`Audit`] makes the report of access logs.
//!
//! Who needs robots.txt alone can use the package
//! [`botaudit-robots`](https://docs.rs/botaudit-robots): [`RobotsTxt`], [`Matcher`] and what they
//! need are its types, and it has few dependencies.
//!
//! # Stability
//!
//! The items on this page are the interface of the crate. Its modules are public for the program,
//! its tests and benchmarks, and may change in any release; `docs/architecture.md` describes them.
//! What none of these uses is `pub(crate)`.

#![allow(
    rustdoc::private_intra_doc_links,
    reason = "the docs of hidden modules are for readers of the code"
)]

#[doc(hidden)]
pub use botaudit_robots::{bytes, matcher, structured_fields};

// The modules stand in reading order, from the lowest layer to the highest. A module uses only
// modules of lower layers, which `tests/layers.rs` checks.

#[doc(hidden)]
pub mod bounded;
#[doc(hidden)]
pub mod digest;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod merge;
mod mutex;
#[doc(hidden)]
pub mod numbers;
#[cfg(test)]
mod random;
#[doc(hidden)]
pub mod staged;
mod statistics;
#[doc(hidden)]
pub mod time;
#[doc(hidden)]
pub mod url;

#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod pipeline;

#[doc(hidden)]
pub mod crawlers;
#[doc(hidden)]
pub mod input;
#[doc(hidden)]
pub mod logs;
#[doc(hidden)]
pub mod net;
#[doc(hidden)]
pub mod robots;
#[doc(hidden)]
pub mod signatures;

#[doc(hidden)]
pub mod archive;
#[doc(hidden)]
pub mod judge;

#[doc(hidden)]
pub mod table;

#[doc(hidden)]
pub mod measures;

#[doc(hidden)]
pub mod audit;
#[doc(hidden)]
pub mod classify;
#[doc(hidden)]
pub mod lint;

#[doc(hidden)]
pub mod explain;

#[doc(hidden)]
pub mod report;

#[doc(hidden)]
pub mod abuse_report;
#[doc(hidden)]
pub mod deny;
#[doc(hidden)]
pub mod nightly;

#[doc(hidden)]
pub mod run;

#[doc(hidden)]
#[allow(
    rustdoc::bare_urls,
    rustdoc::invalid_html_tags,
    reason = "doc comments of arguments are the texts of --help"
)]
pub mod cli;

pub use crate::config::amounts::Money;
pub use crate::run::written::{ExampleRequest, ReportTable, TableRow, ViolationRow};
pub use crate::table::schema::Cell;
pub use botaudit_robots::{
    Decision, Dialect, InvalidToken, Matcher, RobotsTxt, StarGroups, first_product_token,
};
pub use classify::answer::VerdictWord;
pub use classify::classifier::{Classification, Classifier};
pub use config::audit_config::AuditConfig;
pub use config::setting::{AddressForm, Percent, Seconds, Timeout, Timezone};
pub use crawlers::crawler::{Crawler, Obligation, StatedPolicy};
pub use crawlers::identity::Identity;
pub use crawlers::registry::Registry;
pub use error::{Error, ErrorKind, Result};
pub use robots::usage::UsageSignal;
pub use run::audit_progress::AuditProgress;
pub use run::library::{Audit, AuditReport, AuditRow};
pub use table::schema::Column;
pub use time::{Day, UtcTime};
pub use url::origin::Origin;
