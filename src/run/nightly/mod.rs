//! The nightly job: audits the new log lines of each site of a configuration file.

mod kept_robots;
pub mod night;
pub mod site;
mod told;
