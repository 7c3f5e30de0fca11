//! What one rule of one version of a robots.txt was broken by.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::sums::Statuses;
use crate::crawlers::identity::Identity;
use crate::merge::Merge;

use super::line::Line;

/// A version of a robots.txt, by its digest, and a line in it.
pub type RuleKey = (String, u64);

/// Origins of one rule that are told apart.
const ORIGINS_MAX: usize = 100;

/// Added up over origins and crawlers.
#[derive(Clone, Debug, Default)]
pub struct RuleFacts {
    /// `allow` or `disallow`.
    pub directive: String,
    /// As written in the file.
    pub pattern: String,
    /// Requests that broke it, by those who are not spoofed.
    pub requests: u64,
    /// How these were answered.
    pub statuses: Statuses,
    /// Who they are.
    pub by: BTreeMap<(String, Identity), u64>,
    /// Where; not more than can be shown.
    pub origins: BTreeSet<String>,
    /// When the earliest of these requests was made, as written, and where it stands.
    pub example: Option<ExampleFacts>,
}

/// One request that broke a rule.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ExampleFacts {
    /// When.
    pub time_utc: String,
    /// The input that holds it.
    pub file: String,
    /// Its line there.
    pub line: u64,
    /// What it asked for.
    pub target: String,
}

/// One line of a robots.txt near a broken rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RobotsLine {
    /// 1-based.
    pub line: u64,
    /// `user-agent`, `allow` or `disallow`.
    pub field: String,
    /// Its value.
    pub value: String,
}

impl RuleFacts {
    /// Takes a row of `violations.csv` of a crawler that is not spoofed.
    pub(super) fn add(&mut self, line: Line<'_>) {
        let requests = line.count("requests");
        self.directive = line.text("directive");
        self.pattern = line.text("pattern");
        self.requests += requests;
        self.statuses.absorb(line.statuses());
        *self.by.entry((line.text("crawler"), line.identity())).or_default() += requests;
        if self.origins.len() < ORIGINS_MAX {
            self.origins.insert(line.text("origin"));
        }
        let example = ExampleFacts {
            time_utc: line.text("first_seen_utc"),
            file: line.text("example_file"),
            line: line.count("example_line"),
            target: line.text("example_target"),
        };
        if self.example.as_ref().is_none_or(|earliest| example < *earliest) {
            self.example = Some(example);
        }
    }
}
