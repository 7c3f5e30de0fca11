//! Which crawler may request which URL by a site's robots.txt: a parser and a matcher that answer as
//! [Google's own parser](https://github.com/google/robotstxt) does.
//!
//! One robots.txt, one URL:
//!
//! ```
//! use botaudit_robots::RobotsTxt;
//!
//! let robots = RobotsTxt::parse("User-agent: Googlebot\nDisallow: /private/\n");
//! assert!(!robots.is_allowed("Googlebot", "https://example.com/private/diary")?);
//! # Ok::<(), botaudit_robots::InvalidToken>(())
//! ```
//!
//! Many URLs: [`RobotsTxt::matcher`] compiles the rules of one crawler once. Threads can share the
//! [`Matcher`], and a decision allocates no memory.
//!
//! ```
//! use botaudit_robots::{Decision, RobotsTxt};
//!
//! let robots = RobotsTxt::parse(
//!     "User-agent: Googlebot\n\
//!      Disallow: /private/\n\
//!      Allow: /private/*.css$\n",
//! );
//! let matcher = robots.matcher(["Googlebot-Image", "Googlebot"])?;
//! let Decision { allowed, line } = matcher.decide("https://example.com/private/site.css");
//! assert_eq!((allowed, line), (true, Some(3)));
//! assert!(!matcher.is_allowed("/private/diary"));
//! # Ok::<(), botaudit_robots::InvalidToken>(())
//! ```
//!
//! # What decides
//!
//! - **Groups.** A crawler obeys the groups that name one of its product tokens, all of them
//!   together. If no group names it, those for `*` apply. A product token is a crawler's name in
//!   User-agent lines; [`first_product_token`] finds it in a User-Agent header.
//! - **Rules.** The longest pattern that matches decides; of equal ones, `Allow` does. `*` stands for
//!   any text, and `$` at the end of a pattern for the end of the path. If no rule matches, the URL is
//!   allowed, and [`Decision::line`] is `None`. `/robots.txt` without a query is always allowed.
//! - **Percent-encodings** are compared as [`Dialect`] says: as Google's parser does, or as RFC 9309.
//! - **Size.** The lines within the first 500 KiB count.
//!
//! Parsing never fails, because foreign input may be anything. What fails is a name that no
//! User-agent line could have, such as a whole User-Agent header: it would match no group, and
//! everything would seem allowed. See [`InvalidToken`].
//!
//! # Features
//!
//! `serde` implements its traits for the enumerations that botaudit keeps in files. It is off.
//!
//! # Stability
//!
//! The items on this page are the interface of the crate. Its modules are public for the package
//! `botaudit`, and may change in any release.

#[doc(hidden)]
pub mod bytes;
mod named_enum;
#[doc(hidden)]
pub mod structured_fields;
#[doc(hidden)]
pub mod url;

#[doc(hidden)]
pub mod robots;

#[doc(hidden)]
pub mod matcher;

pub use crate::url::path::Dialect;
pub use matcher::decision::Decision;
pub use matcher::robots_txt::{Matcher, RobotsTxt};
pub use robots::model::StarGroups;
pub use robots::product_token::{InvalidToken, first_product_token};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
