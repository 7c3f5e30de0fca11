//! What there is to read of a site tonight.

use std::collections::BTreeMap;

use crate::audit::extent::{Extent, ReadRange};
use crate::error::Result;
use crate::input::checkpoint::Checkpoint;
use crate::input::source::{FileId, Location, Source};

use super::duplicates::{is_beginning, without_copies};
use super::log_identity::{
    LogIdentity, fingerprint, identify_log, is_file, is_unfinished, lasting_name,
};
use super::state::{State, inputs::RecordedInput};

/// Bytes on disk that one batch of logs has, about: it is counted in one go.
const BATCH_BYTES: u64 = 256 << 20;

/// What is to be done about one site.
#[derive(Debug, Default)]
pub struct Plan {
    /// All logs that were ever read, and those that are new, in the order of their contents.
    pub logs: Vec<Log>,
    /// The logs that are there, by their numbers, new ones left out.
    pub seen: Vec<i64>,
    /// What cannot be opened, in sentences.
    pub missing: Vec<String>,
    /// What is damaged before its first line ends, in sentences.
    pub damages: Vec<String>,
    /// What is not read, in sentences.
    pub passed_over: Vec<String>,
}

/// A log.
#[derive(Clone, Debug)]
pub struct Log {
    /// What is known of it.
    pub input: RecordedInput,
    /// What is to be read of it.
    pub file: Option<Present>,
}

/// A log that may hold more than was read.
#[derive(Clone, Debug)]
pub struct Present {
    /// Where it is.
    pub source: Source,
    /// By what it is known when it did not change; taken before it was looked at.
    pub fingerprint: Option<[u8; 24]>,
}

/// A source, and what it is.
struct IdentifiedSource {
    source: Source,
    fingerprint: Option<[u8; 24]>,
    identity: LogIdentity,
}

impl Plan {
    /// Of `sources`, as far as `state` does not know them.
    ///
    /// # Errors
    /// Where the state cannot be read.
    pub fn new(state: &State, site: &str, sources: Vec<Source>) -> Result<Plan> {
        let inputs = state.inputs(site)?;
        let mut plan = Plan::default();
        let mut present: BTreeMap<i64, Source> = BTreeMap::new();
        let mut found = Vec::new();
        for source in sources {
            if let Some(why) = unreadable(&source) {
                plan.missing.push(why);
                continue;
            }
            let fingerprint = match &source.location {
                Location::File(path) => fingerprint(path),
                Location::Stdin | Location::Nowhere(_) => None,
            };
            let known = fingerprint.map(|print| state.input_of_file(site, &print)).transpose()?;
            match known.flatten() {
                Some(id) => {
                    plan.seen.push(id);
                    present.entry(id).or_insert(source);
                }
                None => match identify_log(&source, &inputs) {
                    Some(identity) => {
                        found.push(IdentifiedSource { source, fingerprint, identity })
                    }
                    // It was there a moment ago.
                    None => plan.missing.push(format!("{} cannot be opened", source.name)),
                },
            }
        }
        let found = plan.without_known(found, &mut present);
        plan.add_logs(inputs, found);
        Ok(plan)
    }

    /// Takes out of `found` what is all known, in whatever file.
    fn without_known(
        &mut self,
        found: Vec<IdentifiedSource>,
        present: &mut BTreeMap<i64, Source>,
    ) -> Vec<IdentifiedSource> {
        let to_read = |found: &IdentifiedSource| {
            matches!(found.identity, LogIdentity::Known(_) | LogIdentity::New(_))
        };
        let sources = found.iter().filter(|found| to_read(found)).map(|found| found.source.clone());
        let (kept, copies) = without_copies(sources.collect());
        for copy in copies {
            self.passed_over
                .push(format!("{} is skipped: {} contains all of it", copy.name, copy.of));
        }
        for IdentifiedSource { source, identity, .. } in &found {
            if let LogIdentity::Known(id) = identity
                && kept.contains(source)
            {
                present.entry(*id).or_insert_with(|| source.clone());
            }
        }
        let mut rest = Vec::new();
        for mut of in found {
            match of.identity {
                LogIdentity::Empty(damage) => {
                    if let Some(damage) =
                        damage.filter(|&damage| !is_unfinished(&of.source, damage))
                    {
                        self.damages.push(format!("{}: {damage}", of.source.name));
                    }
                    continue;
                }
                LogIdentity::BeginningOf(id) => {
                    self.seen.push(id);
                    if present.get(&id).is_none_or(|whole| is_beginning(&of.source, whole)) {
                        continue;
                    }
                    of.identity = LogIdentity::New(Vec::new());
                }
                LogIdentity::Known(id) => {
                    self.seen.push(id);
                    if !kept.contains(&of.source) {
                        continue;
                    }
                }
                LogIdentity::New(_) if !kept.contains(&of.source) => continue,
                LogIdentity::New(_) => {}
            }
            rest.push(of);
        }
        rest
    }

    fn add_logs(&mut self, inputs: Vec<RecordedInput>, found: Vec<IdentifiedSource>) {
        self.logs = inputs.into_iter().map(|input| Log { input, file: None }).collect();
        for IdentifiedSource { source, fingerprint, identity } in found {
            let name = lasting_name(&source.name);
            let file = Some(Present { source, fingerprint });
            let known = match identity {
                LogIdentity::Known(id) => self.logs.iter_mut().find(|log| log.input.id == id),
                _ => None,
            };
            match known {
                Some(log) if log.file.is_none() => log.file = file,
                // Two that both went on from the same lines: the other is a log of its own.
                _ => {
                    let marks = match identity {
                        LogIdentity::New(marks) => marks,
                        _ => Vec::new(),
                    };
                    let reached = Checkpoint { marks, ..Checkpoint::default() };
                    let input = RecordedInput { name, reached, ..RecordedInput::default() };
                    self.logs.push(Log { input, file });
                }
            }
        }
        let key = |log: &Log| (log.input.reached.marks.clone(), log.input.id);
        self.logs.sort_by_cached_key(key);
    }

    /// All logs, as an audit names them.
    pub fn sources(&self) -> Vec<Source> {
        let source = |log: &Log| match &log.file {
            Some(present) => present.source.clone(),
            None => {
                let nowhere = Location::Nowhere("it is skipped".to_owned());
                Source { name: log.input.name.clone(), location: nowhere }
            }
        };
        self.logs.iter().map(source).collect()
    }

    /// What is to be read, in parts that are counted one after the other.
    pub fn batches(&self) -> Vec<Vec<ReadRange>> {
        let mut batches: Vec<Vec<ReadRange>> = Vec::new();
        let mut bytes = BATCH_BYTES;
        for (index, log) in self.logs.iter().enumerate() {
            let Some(present) = &log.file else { continue };
            let of_log = present.source.size_bytes().unwrap_or(0);
            if bytes + of_log > BATCH_BYTES {
                batches.push(Vec::new());
                bytes = 0;
            }
            bytes += of_log;
            let last_day = log.input.last_day;
            let reached = (log.input.id != 0).then(|| log.input.reached.clone());
            let extent = Extent::Rest { reached, last_day };
            let range = ReadRange { file: FileId::from_index(index), extent };
            batches.last_mut().expect("the first log begins a batch").push(range);
        }
        batches
    }
}

/// Why `source` cannot be read, as far as that shows before it is opened.
fn unreadable(source: &Source) -> Option<String> {
    match &source.location {
        Location::Nowhere(why) => Some(format!("{}: {why}", source.name)),
        Location::File(path) => match std::fs::File::open(path) {
            Ok(_) if is_file(source) => None,
            Ok(_) => Some(format!("{}: not a file", source.name)),
            Err(err) => Some(format!("cannot open {}: {err}", source.name)),
        },
        Location::Stdin => Some("standard input cannot be used here; name files".to_owned()),
    }
}
