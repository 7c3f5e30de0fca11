//! The only module with threads for jobs; they are those of rayon.
//!
//! The module does not know what a chunk or a batch is.

pub mod batches;
pub mod disk;
pub mod files;
pub mod parallel;
mod pool;
