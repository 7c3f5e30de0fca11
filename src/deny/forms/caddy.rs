//! Rules for a site of a Caddyfile.

use crate::deny::rules::{DenyRules, any_of, comment};

const USE: &str = "\
# Import this file in each site that should refuse them. Directives such as handle and route come
# before respond, so a site that has them needs the global option: order respond first
# Behind a proxy, replace remote_ip by client_ip (Caddy 2.7) and set trusted_proxies.
";

/// The text of `rules`.
pub(crate) fn text(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + USE;
    for (number, group) in (1..).zip(&rules.agents) {
        text += "\n";
        group.denied.iter().for_each(|agent| text += &format!("# {}\n", comment(&agent.why)));
        text += &format!("@botaudit_agent_{number} {{\n\tnot path /robots.txt\n");
        if !group.excepts.is_empty() {
            text += &format!("\tnot header_regexp User-Agent `(?i){}`\n", any_of(&group.excepts));
        }
        let patterns: Vec<String> =
            group.denied.iter().map(|agent| agent.pattern.clone()).collect();
        text += &format!("\theader_regexp User-Agent `(?i){}`\n}}\n", any_of(&patterns));
        text += &format!("respond @botaudit_agent_{number} 403\n");
    }
    let networks = rules.distinct_networks();
    if !networks.is_empty() {
        text += &format!("\n{}@botaudit_address {{\n", rules.network_reasons("#"));
        text += "\tnot path /robots.txt\n\tremote_ip";
        networks.iter().for_each(|network| text += &format!(" {network}"));
        text += "\n}\nrespond @botaudit_address 403\n";
    }
    text
}
