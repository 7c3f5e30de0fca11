//! `botaudit` joins access logs with robots.txt: which crawler broke which
//! rule in force, how often and when.
//!
//! The modules stand in reading order, from the ground up. A room uses only
//! rooms of lower floors; `tests/layers.rs` holds that.

pub mod error;
pub mod time;
pub mod url;

pub mod crawlers;
pub mod input;
pub mod logs;
pub mod robots;

pub mod policy;
pub mod store;

pub mod judge;

pub mod audit;
pub mod lint;

pub mod explain;

pub mod report;

pub mod cli;
