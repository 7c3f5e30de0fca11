//! Which crawler sent a user agent, and which rules bind it.
//!
//! `registry` lists the crawlers, `identify` finds one by its user agent.

pub mod crawler;

pub mod browser;
mod builtin;
pub mod lazy;
pub mod pattern;
mod table;

pub mod identify;
pub mod product_token;

mod address_times;
pub mod cache;
pub mod declared_name;
mod fingerprint;
pub mod identity;
mod list_times;
pub mod manifest;
pub mod network_names;
pub mod networks;
pub mod products;
pub(crate) mod range_archive;
pub mod range_files;
pub mod range_list;
pub mod ranges;
pub mod registry;
pub(crate) mod renamed_lists;

pub mod check;
