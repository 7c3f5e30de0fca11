//! robots.txt as data.

pub mod model;

pub mod crawl_delay;
pub mod foreign;
pub mod lines;
pub mod parse;
pub mod product_token;
pub mod usage;
