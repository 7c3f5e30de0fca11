//! Rules for web servers and firewalls that refuse the crawlers of a report.
//!
//! A form is one syntax. All text of strangers reaches a file in one of two ways only: patterns
//! through [`pattern::portable`], and everything else through [`rules::comment`].

pub mod form;
pub mod pattern;
pub mod replay;
pub mod rules;
pub mod selection;

mod firewalls;
mod web_servers;
