//! The job of every night: what a configuration file asks for, one day of each site, and where
//! the reports of days stand.
//!
//! Logs are read on where the last run ended, and the sums of each day are kept in the state; a report
//! is made of the sums of its day, whichever runs they came from.

pub mod days;
pub mod duplicates;
pub mod events;
pub mod ingest;
pub mod init;
pub mod lock;
pub mod log_identity;
pub mod plan;
pub mod refused;
pub mod rotation;
pub mod state;
