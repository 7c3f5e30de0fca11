//! A crawler: who runs it, which product tokens it obeys, whether rules bind it.
//!
//! A row of the registry states facts, each with its evidence. What a report
//! may say about the crawler ([`Obligation`], [`StatedPolicy`]) is derived from them
//! here and nowhere else.

use serde::{Deserialize, Serialize};

use crate::robots::model::StarGroups;
use botaudit_robots::named_enum;

/// The index of a crawler in the matching order of its registry, from 0.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct CrawlerId(pub u16);

impl CrawlerId {
    /// The id as an index into per-crawler tables.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Words in place of an operator: programs that any user can run, and unknown operators. So are
/// `users of X` and `X users`.
const COLLECTIVE_OPERATORS: [&str; 9] = [
    "",
    "unknown",
    "various",
    "various archives",
    "library",
    "user-run",
    "users",
    "site servers",
    "fediverse servers",
];

/// Purposes of tools: known clients that are not crawlers.
pub(crate) const TOOL_PURPOSES: [&str; 13] = [
    "browser-automation",
    "feed-reader",
    "hosting",
    "http-library",
    "integration",
    "link-checker",
    "monitor",
    "own-site",
    "scanner",
    "security",
    "site-check",
    "user-fetch",
    "webhook",
];

/// What is known about one crawler.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Crawler {
    /// Unique in a registry, ASCII case-insensitively.
    pub name: String,
    /// The company or person that runs it, or `unknown`.
    pub operator: String,
    /// `search`, `ai-training`, `seo`, ... or a word of the user.
    pub purpose: String,
    /// Regex that a user agent of this crawler matches, ASCII case-insensitive. Empty if the
    /// crawler sends no user agent of its own.
    pub user_agent_regex: String,
    /// A user agent that matches this too is someone else's. Often empty.
    pub user_agent_exclude: String,
    /// The names it obeys in robots.txt, from most to least specific. A bound
    /// crawler without any follows the `*` groups.
    pub product_tokens: Vec<String>,
    /// Whether it obeys `*` groups if no group names one of its tokens.
    #[doc(hidden)]
    pub star: StarGroups,
    /// Whether it follows the robots exclusion protocol.
    #[doc(hidden)]
    pub rep_applies: RepApplies,
    /// The trigger of its requests.
    #[doc(hidden)]
    pub trigger: Trigger,
    /// Whether its requests can be recognised in a log.
    #[doc(hidden)]
    pub visibility: Visibility,
    /// Whether it is documented to honour `Crawl-delay`.
    #[doc(hidden)]
    pub crawl_delay: CrawlDelaySupport,
    /// The URLs of the operator's lists of address ranges.
    pub ip_list_urls: Vec<String>,
    /// The format of those lists, in words; empty if there are none.
    pub ip_list_format: String,
    /// Domains in which the reverse DNS names of its addresses end.
    pub rdns_suffixes: Vec<String>,
    /// The operator's page about the crawler, or empty.
    pub documentation_url: String,
    /// A real user agent of this crawler, or empty.
    pub sample_user_agent: String,
    /// The source of these facts.
    #[doc(hidden)]
    pub evidence: InformationSource,
    /// The URL of the source, or empty.
    pub evidence_url: String,
    /// Notes for readers.
    pub notes: String,
    /// The operator's words about how soon a change of robots.txt takes effect. Promises change no
    /// verdict.
    pub reaction_promise: String,
    /// The same in hours, if they tell a time.
    pub reaction_hours: Option<u32>,
    /// The operator's words about `Crawl-delay`.
    pub crawl_delay_promise: String,
    /// The operator's words about how long it keeps a copy of robots.txt.
    pub robots_cache_promise: String,
    /// The page with these promises, or empty.
    pub promise_url: String,
    /// Notes about the promises and their source.
    pub promise_notes: String,
    /// The longest time for which it keeps a copy of robots.txt, in hours, if its operator promises one
    /// without conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robots_cache_hours: Option<u32>,
    /// The operator's words about how often it requests pages.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rate_promise: String,
    /// The most requests in an hour at one origin, if these words tell a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_hour: Option<u32>,
}

impl Crawler {
    /// A crawler of an older registry, of which only the name is known.
    pub(super) fn once_known(name: String) -> Crawler {
        let unknown = || "unknown".to_owned();
        let visibility = Visibility::NoUserAgent;
        Crawler { name, operator: unknown(), purpose: unknown(), visibility, ..Crawler::default() }
    }

    /// Whether breaking a rule counts against this crawler.
    ///
    /// A request that a person triggered is never a violation, whatever the operator's policy, so
    /// this question comes first.
    pub fn obligation(&self) -> Obligation {
        match (self.trigger, self.rep_applies, self.evidence) {
            (Trigger::Person, _, _) => Obligation::UserTriggered,
            (_, RepApplies::No, InformationSource::OperatorDocumentation) => Obligation::Declined,
            (_, RepApplies::No, _) => Obligation::ReportedNotFollowing,
            _ => Obligation::Bound,
        }
    }

    /// Whether this is a tool. Headlines and exit codes are about crawlers alone.
    pub fn is_tool(&self) -> bool {
        TOOL_PURPOSES.contains(&self.purpose.as_str())
    }

    /// Whether `operator` is one company or person. Only then may its crawlers share copies of
    /// robots.txt.
    pub fn has_one_operator(&self) -> bool {
        let operator = &*self.operator;
        let is =
            |part: Option<&str>, word| part.is_some_and(|part| part.eq_ignore_ascii_case(word));
        let (first, last) = ("users of ", " users");
        let end = operator.len().saturating_sub(last.len());
        let is_users = is(operator.get(..first.len()), first) || is(operator.get(end..), last);
        !is_users && !COLLECTIVE_OPERATORS.iter().any(|many| operator.eq_ignore_ascii_case(many))
    }

    /// The operator; `None` if it is unknown.
    pub fn known_operator(&self) -> Option<&str> {
        let is_unknown = self.operator.is_empty() || self.operator.eq_ignore_ascii_case("unknown");
        (!is_unknown).then_some(&*self.operator)
    }

    /// The operator's own statement, so that a reader sees which crawlers break their own policy.
    pub fn stated_policy(&self) -> StatedPolicy {
        match (self.rep_applies, self.evidence) {
            (RepApplies::Yes, InformationSource::OperatorDocumentation) => StatedPolicy::Follows,
            (RepApplies::Partial, InformationSource::OperatorDocumentation) => StatedPolicy::Partly,
            (RepApplies::No, InformationSource::OperatorDocumentation) => {
                StatedPolicy::DoesNotFollow
            }
            _ => StatedPolicy::Unknown,
        }
    }
}

named_enum! {
    /// Whether a crawler follows the robots exclusion protocol.
    #[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
    pub enum RepApplies {
        /// It follows it.
        Yes = "yes",
        /// It follows it in some circumstances.
        Partial = "partial",
        /// It does not.
        No = "no",
        /// Unknown.
        #[default]
        Unknown = "unknown",
    }
}

/// The trigger of a crawler's requests.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// Its own schedule.
    #[default]
    Schedule,
    /// A person who requested the page.
    Person,
}

/// Whether the requests of a crawler can be recognised in a log.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Visibility {
    /// It sends a user agent of its own.
    #[default]
    OwnUserAgent,
    /// It is only a control token, or uses the user agent of another crawler. No request is
    /// attributed to it.
    NoUserAgent,
}

named_enum! {
    /// Whether a crawler is documented to honour `Crawl-delay`.
    #[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
    pub enum CrawlDelaySupport {
        /// It is.
        Honoured = "honoured",
        /// It is, but not always: up to some delay, or not for all requests.
        Partly = "partly",
        /// It is documented not to.
        Ignored = "ignored",
        /// Unknown.
        #[default]
        Unknown = "unknown",
    }
}

named_enum! {
    /// The source of a row of the registry.
    #[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
    pub enum InformationSource {
        /// The operator's own words.
        OperatorDocumentation = "operator-doc",
        /// A maintained third-party list.
        Registry = "registry",
        /// No source that can be checked.
        #[default]
        Unverified = "unverified",
    }
}

named_enum! {
    /// Whether breaking a rule counts against a crawler; if not, why not.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    #[non_exhaustive]
    pub enum Obligation {
        /// Rules bind it.
        Bound = "bound",
        /// A person requested the page.
        UserTriggered = "user-triggered",
        /// Its operator says that it does not follow the protocol.
        Declined = "declined",
        /// Others say that it does not follow the protocol.
        ReportedNotFollowing = "reported-not-following",
    }
}

named_enum! {
    /// The operator's statement about following robots.txt.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    #[non_exhaustive]
    pub enum StatedPolicy {
        /// It follows the protocol.
        Follows = "follows",
        /// It follows it in some circumstances.
        Partly = "partly",
        /// It does not follow it.
        DoesNotFollow = "does-not-follow",
        /// Nothing that is known.
        Unknown = "unknown",
    }
}
