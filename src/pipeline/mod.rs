//! The only place where threads meet: readers queue items, workers work on them.
//!
//! Nothing here knows what an item is.

mod buffers;
pub mod in_order;
pub mod queue;
