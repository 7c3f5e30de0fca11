//! Reads paths, patterns and `-` as chunks of whole lines.
//!
//! This module handles bytes, encodings and lines; `logs` parses them. A file that cannot be opened is an
//! error. A damaged file is not: everything before the damage is delivered, and the damage is
//! reported at the end.

pub mod source;

pub mod copies;
pub mod lasting_name;

pub mod open;

pub mod compression;

mod bzip2;
mod gzip;
mod inflate;
mod raw_reader;
mod step;
mod xz;
mod zstd;

pub mod checkpoint;
pub mod chunks;
pub mod lines;
mod log_text;
pub(crate) mod marks;
pub mod read_error;
pub mod sketch;
mod utf16;
pub(crate) mod warc_head;
mod warc_lines;
