//! Counts instead of rows: by crawler, by origin, by rule.

use std::collections::BTreeMap;

use crate::bounded::Bounded;
use crate::merge::Merge;

use super::answer::Answer;
use super::asker::Askers;
use super::batch::Judged;
use super::outcome::{Outcome, Outcomes};

/// Bytes that a kept origin or rule takes, about: its name, its counts, its place in the tree.
const ENTRY_BYTES: usize = 512;

/// How often each answer was given, in the order of [`Answer::ALL`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts(pub [u64; Answer::ALL.len()]);

/// Counts of a whole list, or of a part of it.
#[derive(Debug)]
pub struct Summary {
    /// By crawler.
    pub askers: BTreeMap<Option<u16>, Counts>,
    /// By crawler and origin, as `asker NUL origin`.
    pub origins: Bounded<Vec<u8>, Counts>,
    /// By crawler, origin and deciding rule, as `asker NUL origin NUL line NUL directive NUL pattern`.
    pub rules: Bounded<Vec<u8>, Counts>,
}

impl Counts {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// How often `answer` was given.
    pub fn of(&self, answer: Answer) -> u64 {
        self.0[answer as usize]
    }

    /// `answer` was given `count` times more.
    pub fn add(&mut self, answer: Answer, count: u64) {
        self.0[answer as usize] += count;
    }
}

impl Merge for Counts {
    fn absorb(&mut self, other: Counts) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
    }
}

impl Summary {
    /// Nothing counted; origins and rules past what fits into `bytes_max` are counted as others.
    pub fn new(bytes_max: usize) -> Summary {
        let entries_max = (bytes_max / ENTRY_BYTES / 2).max(1);
        Summary {
            askers: BTreeMap::new(),
            origins: Bounded::new(entries_max),
            rules: Bounded::new(entries_max),
        }
    }

    /// Counts a batch.
    pub fn count(&mut self, judged: &Judged, askers: &Askers<'_>) {
        for outcome in judged.outcomes.iter() {
            let mut counts = Counts::default();
            counts.add(outcome.answer, outcome.times);
            self.askers.entry(outcome.asker).or_default().absorb(counts);
            let Some(key) = origin_key(outcome, askers) else { continue };
            self.origins.add(key.as_slice(), counts);
            if let Some(key) = rule_key(&judged.outcomes, outcome, key) {
                self.rules.add(key.as_slice(), counts);
            }
        }
    }
}

impl Merge for Summary {
    fn absorb(&mut self, other: Summary) {
        self.askers.absorb(other.askers);
        self.origins.absorb(other.origins);
        self.rules.absorb(other.rules);
    }
}

fn origin_key(outcome: &Outcome, askers: &Askers<'_>) -> Option<Vec<u8>> {
    let origin = outcome.origin.as_ref()?;
    Some([askers.name(outcome.asker).as_bytes(), b"\0", origin.as_bytes()].concat())
}

/// NUL stands in no name and no origin; a pattern comes last.
fn rule_key(outcomes: &Outcomes, outcome: &Outcome, origin_key: Vec<u8>) -> Option<Vec<u8>> {
    let rule = outcomes.rule(outcome)?;
    let line = rule.line.to_string();
    let parts = [b"\0", line.as_bytes(), b"\0", rule.directive.as_bytes(), b"\0", rule.pattern];
    Some([origin_key, parts.concat()].concat())
}
