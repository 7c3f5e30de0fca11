//! Paths in the form in which they are compared.

pub mod dialect;
pub mod path;
pub mod target;
