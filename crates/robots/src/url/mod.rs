//! Paths in the form in which they are compared.

pub mod path;
