//! Prints results: tables, pages and summaries.

mod came_and_went;
pub mod condition;
pub mod crawlers;
pub mod directory;
mod embedded_address;
pub mod formats_text;
pub mod html;
pub mod json_lines;
pub mod metrics;
pub mod nights;
pub mod output;
pub mod outputs;
pub mod page_model;
pub mod privacy;
pub mod requests;
pub mod robots_rules;
pub mod run;
pub mod summary;
pub mod summary_table;
pub mod table;
pub mod tables;
pub mod terminal_text;
pub mod threshold;
mod treatment;
pub mod unified_diff;
