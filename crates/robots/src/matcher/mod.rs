//! Rules and a path to a decision, without side effects.
//!
//! `select` finds the rules that bind a crawler, `compiled` decides with them, and `reference`
//! defines the correct result.

pub mod decision;
pub mod select;

pub mod pattern;
pub mod reference;

pub mod encoded;
pub mod glob;
pub mod precedence;

pub mod linear;

mod automaton;
mod bloom;
pub mod compiled_set;
pub mod dfa_cache;
pub mod limits;
mod prefix_table;
mod suffixes;
mod window_index;

pub mod compiled;

pub mod robots_txt;
pub mod rule_set_key;
