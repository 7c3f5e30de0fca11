//! One version of a robots.txt, with the policies that crawlers have been given of it.

use std::sync::{Arc, OnceLock};

use crate::crawlers::crawler::CrawlerId;
use crate::policy::compiled::CompiledPolicy;
use crate::robots::model::{Directive, RobotsTxt};
use crate::store::snapshot::Digest;

/// A version of a robots.txt, in the order in which a judge met them: of no meaning outside of it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RobotsId(pub(super) u32);

impl RobotsId {
    /// Into the judge's list.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A version of a robots.txt: equal bytes are one version, wherever they came from.
#[derive(Debug)]
pub struct Robots {
    /// Its place in the judge's list.
    pub id: RobotsId,
    /// Of all its bytes.
    pub digest: Digest,
    /// All its bytes.
    pub size_bytes: usize,
    /// Those of them that count.
    pub parsed_bytes: usize,
    /// What it says.
    pub text: RobotsTxt,
    /// By crawler; made when a crawler is first judged by it.
    pub(super) bindings: Box<[OnceLock<Box<Binding>>]>,
}

/// What binds one crawler.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    /// The product token that a group names, or `*`; empty where nothing binds.
    pub group: Box<[u8]>,
    /// Lines of the rules, in the order in which the policy counts them.
    pub lines: Box<[u32]>,
    /// Shared by all rule sets of equal content.
    pub policy: Arc<CompiledPolicy>,
}

/// A rule that decided, as reports show it.
#[derive(Clone, Debug)]
pub struct DecidingRule {
    /// Of the version of robots.txt that holds it.
    pub digest: Digest,
    /// 1-based.
    pub line: u32,
    /// `allow` or `disallow`.
    pub directive: &'static str,
    /// As written in the file.
    pub pattern: Box<[u8]>,
    /// The product token that bound the crawler, or `*`.
    pub group: Box<[u8]>,
}

impl Robots {
    /// The rule on `line`, as it bound `crawler`.
    pub fn deciding_rule(&self, line: u32, crawler: CrawlerId) -> DecidingRule {
        let (_, rule) = self.text.rule_at(line).expect("a verdict names a line that holds a rule");
        let directive = match rule.directive {
            Directive::Allow => "allow",
            Directive::Disallow => "disallow",
        };
        let binding = self.bindings[crawler.index()].get();
        let group = binding.map_or_else(Box::default, |binding| binding.group.clone());
        DecidingRule { digest: self.digest, line, directive, pattern: rule.written().into(), group }
    }
}
