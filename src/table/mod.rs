//! Tables: the names, units and meanings of their columns, and cells as text.
//!
//! The columns are a promise: names and order stay; new ones come last.

pub mod columns;
pub mod csv;
pub mod escape;
pub mod schema;
