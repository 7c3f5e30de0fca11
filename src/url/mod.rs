//! Origins and paths in the form in which they are compared.

pub mod dialect;
#[cfg(feature = "cli")]
pub mod origin;
pub mod path;
pub mod target;
#[cfg(feature = "cli")]
pub mod without_query;
