//! Rules for nginx: maps for the context http, and a variable for servers.

use std::fmt::Write;

use crate::deny::rules::{AgentGroup, DenyRules, comment};

const USE: &str = "\
# Include this file in the context http. Then write into each server that should refuse them:
#   if ($botaudit_deny) { return 403; }
# Behind a proxy, set real_ip_header and set_real_ip_from, or the address is that of the proxy.
";

/// The text of `rules`.
pub(crate) fn text(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + USE;
    let mut variables = String::new();
    for (number, group) in (1..).zip(&rules.agents) {
        write!(variables, "$botaudit_agent_{number}").expect("writing to a string cannot fail");
        text += &map(number, group);
    }
    if !rules.networks.is_empty() {
        variables += "$botaudit_address";
        text += "\n";
        text += &rules.network_reasons("#");
        text += "geo $botaudit_address {\n    default 0;\n";
        for network in rules.distinct_networks() {
            text += &format!("    {network} 1;\n");
        }
        text += "}\n";
    }
    text + &format!(
        "\nmap \"$uri:{variables}\" $botaudit_deny {{\n    default 0;\n    \
         \"~^/robots\\.txt:[01]+$\" 0;\n    \"~:[01]*1[01]*$\" 1;\n}}\n"
    )
}

fn map(number: usize, group: &AgentGroup) -> String {
    let mut text = format!("\nmap $http_user_agent $botaudit_agent_{number} {{\n    default 0;\n");
    if !group.excepts.is_empty() {
        text += "    # Others with similar user agents.\n";
    }
    for pattern in &group.excepts {
        text += &format!("    \"~*{pattern}\" 0;\n");
    }
    for agent in &group.denied {
        text += &format!("    # {}\n    \"~*{}\" 1;\n", comment(&agent.why), agent.pattern);
    }
    text + "}\n"
}
