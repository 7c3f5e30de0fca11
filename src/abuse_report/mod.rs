//! A folder with the evidence against one crawler at one origin, for a complaint to its operator or to
//! the network that it came from.

pub mod folder;
pub mod folders;
pub mod reporter;

mod letter;
mod requests;
mod robots;
pub mod subject;
mod xarf;
