//! Rules and a path to a verdict; pure.
//!
//! `select` finds the rules that bind a crawler, `compiled` decides with them,
//! and `reference` is what every faster way must agree with.

pub mod select;
pub mod verdict;

pub mod pattern;
pub mod reference;

pub mod encoded;
pub mod glob;
pub mod ranked;

pub mod ordered;

pub mod automaton;
pub mod bloom;
pub mod heads;
pub mod limits;
pub mod set;
pub mod shelf;
pub mod tails;

pub mod compiled;

pub mod key;

pub mod library;
