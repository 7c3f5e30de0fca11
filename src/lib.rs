//! `botaudit` joins access logs with robots.txt: which crawler broke which
//! rule in force, how often and when.
//!
//! The modules stand in reading order, from the ground up. A room uses only
//! rooms of lower floors; `tests/layers.rs` holds that.
//!
//! From the bytes of a robots.txt to verdicts:
//!
//! ```
//! use botaudit::policy::{compiled::CompiledPolicy, limits::Limits, select::{Star, select}};
//! use botaudit::robots::parse::parse;
//! use botaudit::url::{dialect::Dialect, path::prepare};
//!
//! let (robots, _findings) = parse(b"User-agent: *\nDisallow: /private/\n");
//! let selection = select(&robots, &["mybot"], Star::Honoured);
//! let policy = CompiledPolicy::new(&selection.rules, Dialect::Google, &Limits::default());
//!
//! let mut scratch = Vec::new();
//! for (path, allowed, line) in [("/", true, None), ("/private/a?b=c", false, Some(2))] {
//!     let path = prepare(path.as_bytes(), Dialect::Google, &mut scratch);
//!     let verdict = selection.verdict(policy.decide(path.as_bytes()));
//!     assert_eq!((verdict.allowed, verdict.by), (allowed, line));
//! }
//! ```

pub mod error;
pub mod time;
pub mod url;

pub mod crawlers;
pub mod input;
pub mod logs;
pub mod robots;

pub mod policy;
pub mod store;

pub mod judge;

pub mod audit;
pub mod lint;

pub mod explain;

pub mod report;

pub mod cli;
