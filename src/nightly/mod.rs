//! The job of every night: what a configuration file asks for, one day of each site, and where
//! the reports of days stand.
//!
//! Each run reads the logs of a day anew, so nothing is remembered that could be counted twice or
//! be lost when a run is killed.

pub mod config;
pub mod copies;
pub mod days;
pub mod lock;
pub mod rotation;
