//! The content of a file of rules, before it has a syntax.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Subnets, Ipv6Subnets};

use crate::crawlers::networks::{Network, Networks};
use crate::crawlers::pattern::{Pattern, names};
use crate::crawlers::registry::Registry;
use crate::crawlers::{borders::whole, crawler::CrawlerId, ranges::Ranges};
use crate::error::{Error, Result};
use crate::net::address::is_public;
use crate::table::escape::visible;

use super::pattern::{Anchors, portable};
use super::selection::DeniedCrawler;

/// The words by which an existing file of rules is recognised.
pub(crate) const MARK: &str = "botaudit deny";

/// The most characters of a comment, which may repeat names from other files.
const COMMENT_CHARS_MAX: usize = 300;

/// The first addresses of private networks in the middle of networks that begin and end publicly.
const PRIVATE: [Ipv4Addr; 5] = [
    Ipv4Addr::new(100, 64, 0, 0),
    Ipv4Addr::new(169, 254, 0, 0),
    Ipv4Addr::new(172, 16, 0, 0),
    Ipv4Addr::new(192, 168, 0, 0),
    Ipv4Addr::new(198, 18, 0, 0),
];

/// What is refused, and why.
#[derive(Clone, Debug, Default)]
pub(crate) struct DenyRules {
    /// The lines of the head.
    pub head: Vec<String>,
    /// By user agent.
    pub agents: Vec<AgentGroup>,
    /// By address.
    pub networks: Vec<DeniedNetworks>,
    /// Days until somebody should look at the rules again.
    pub review_days: u32,
}

/// User agents with the same exceptions.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct AgentGroup {
    /// Patterns of user agents that are not refused.
    pub excepts: Vec<String>,
    /// What is refused.
    pub denied: Vec<DeniedAgent>,
}

/// A user agent to refuse.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DeniedAgent {
    /// The reason.
    pub why: String,
    /// The pattern, for any case.
    pub pattern: String,
}

/// The networks of a crawler.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DeniedNetworks {
    /// The reason.
    pub why: String,
    /// In order, IPv4 first.
    pub networks: Vec<IpNet>,
}

impl AgentGroup {
    /// Who is refused, and why, as comments.
    pub(super) fn reasons(&self) -> String {
        self.denied.iter().map(|agent| format!("# {}\n", comment(&agent.why))).collect()
    }

    /// The patterns of what is refused.
    pub(super) fn patterns(&self) -> Vec<String> {
        self.denied.iter().map(|agent| agent.pattern.clone()).collect()
    }
}

impl DenyRules {
    /// The head as comments, each line after `prefix`.
    pub(crate) fn head(&self, prefix: &str) -> String {
        self.head.iter().map(|line| format!("{prefix} {}\n", comment(line))).collect()
    }

    /// Who is refused, and why.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = &str> {
        let agents = self.agents.iter().flat_map(|group| &group.denied);
        let networks = self.networks.iter().map(|denied| denied.why.as_str());
        agents.map(|agent| agent.why.as_str()).chain(networks)
    }

    /// All networks, each once.
    pub(crate) fn distinct_networks(&self) -> Vec<IpNet> {
        let mut all: Vec<IpNet> =
            self.networks.iter().flat_map(|denied| denied.networks.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The reasons for networks as comments.
    pub(crate) fn network_reasons(&self, prefix: &str) -> String {
        self.networks.iter().map(|denied| format!("{prefix} {}\n", comment(&denied.why))).collect()
    }
}

/// `text` as a comment: one line that no syntax continues on the next.
pub(crate) fn comment(text: &str) -> String {
    let text: String = visible(text.as_bytes()).chars().take(COMMENT_CHARS_MAX).collect();
    if text.ends_with('\\') { text + "." } else { text }
}

/// `patterns` as one.
pub(crate) fn any_of(patterns: &[String]) -> String {
    patterns.iter().map(|pattern| format!("(?:{pattern})")).collect::<Vec<_>>().join("|")
}

/// The rules for the user agents of `denied`, as the first crawler of `registry` that matches is
/// the one: rows before it that share its pattern are exceptions.
///
/// # Errors
/// If a pattern cannot be written for servers.
pub(crate) fn agent_groups(
    denied: &[DeniedCrawler],
    registry: &Registry,
    anchors: Anchors,
) -> Result<Vec<AgentGroup>> {
    let mut groups: Vec<AgentGroup> = Vec::new();
    for crawler in denied {
        let excepts = excepts(crawler.id, denied, registry, anchors)?.into_iter();
        let excepts = excepts.map(|regex| written(&crawler.name, &regex, anchors));
        let excepts: Vec<String> = excepts.collect::<Result<_>>()?;
        let regex = &registry.crawler(crawler.id).user_agent_regex;
        let pattern = written(&crawler.name, &bordered(regex, anchors)?, anchors)?;
        let agent = DeniedAgent { why: crawler.why(), pattern };
        match groups.iter_mut().find(|group| group.excepts == excepts) {
            Some(group) => group.denied.push(agent),
            None => groups.push(AgentGroup { excepts, denied: vec![agent] }),
        }
    }
    groups.sort_by_key(|group| group.excepts.len());
    Ok(groups)
}

/// `regex` of a row as it is searched in this form.
fn bordered(regex: &str, anchors: Anchors) -> Result<String> {
    match anchors.finds_within && names(regex).is_some() {
        true => Ok(regex.to_owned()),
        false => whole(regex).map_err(Error::usage),
    }
}

fn written(name: &str, regex: &str, anchors: Anchors) -> Result<String> {
    let cannot = |why| {
        Error::usage(format!(
            "the pattern '{regex}' for {name} cannot be written for servers: {why}; change it"
        ))
    };
    portable(regex, anchors).map_err(cannot)
}

/// The patterns of user agents that match the pattern of `id` and are not its own.
fn excepts(
    id: CrawlerId,
    denied: &[DeniedCrawler],
    registry: &Registry,
    anchors: Anchors,
) -> Result<Vec<String>> {
    let crawler = registry.crawler(id);
    let pattern = Pattern::new(bordered(&crawler.user_agent_regex, anchors)?);
    let exclude = Some(crawler.user_agent_exclude.clone()).filter(|regex| !regex.is_empty());
    let before = registry.iter().take(id.index()).filter(|(other, of)| {
        let is_denied = denied.iter().any(|denied| denied.id == *other);
        !is_denied
            && !of.user_agent_regex.is_empty()
            && pattern.is_match(of.sample_user_agent.as_bytes())
    });
    let before = before.map(|(_, of)| bordered(&of.user_agent_regex, anchors));
    exclude.into_iter().map(Ok).chain(before).collect()
}

/// The published networks of `denied`, and the crawlers that publish none. Addresses that are not
/// public are left out: they may be those of a proxy.
pub(crate) fn network_groups(
    denied: &[DeniedCrawler],
    ranges: &Ranges,
) -> (Vec<DeniedNetworks>, Vec<String>) {
    let (mut groups, mut without) = (Vec::new(), Vec::new());
    for crawler in denied {
        let networks: Vec<IpNet> = ranges
            .networks_of(crawler.id)
            .flat_map(prefixes)
            .filter(is_public_throughout)
            .collect();
        match networks.is_empty() {
            true => without.push(crawler.name.clone()),
            false => groups.push(DeniedNetworks { why: crawler.why(), networks }),
        }
    }
    (groups, without)
}

/// Checks that the networks of each operator of `denied` are no more than an operator has: a damaged
/// list would refuse everybody.
///
/// # Errors
/// If they are more; the error names the operator and the share of all addresses.
pub(crate) fn check_shares(denied: &[DeniedCrawler], ranges: &Ranges) -> Result<()> {
    let mut operators: BTreeMap<&str, Vec<Network>> = BTreeMap::new();
    for crawler in denied {
        operators.entry(crawler.operator()).or_default().extend(ranges.networks_of(crawler.id));
    }
    for (operator, networks) in operators {
        if let Some(why) = Networks::new(networks).too_many() {
            return Err(Error::usage(format!(
                "the address lists of {operator} have {why}; nothing was written; look at the lists \
                 in --ip-ranges, or use --by user-agent"
            )));
        }
    }
    Ok(())
}

/// Whether it has no address of a private network.
fn is_public_throughout(network: &IpNet) -> bool {
    is_public(network.network())
        && is_public(network.broadcast())
        && !PRIVATE.iter().any(|inside| network.contains(&IpAddr::V4(*inside)))
}

fn prefixes(network: Network) -> Vec<IpNet> {
    match network {
        Network::V4(first, last) => {
            let (first, last) = (Ipv4Addr::from_bits(first), Ipv4Addr::from_bits(last));
            Ipv4Subnets::new(first, last, 0).map(IpNet::V4).collect()
        }
        Network::V6(first, last) => {
            let (first, last) = (Ipv6Addr::from_bits(first), Ipv6Addr::from_bits(last));
            Ipv6Subnets::new(first, last, 0).map(IpNet::V6).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_one_line_that_ends_itself() {
        assert_eq!(comment("a\r\nb\u{2028}\\"), "a\\x0D\\x0Ab\\xE2\\x80\\xA8\\.");
        assert_eq!(comment(&"x".repeat(1000)).len(), COMMENT_CHARS_MAX);
        let cut = "x".repeat(COMMENT_CHARS_MAX - 1) + "\\y";
        assert!(comment(&cut).ends_with("\\."));
    }

    #[test]
    fn networks_become_prefixes_without_private_addresses() {
        let texts = |text: &str| {
            let networks = prefixes(Network::parse(text.as_bytes()).unwrap());
            let public = networks.into_iter().filter(is_public_throughout);
            public.map(|network| network.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            texts("192.0.2.1 - 192.0.2.6"),
            ["192.0.2.1/32", "192.0.2.2/31", "192.0.2.4/31", "192.0.2.6/32"]
        );
        assert_eq!(texts("2001:db8::/32"), ["2001:db8::/32"]);
        assert_eq!(texts("20.171.206.0/24"), ["20.171.206.0/24"]);
        for private in
            ["127.0.0.0/8", "192.0.0.0/8", "172.0.0.0/9", "fc00::/16", "10.1.2.3", "100.0.0.0/8"]
        {
            assert!(texts(private).is_empty(), "{private}");
        }
    }
}
