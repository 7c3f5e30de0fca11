//! The one tally: what is known of some log lines.
//!
//! While lines are read it is dense ([`counter`], [`rows`]); at the end it is put in order by names
//! ([`build`]), and that is what is written ([`mod@file`]), merged ([`merge`]) and reported.

pub mod build;
pub mod counter;
pub mod counts;
pub mod crawler_tally;
pub mod example;
pub mod file;
pub mod header;
pub mod identity_sources;
pub mod made_by;
pub mod merge;
pub mod rows;
pub mod rulings;
pub mod short_map;
pub mod user_agents;

use crate::judge::snapshot_history::SnapshotInForce;

use super::input_tally::Input;

/// All that is known of some log lines, in order and by names: what is merged, kept and reported.
///
/// Merging is associative and commutative, so that neither the number of threads or machines nor
/// the order of files can show in a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// Which program made it, by which options and rules, of which inputs.
    pub header: header::Header,
    /// The counts, by numbers that the header explains.
    pub counts: counts::Counts,
}

impl Tally {
    /// The inputs, with what became of their lines.
    pub fn inputs(&self) -> Vec<Input> {
        let inputs = self.header.inputs.iter().cloned().zip(self.counts.inputs.iter().cloned());
        inputs.map(|(summary, tally)| Input { summary, tally }).collect()
    }

    /// Of each origin that has a history and rows: the snapshots that were in force between its first
    /// and its last request.
    pub fn snapshots_in_force(&self) -> Vec<(String, Vec<SnapshotInForce>)> {
        let in_force = self.counts.origins.iter().filter_map(|of| {
            let (_, snapshots) = of.in_force(&self.header.rulings)?;
            Some((of.origin_key.to_string(), snapshots))
        });
        in_force.collect()
    }
}
