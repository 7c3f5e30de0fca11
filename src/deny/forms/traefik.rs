//! Dynamic configuration for Traefik 3.

use crate::deny::rules::{DenyRules, any_of, comment};

const USE: &str = "\
# Save it as a .toml file in the directory of the file provider (Traefik 3). Each router is there with and
# without TLS. Behind a proxy, ClientIP is the address of the proxy.
[http.middlewares.botaudit-deny.ipAllowList]
# No client has this address, so all clients get the answer 403.
sourceRange = [\"255.255.255.255/32\"]
";

/// Above all routers that do not set a priority: theirs is the length of their rule.
const PRIORITY: u32 = 1_000_000;

/// The text of `rules`. Patterns and networks have neither backticks nor single quotes.
pub(crate) fn text(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + USE;
    for (number, group) in (1..).zip(&rules.agents) {
        text += "\n";
        group.denied.iter().for_each(|agent| text += &format!("# {}\n", comment(&agent.why)));
        let patterns: Vec<String> =
            group.denied.iter().map(|agent| agent.pattern.clone()).collect();
        let mut rule = agent_rule(&patterns);
        if !group.excepts.is_empty() {
            rule += &format!(" && !{}", agent_rule(&group.excepts));
        }
        text += &routers(&format!("botaudit-agent-{number}"), &rule);
    }
    let networks = rules.distinct_networks();
    if !networks.is_empty() {
        let networks = networks.iter().map(|network| format!("ClientIP(`{network}`)"));
        let rule = networks.collect::<Vec<_>>().join(" || ");
        text += &format!("\n{}", rules.network_reasons("#"));
        text += &routers("botaudit-address", &format!("({rule})"));
    }
    text
}

fn agent_rule(patterns: &[String]) -> String {
    format!("HeaderRegexp(`User-Agent`, `(?i){}`)", any_of(patterns))
}

/// Routers for all requests but those for robots.txt that meet `rule`.
fn routers(name: &str, rule: &str) -> String {
    let router = |name: &str, more: &str| {
        format!(
            "[http.routers.{name}]\nrule = '!Path(`/robots.txt`) && {rule}'\npriority = {PRIORITY}\n\
             middlewares = [\"botaudit-deny\"]\nservice = \"noop@internal\"\n{more}"
        )
    };
    router(name, "") + &router(&format!("{name}-tls"), "tls = {}\n")
}
