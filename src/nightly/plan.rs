//! The lines of a site that a run reads, and the settings that a nightly job cannot honour.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::extent::{Extent, ReadRange};
use crate::config::{audit_config::OPTIONS, file::SiteConfig, setting::Fault};
use crate::error::Result;
use crate::input::content_hash::Checkpoint;
use crate::input::copies::{AlikeLogs, DistinctLogs, is_beginning, without_copies};
use crate::input::source::{FileId, Location, Source, lasting_name};

use super::log_identity::{KnownLogs, LogIdentity, fingerprint, is_file, is_unfinished};
use super::state::{State, change::RecordedInput};

/// The approximate size of one batch of logs on disk, in bytes.
const BATCH_BYTES: u64 = 256 << 20;

/// The plan for one site.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// All known and new logs, ordered by content.
    pub logs: Vec<Log>,
    /// The numbers of the known logs that exist.
    pub seen: Vec<i64>,
    /// A sentence for each log that cannot be opened.
    pub missing: Vec<String>,
    /// A sentence for each log that is damaged in its first line.
    pub damages: Vec<String>,
    /// A sentence for each log that is skipped.
    pub passed_over: Vec<String>,
    /// A sentence for each log that is read, but may repeat another one.
    pub alike: Vec<String>,
}

/// A log.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    /// The stored state of the log.
    pub input: RecordedInput,
    /// The part to read.
    pub file: Option<Present>,
}

/// A log that may hold more than was read.
#[derive(Clone, Debug)]
pub(crate) struct Present {
    /// Its source.
    pub source: Source,
    /// The fingerprint, taken before the log was read.
    pub fingerprint: Option<[u8; 24]>,
}

/// A source and its identity.
struct IdentifiedSource {
    source: Source,
    fingerprint: Option<[u8; 24]>,
    identity: LogIdentity,
}

impl Plan {
    /// Of `sources`, as far as `state` does not know them.
    ///
    /// # Errors
    /// If the state cannot be read.
    pub(crate) fn new(state: &State, site: &str, sources: Vec<Source>) -> Result<Plan> {
        let inputs = state.inputs(site)?;
        let known_logs = KnownLogs::new(&inputs);
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
                None => match known_logs.identify(&source) {
                    Some(identity) => {
                        found.push(IdentifiedSource { source, fingerprint, identity })
                    }
                    // It was there a moment ago.
                    None => plan.missing.push(format!("{} cannot be opened", source.name)),
                },
            }
        }
        let found = plan.without_known(found, &mut present, &inputs);
        plan.add_logs(inputs, found);
        Ok(plan)
    }

    /// Removes logs without new lines from `found`.
    fn without_known(
        &mut self,
        found: Vec<IdentifiedSource>,
        present: &mut BTreeMap<i64, Source>,
        inputs: &[RecordedInput],
    ) -> Vec<IdentifiedSource> {
        let kept = self.without_repeats(&found);
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
                LogIdentity::New(_) | LogIdentity::Alike(..) if !kept.contains(&of.source) => {
                    continue;
                }
                LogIdentity::New(_) => {}
                LogIdentity::Alike(marks, id) => {
                    let longer = inputs.iter().find(|input| input.id == id);
                    let name = longer.map_or_else(String::new, |input| input.name.clone());
                    let alike = AlikeLogs { name: of.source.name.clone(), of: name };
                    self.alike.push(alike.warning());
                    of.identity = LogIdentity::New(marks);
                }
            }
            rest.push(of);
        }
        rest
    }

    /// The sources among `found` to read: those that no other one contains.
    fn without_repeats(&mut self, found: &[IdentifiedSource]) -> BTreeSet<Source> {
        let to_read = |found: &&IdentifiedSource| {
            !matches!(found.identity, LogIdentity::BeginningOf(_) | LogIdentity::Empty(_))
        };
        let sources = found.iter().filter(to_read).map(|found| found.source.clone());
        let DistinctLogs { sources, repeats } = without_copies(sources.collect());
        self.alike.extend(repeats.warnings());
        let copies = repeats.copies.into_iter();
        self.passed_over.extend(
            copies.map(|copy| format!("{} is skipped: {} contains all of it", copy.name, copy.of)),
        );
        sources.into_iter().collect()
    }

    fn add_logs(&mut self, inputs: Vec<RecordedInput>, found: Vec<IdentifiedSource>) {
        self.logs = inputs.into_iter().map(|input| Log { input, file: None }).collect();
        let at: BTreeMap<i64, usize> =
            self.logs.iter().enumerate().map(|(at, log)| (log.input.id, at)).collect();
        for IdentifiedSource { source, fingerprint, identity } in found {
            let name = lasting_name(&source.name);
            let file = Some(Present { source, fingerprint });
            let known = match identity {
                LogIdentity::Known(id) => at.get(&id).map(|&at| &mut self.logs[at]),
                _ => None,
            };
            match known {
                Some(log) if log.file.is_none() => log.file = file,
                // Two files that continue the same lines: the second is a new log.
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
    pub(crate) fn sources(&self) -> Vec<Source> {
        let source = |log: &Log| match &log.file {
            Some(present) => present.source.clone(),
            None => {
                let nowhere = Location::Nowhere("it is skipped".to_owned());
                Source { name: log.input.name.clone(), location: nowhere }
            }
        };
        self.logs.iter().map(source).collect()
    }

    /// The lines to read, in batches.
    pub(crate) fn batches(&self) -> Vec<Vec<ReadRange>> {
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

/// The settings of `site` that a nightly job cannot honour: it reads each line once, and keeps sums but
/// no lines.
pub fn refused(site: &SiteConfig) -> Vec<Fault> {
    let given = OPTIONS.iter().filter(|option| site.audit.has(option.key));
    let given = given.filter(|option| !option.not_nightly.is_empty());
    let why = |text| format!("not possible in a nightly job, {text}");
    given.map(|option| Fault::new(option.key, why(option.not_nightly))).collect()
}
