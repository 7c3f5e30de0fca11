//! Reads paths, patterns and `-` as chunks of whole lines.
//!
//! This module handles bytes, encodings and lines; `logs` parses them. A file that cannot be opened is an
//! error. A damaged file is not: everything before the damage is delivered, and the damage is
//! reported at the end.

pub mod source;

pub mod copies;

pub mod open;

pub mod compression;
mod decoders;

pub mod raw_reader;

pub mod chunks;
pub mod content_hash;
pub mod lines;
mod log_text;
pub(crate) mod marks;
mod utf16;
pub(crate) mod warc_head;
mod warc_lines;
