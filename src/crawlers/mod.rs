//! Which crawler a user agent is, and which rules bind it.

pub mod crawler;
