//! Which crawler a user agent is, and which rules bind it.
//!
//! `registry` lists the crawlers, `identify` finds one by its user agent.

pub mod crawler;

mod pattern;
mod table;

pub mod identify;

pub mod cache;
pub mod declared_name;
pub mod identity;
pub mod manifest;
pub mod networks;
pub mod range_list;
pub mod ranges;
pub mod registry;

pub mod check;
