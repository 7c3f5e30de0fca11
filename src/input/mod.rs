//! Paths, globs and `-` to chunks of whole lines.
//!
//! This module knows bytes and newlines; what a line means is `logs`' affair. A
//! file that cannot be opened is an error. A file that turns out to be damaged
//! is not: everything before the damage is delivered, and the damage is told
//! at the end.

pub mod source;

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
pub mod read_error;
