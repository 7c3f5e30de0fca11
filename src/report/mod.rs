//! Tables and pages out of finished results.

pub mod age;
pub mod cell;
pub mod check_json;
pub mod check_text;
pub mod check_words;
pub mod classified;
pub mod columns;
pub mod crawlers_json;
pub mod crawlers_text;
pub mod csv;
pub mod directory;
pub mod facts;
pub mod figures;
pub mod findings;
pub mod formats_text;
pub mod html;
pub mod json_lines;
pub mod output;
pub mod privacy;
pub mod requests;
pub mod robots_rules;
pub mod run;
pub mod summary;
pub mod tables;
pub mod verdicts;
