//! Which crawler sent a user agent, and which rules bind it.
//!
//! `registry` lists the crawlers, `identify` finds one by its user agent.

pub mod crawler;

mod builtin;
pub mod lazy;
pub mod pattern;
mod table;

pub mod identify;
pub mod product_token;

#[cfg(feature = "cli")]
pub mod cache;
#[cfg(feature = "cli")]
pub mod declared_name;
#[cfg(feature = "cli")]
pub mod identity;
#[cfg(feature = "cli")]
pub mod manifest;
#[cfg(feature = "cli")]
pub mod network_names;
#[cfg(feature = "cli")]
pub mod networks;
#[cfg(feature = "cli")]
pub mod products;
#[cfg(feature = "cli")]
pub mod range_list;
#[cfg(feature = "cli")]
pub mod ranges;
pub mod registry;
#[cfg(feature = "cli")]
mod renamed_lists;

#[cfg(feature = "cli")]
pub mod check;
