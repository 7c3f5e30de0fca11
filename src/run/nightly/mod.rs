//! The nightly job: audits the new log lines of each site of a configuration file.

pub mod night;
pub mod site;
