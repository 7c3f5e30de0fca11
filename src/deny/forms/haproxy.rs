//! Rules for a frontend of HAProxy.

use crate::deny::rules::{DenyRules, comment};

const USE: &str = "\
# Put these lines into each frontend that should refuse them. src is the address of the peer.
acl botaudit_robots path /robots.txt
";

/// A line of HAProxy has at most 64 words.
const NETWORKS_PER_LINE: usize = 32;

/// The text of `rules`.
pub(crate) fn text(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + USE;
    for (number, group) in (1..).zip(&rules.agents) {
        text += "\n";
        let mut unless = String::new();
        if !group.excepts.is_empty() {
            text += "# Others with similar user agents.\n";
            unless = format!(" !botaudit_except_{number}");
        }
        for pattern in &group.excepts {
            text += &acl(&format!("except_{number}"), pattern);
        }
        for agent in &group.denied {
            text += &format!("# {}\n", comment(&agent.why));
            text += &acl(&format!("agent_{number}"), &agent.pattern);
        }
        text += &deny(&format!("botaudit_agent_{number}{unless}"));
    }
    let networks = rules.distinct_networks();
    if !networks.is_empty() {
        text += &format!("\n{}", rules.network_reasons("#"));
        for networks in networks.chunks(NETWORKS_PER_LINE) {
            text += "acl botaudit_address src";
            networks.iter().for_each(|network| text += &format!(" {network}"));
            text += "\n";
        }
        text += &deny("botaudit_address");
    }
    text
}

/// The whole header: `hdr` would cut it at commas.
fn acl(name: &str, pattern: &str) -> String {
    format!("acl botaudit_{name} req.fhdr(user-agent) -m reg -i '(?:{pattern})'\n")
}

fn deny(who: &str) -> String {
    format!("http-request deny deny_status 403 if !botaudit_robots {who}\n")
}
