//! A folder with the evidence against one crawler at one origin, for a complaint to its operator or to
//! the network that it came from.

pub mod folder;
pub mod folders;
pub mod reporter;

mod files;
mod letter;
mod requests;
mod robots;
mod signed;
pub mod subject;
mod xarf;
