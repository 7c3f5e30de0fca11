//! Which crawler sent a user agent, and which rules bind it.
//!
//! `registry` lists the crawlers, `identify` finds one by its user agent.

pub mod crawler;

pub mod borders;
pub mod browser;
pub(crate) mod builtin;
pub mod pattern;
mod table;

pub mod identify;
pub mod product_token;

pub(crate) mod address_times;
pub mod bundled_ranges;
pub mod cache;
pub mod card;
pub(crate) mod client_ranges;
pub mod declared_name;
mod fingerprint;
pub mod identity;
pub mod key_archive;
mod list_times;
pub mod manifest;
pub mod network_names;
pub mod networks;
pub mod own_list;
pub(crate) mod own_names;
pub mod products;
pub(crate) mod range_archive;
pub mod range_files;
pub mod range_list;
pub mod ranges;
pub mod registry;
