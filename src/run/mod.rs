//! What a command does once its arguments are a configuration.
//!
//! A run knows no flags, no terminal and no signals. Whoever starts it follows it by a
//! [`console::Console`]: the command line, or an application.

pub mod audit;
pub mod audit_job;
pub mod audit_progress;
pub mod check;
pub mod classify;
pub mod collect;
pub mod console;
pub mod crawlers;
pub mod deny;
pub mod downloads;
pub mod evidence;
pub mod fetching;
pub mod files;
mod first_pass;
pub mod formats;
pub mod imports;
pub mod init;
pub mod library;
pub mod lint;
pub(crate) mod memory;
pub mod merge;
pub mod nightly;
pub mod notes;
pub mod report;
pub mod robots;
pub mod sandbox;
pub mod setup;
mod sources;
mod swapped;
pub mod written;
