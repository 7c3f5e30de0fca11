//! The audit of a day whose sums were kept.
//!
//! It is checked and put in order like any other; only its lines are not read again.

use std::collections::BTreeMap;

use crate::crawlers::registry::Registry;
use crate::error::Result;
use crate::input::source::{FileId, Location, Source};
use crate::judge::Judge;
use crate::judge::timeline::BeforeFirst;
use crate::time::Day;

use super::file::FileTally;
use super::finish::{Audit, FormatUsed, InputEnd};
use super::identities::Identities;
use super::identity_warnings::{identity_note, identity_warnings};
use super::record::{DayRecord, Ids};

/// What is told of an input besides its lines.
#[derive(Clone, Debug, Default)]
pub struct KeptInput {
    /// Its name.
    pub name: String,
    /// The log format.
    pub format: Option<FormatUsed>,
    /// Why its rest could not be read.
    pub damage: Option<String>,
}

/// The audit of `day`, of which `record` was kept. `inputs` are in the order in which examples are
/// told, by their numbers; `judge` knows each robots.txt that is named.
///
/// # Errors
/// Where the record names what nobody knows, or sums that must hold do not.
pub fn audit_of(
    record: &DayRecord,
    day: Day,
    inputs: &[(i64, KeptInput)],
    (judge, before_first): (&Judge, BeforeFirst),
    registry: &Registry,
    identities: &Identities,
) -> Result<Audit> {
    let present: Vec<i64> = record.inputs().collect();
    let mut inputs: Vec<&(i64, KeptInput)> =
        inputs.iter().filter(|(id, _)| present.contains(id)).collect();
    inputs.sort_by(|(_, left), (_, right)| left.name.cmp(&right.name));
    let ids = inputs.iter().enumerate();
    let files: BTreeMap<i64, FileId> =
        ids.map(|(place, (id, _))| (*id, FileId::from_index(place))).collect();
    let tally = record.tally(day, Ids { registry, judge, files: &files })?;
    let nothing = FileTally::default();
    let mut sources = Vec::new();
    let mut ends = Vec::new();
    for (place, (_, input)) in inputs.into_iter().enumerate() {
        let of_file = tally.files.get(&FileId::from_index(place)).unwrap_or(&nothing);
        ends.push(InputEnd::kept(input.format.clone(), input.damage.clone(), of_file));
        let kept = Location::Nowhere("its sums are kept".to_owned());
        sources.push(Source { name: input.name.clone(), place: kept });
    }
    let in_force = record.in_force.told(judge)?;
    let mut audit = Audit::new(&sources, ends, tally, (judge, before_first), registry, in_force)?;
    audit.warnings.extend(identity_warnings(&audit, identities, registry));
    audit.notes.extend(identity_note(identities));
    Ok(audit)
}
