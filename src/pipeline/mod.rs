//! The only module with threads for jobs: readers queue items, workers process them.
//!
//! The module does not know what an item is.

pub mod both;
mod buffers;
pub mod in_order;
pub mod mapped;
pub mod queue;
