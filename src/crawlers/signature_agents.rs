//! Agents that publish the keys with which they sign requests, by the host of their directory.
//!
//! Names and hosts are those of Cloudflare's directory of bots. That a host is in the table proves nothing: a
//! signature is verified by the keys that the host publishes.

use crate::signatures::check::DIRECTORY_PATH;

/// Host, name of the agent, and its crawler in the registry, if it has one.
const TABLE: &str = include_str!("signature_agents.csv");

/// An agent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SignatureAgent {
    /// The host that publishes its keys.
    pub host: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The crawler of the registry that it is; empty if there is none.
    pub crawler: &'static str,
}

impl SignatureAgent {
    /// All agents, by host.
    pub(crate) fn all() -> impl Iterator<Item = SignatureAgent> {
        TABLE.lines().skip(1).map(|line| {
            let mut cells = line.split(',');
            let mut cell = || cells.next().unwrap_or_default();
            SignatureAgent { host: cell(), name: cell(), crawler: cell() }
        })
    }

    /// The URL of its keys.
    pub(crate) fn directory(&self) -> String {
        format!("https://{}{DIRECTORY_PATH}", self.host)
    }

    /// The agent with the directory at `url`.
    pub(crate) fn of_directory(url: &str) -> Option<SignatureAgent> {
        let host = url.strip_prefix("https://")?.strip_suffix(DIRECTORY_PATH)?;
        SignatureAgent::all().find(|agent| agent.host == host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::registry::Registry;
    use crate::url::origin::Origin;

    #[test]
    fn hosts_are_in_order_and_crawlers_are_known() {
        let all: Vec<SignatureAgent> = SignatureAgent::all().collect();
        assert!(all.len() > 100 && all.is_sorted_by_key(|agent| agent.host));
        assert!(all.windows(2).all(|pair| pair[0].host != pair[1].host));
        let registry = Registry::builtin();
        for agent in all {
            let origin = Origin::parse(agent.directory().as_bytes()).unwrap();
            assert_eq!((origin.host_and_port(), agent.name.is_empty()), (agent.host, false));
            assert!(
                agent.crawler.is_empty() || registry.find(agent.crawler).is_some(),
                "{agent:?}"
            );
            assert_eq!(SignatureAgent::of_directory(&agent.directory()), Some(agent));
        }
        assert_eq!(SignatureAgent::of_directory("https://example.com/keys"), None);
    }
}
