//! robots.txt as data, from the package `botaudit-robots`, and the bytes that a tally keeps.

pub mod body;

pub use botaudit_robots::robots::{
    crawl_delay, field, finding, foreign, lines, model, parse, product_token, usage,
};
