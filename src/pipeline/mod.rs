//! The only module with threads for jobs: readers queue items, workers process them.
//!
//! The module does not know what an item is.

mod buffers;
pub mod disk;
pub mod in_order;
pub mod parallel;
pub mod queue;
