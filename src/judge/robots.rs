//! One version of a robots.txt, with the compiled policies of crawlers and the statements about use that concern them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use UsageCategory::{AiInput, AiTrain, Search, TrainAi, Use};
use UsageSignal::{ContentSignal, ContentUsage};
use serde::{Deserialize, Serialize};

use crate::crawlers::crawler::CrawlerId;
use crate::digest::Digest;
use crate::matcher::{compiled::CompiledPolicy, select::Selection};
use crate::mutex::lock;
use crate::robots::model::{Group, ParsedRobotsTxt};
use crate::robots::usage::{UsageCategory, UsageSignal};
use crate::robots::{RobotsBody, foreign::Foreign};
use crate::url::path::{Dialect, PathQuery};

use super::by_crawler::{ByCrawler, ByName};
use super::policy_files::{NamedFiles, PolicyFile};
use super::{
    crawl_delay::CrawlDelays,
    profile::{Profiles, group_of_rule},
    restriction::RestrictionKind,
};

/// The number of a version of a robots.txt in one judge.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct RobotsId(pub(crate) u32);

impl RobotsId {
    /// The id of the version at `index`.
    pub(crate) fn from_index(index: usize) -> RobotsId {
        RobotsId(u32::try_from(index).expect("nobody has four thousand million robots.txt files"))
    }

    /// The index in the list of versions.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A version of a robots.txt: equal bytes are one version.
#[derive(Debug)]
pub struct Robots {
    /// Its number in the judge.
    pub id: RobotsId,
    /// The digest of all its bytes.
    pub digest: Digest,
    /// The size in bytes.
    pub size_bytes: usize,
    /// The bytes that count.
    pub parsed_bytes: usize,
    /// What it is, if it is not a robots.txt.
    pub foreign: Option<Foreign>,
    /// The bytes that count, if they are kept.
    pub body: Option<RobotsBody>,
    /// The parsed form.
    pub text: Arc<ParsedRobotsTxt>,
    /// The crawlers that it may bind.
    pub(super) profiles: Arc<Profiles>,
    /// Its statements about use, by crawler.
    pub(super) usage: UsageByCrawler,
    /// The files that it names.
    pub(super) named_files: NamedFiles,
    /// Its Crawl-delays.
    pub(super) crawl_delays: CrawlDelays,
    /// Its size after compression; computed on first use.
    pub(super) compressed_bytes: OnceLock<u64>,
    /// By crawler; created when a crawler is first judged by it.
    pub(super) bindings: ByCrawler<Binding>,
    /// By the first line of each binding group. Crawlers that the same groups bind share an entry.
    pub(super) shared: Mutex<HashMap<Box<[u32]>, Arc<BoundRules>>>,
    /// For crawlers outside the registry, and for other names in user agents.
    pub(super) by_name: ByName<Arc<BoundRules>>,
}

/// The rules that bind one crawler.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    /// Whether a group names it; else `*` binds it, or nothing.
    pub is_named: bool,
    /// The rules, shared by all crawlers that the same groups bind.
    pub rules: Arc<BoundRules>,
    /// Different rules of other groups that are [equally good](super::candidates); usually none.
    pub others: Box<[Arc<BoundRules>]>,
}

/// Rules that bind crawlers.
#[derive(Debug)]
pub(super) struct BoundRules {
    /// Lines of the rules, in the order in which the policy counts them.
    pub lines: Box<[u32]>,
    /// Shared by all rule sets of equal content.
    pub policy: Arc<CompiledPolicy>,
    /// What they leave to a crawler; computed on first use, because only audits need it.
    pub restriction: OnceLock<Option<RestrictionKind>>,
}

/// A deciding rule, as in the file.
#[derive(Clone, Copy, Debug)]
pub struct BindingRule<'a, G = &'a [u8]> {
    /// 1-based.
    pub line: u32,
    /// `allow` or `disallow`.
    pub directive: &'static str,
    /// As written in the file.
    pub pattern: &'a [u8],
    /// The product token that bound the crawler, or `*`.
    pub group: G,
}

/// A rule that decided, as reports show it.
#[derive(Clone, Debug)]
pub struct DecidingRule {
    /// The digest of its robots.txt.
    pub digest: Digest,
    /// 1-based.
    pub line: u32,
    /// `allow` or `disallow`.
    pub directive: &'static str,
    /// As written in the file.
    pub pattern: Box<[u8]>,
    /// The product token that bound the crawler, or `*`.
    pub group: Box<[u8]>,
    /// The line of another field inside the list of User-agent lines, without which the rule would
    /// not bind the crawler: see [`Group::continued_over`].
    pub continued_over: Option<u32>,
}

impl Robots {
    /// Whether bytes past the limit are ignored.
    pub(super) fn is_cut(&self) -> bool {
        self.size_bytes > self.parsed_bytes
    }

    /// What it calls the file `path` of a `host`: see [`NamedFiles::get`].
    #[inline]
    pub(crate) fn named_file<'h>(
        &self,
        dialect: Dialect,
        path: PathQuery<'_>,
        host: impl FnOnce() -> Option<&'h str>,
    ) -> Option<PolicyFile> {
        self.named_files.get(&self.text, dialect, path, host)
    }

    /// The rule on `line`, as it bound `crawler`.
    pub(crate) fn binding_rule(&self, line: u32, crawler: CrawlerId) -> BindingRule<'_, Box<[u8]>> {
        let (_, rule) = self.text.rule_at(line).expect("a verdict names a line that holds a rule");
        let directive = rule.directive.as_str();
        let group = self.profiles.get(crawler).group_in(&self.text);
        let group = group_of_rule(&self.text, line, group);
        BindingRule { line, directive, pattern: rule.written(), group }
    }

    /// A copy that outlives the file.
    pub(crate) fn deciding_rule(&self, line: u32, crawler: CrawlerId) -> DecidingRule {
        let BindingRule { line, directive, pattern, group } = self.binding_rule(line, crawler);
        let found_in = self.text.rule_at(line).map(|(found_in, _)| found_in);
        let continued_over = found_in.and_then(|found_in| found_in.continued_over(&group));
        let pattern = pattern.into();
        DecidingRule { digest: self.digest, line, directive, pattern, group, continued_over }
    }

    /// The rules of `selection`, a part of this file; created by `make` if no other crawler shares
    /// its groups.
    pub(super) fn share(
        &self,
        selection: &Selection<'_>,
        make: impl FnOnce() -> BoundRules,
    ) -> Arc<BoundRules> {
        let first_line = |group: &&Group| group.product_tokens[0].line;
        let key: Box<[u32]> = selection.groups.iter().map(first_line).collect();
        if let Some(known) = lock(&self.shared).get(&key) {
            return Arc::clone(known);
        }
        // Computed without the lock, so that others do not have to wait.
        let rules = Arc::new(make());
        Arc::clone(lock(&self.shared).entry(key).or_insert(rules))
    }
}

/// A field and a kind of use.
pub(super) type Kind = (UsageSignal, UsageCategory);

/// The statements of one version of robots.txt that concern one crawler.
#[derive(Debug)]
pub(super) struct CrawlerUsage {
    /// The kinds of use that its purpose concerns.
    pub kinds: &'static [Kind],
    /// Prepared paths, the longest first, each with its index in the file's statements.
    pub statements: Box<[(Box<[u8]>, usize)]>,
    /// The control tokens of the operator, as crawlers.
    pub controls: Box<[CrawlerId]>,
}

/// By crawler; `None` if the file has no statement about use.
pub(super) type UsageByCrawler = Option<ByCrawler<CrawlerUsage>>;

/// The kinds of use that a crawler's purpose directly concerns.
pub(super) fn kinds(purpose: &str) -> &'static [Kind] {
    match purpose {
        "ai-training" => &[(ContentUsage, TrainAi), (ContentSignal, AiTrain)],
        "ai-search" => &[
            (ContentUsage, Search),
            (ContentSignal, Search),
            (ContentSignal, AiInput),
            (ContentSignal, Use),
        ],
        "ai-user" => &[(ContentSignal, AiInput), (ContentSignal, Use)],
        "search" => &[(ContentUsage, Search), (ContentSignal, Search)],
        _ => &[],
    }
}
