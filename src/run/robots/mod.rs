//! Archives of robots.txt versions: filled, and asked.

pub mod fetch;
pub(crate) mod name_table;
pub(crate) mod named;
pub mod queries;
pub mod restrictions;
