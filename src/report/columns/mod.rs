//! Every column of every table that a run writes: name, unit, meaning.
//!
//! The columns are a promise: names and order stay; new ones come last.

pub mod column;
mod groups;
pub mod tables;
