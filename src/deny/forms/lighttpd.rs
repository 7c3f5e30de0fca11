//! Rules for lighttpd.

use crate::deny::rules::{DenyRules, any_of, comment};

const USE: &str = "\
# Include this file after all other files. mod_access must be the first of server.modules, or
# others answer before it. Behind a proxy, use mod_extforward, or the address is that of the proxy.
server.modules += ( \"mod_access\" )
";

const REFUSE: &str = "{ url.access-deny = ( \"\" ) }\n";

/// The text of `rules`.
pub(crate) fn text(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + USE + "\n$HTTP[\"url\"] != \"/robots.txt\" {\n";
    for group in &rules.agents {
        let has_excepts = !group.excepts.is_empty();
        if has_excepts {
            let excepts = any_of(&group.excepts);
            text += &format!("  $HTTP[\"user-agent\"] !~ \"(?i){excepts}\" {{\n");
        }
        for agent in &group.denied {
            text += &format!("  # {}\n", comment(&agent.why));
            text += &format!("  $HTTP[\"user-agent\"] =~ \"(?i){}\" {REFUSE}", agent.pattern);
        }
        text += if has_excepts { "  }\n" } else { "" };
    }
    text += &rules.network_reasons("  #");
    for network in rules.distinct_networks() {
        text += &format!("  $HTTP[\"remote-ip\"] == \"{network}\" {REFUSE}");
    }
    text + "}\n"
}
