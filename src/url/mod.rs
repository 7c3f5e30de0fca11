//! Origins and paths in the form in which they are compared. Paths are those of `botaudit-robots`.

pub mod origin;
pub mod without_query;

pub use botaudit_robots::url::path;
