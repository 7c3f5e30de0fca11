//! robots.txt as data.

pub mod finding;
pub mod model;

#[cfg(feature = "cli")]
pub mod body;
pub mod crawl_delay;
pub mod dictionary;
pub mod field;
#[cfg(feature = "cli")]
pub mod foreign;
pub mod lines;
pub mod parse;
pub mod product_token;
pub mod usage;
