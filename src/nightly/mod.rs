//! The nightly job: reads the configuration, counts new lines, and writes the reports of days.
//!
//! Each run continues where the last one ended. The sums of each day are kept in the state, and a
//! report is made from the sums of its day, from all runs.

mod actor_day;
pub mod days;
mod earlier_fetches;
pub mod events;
pub mod ingest;
pub mod init;
pub mod log_identity;
pub mod plan;
pub mod state;
mod volume;
