//! The tally: all counts of some log lines.
//!
//! While lines are read, it is dense ([`counter`], [`rows`]). At the end it is ordered by names
//! ([`build`]); this form is written ([`mod@file`]), merged ([`merge`]) and reported.

pub mod build;
pub mod counter;
pub mod counts;
pub mod file;
pub mod header;
pub mod identity_sources;
pub mod merge;
pub mod paths;
pub mod rows;
pub mod rulings;
pub mod urls;

use crate::judge::origin_history::SnapshotInForce;

use super::input_tally::Input;

/// All counts of some log lines, ordered by names: the form that is merged, stored and reported.
///
/// Merging is associative and commutative, so a report does not depend on the number of threads or
/// machines, or the order of files.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// The program, options, rules and inputs that it was made with.
    pub header: header::Header,
    /// The counts, by numbers that the header explains.
    pub counts: counts::Counts,
}

impl Tally {
    /// The inputs, with the counts of their lines.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        let inputs = self.header.inputs.iter().cloned().zip(self.counts.inputs.iter().cloned());
        inputs.map(|(summary, tally)| Input { summary, tally }).collect()
    }

    /// For each origin with a history and rows, the snapshots in force between its first and its
    /// last request. The history of a file has the name of the file instead.
    pub(crate) fn snapshots_in_force(&self) -> Vec<(String, Vec<SnapshotInForce>)> {
        let in_force = self.counts.origins.iter().filter_map(|of| {
            let rulings = &self.header.rulings;
            let (history, snapshots) = of.in_force(rulings)?;
            let name = match rulings.is_archive {
                true => of.origin_key.to_string(),
                false => history.source.clone(),
            };
            Some((name, snapshots))
        });
        in_force.collect()
    }
}
