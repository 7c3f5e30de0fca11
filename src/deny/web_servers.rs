//! Rules for web servers: nginx, Apache and lighttpd.

use std::fmt::Write;

use super::rules::{AgentGroup, DenyRules, any_of, comment};

const NGINX_USE: &str = "\
# Include this file in the context http. Then write into each server that should refuse them:
#   if ($botaudit_deny) { return 403; }
# Behind a proxy, set real_ip_header and set_real_ip_from, or the address is that of the proxy.
";

/// Rules for nginx: maps for the context http, and a variable for servers.
pub(crate) fn nginx(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + NGINX_USE;
    let mut variables = String::new();
    for (number, group) in (1..).zip(&rules.agents) {
        write!(variables, "$botaudit_agent_{number}").expect("writing to a string cannot fail");
        text += &nginx_map(number, group);
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

fn nginx_map(number: usize, group: &AgentGroup) -> String {
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

const APACHE_USE: &str = "\
# Include this file in each virtual host that should refuse them; it needs mod_rewrite.
# Behind a proxy, use mod_remoteip, or the address is that of the proxy.
RewriteEngine On
";

const APACHE_EXEMPT: &str = "RewriteCond \"%{REQUEST_URI}\" \"!=/robots.txt\"\n";

const APACHE_REFUSE: &str = "RewriteRule \"^\" \"-\" [F]\n";

/// Rules for Apache, with mod_rewrite.
pub(crate) fn apache(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + APACHE_USE;
    rules.agents.iter().for_each(|group| text += &apache_conditions(group));
    let networks = rules.distinct_networks();
    if let Some((last, others)) = networks.split_last() {
        text += &format!("\n{}{APACHE_EXEMPT}", rules.network_reasons("#"));
        for network in others {
            text += &format!("RewriteCond expr \"-R '{network}'\" [OR]\n");
        }
        text += &format!("RewriteCond expr \"-R '{last}'\"\n{APACHE_REFUSE}");
    }
    text
}

fn apache_conditions(group: &AgentGroup) -> String {
    let mut text = format!("\n{APACHE_EXEMPT}");
    if !group.excepts.is_empty() {
        text += "# Others with similar user agents.\n";
    }
    for pattern in &group.excepts {
        text += &format!("RewriteCond \"%{{HTTP_USER_AGENT}}\" \"!(?:{pattern})\" [NC]\n");
    }
    for (at, agent) in (1..).zip(&group.denied) {
        // A pattern that begins with a hyphen or `=` would be a test of another kind.
        let flags = if at == group.denied.len() { "NC" } else { "NC,OR" };
        text += &format!("# {}\n", comment(&agent.why));
        text +=
            &format!("RewriteCond \"%{{HTTP_USER_AGENT}}\" \"(?:{})\" [{flags}]\n", agent.pattern);
    }
    text + APACHE_REFUSE
}

const LIGHTTPD_USE: &str = "\
# Include this file after all other files. mod_access must be the first of server.modules, or
# others answer before it. Behind a proxy, use mod_extforward, or the address is that of the proxy.
server.modules += ( \"mod_access\" )
";

const LIGHTTPD_REFUSE: &str = "{ url.access-deny = ( \"\" ) }\n";

/// Rules for lighttpd.
pub(crate) fn lighttpd(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + LIGHTTPD_USE + "\n$HTTP[\"url\"] != \"/robots.txt\" {\n";
    for group in &rules.agents {
        let has_excepts = !group.excepts.is_empty();
        if has_excepts {
            let excepts = any_of(&group.excepts);
            text += &format!("  $HTTP[\"user-agent\"] !~ \"(?i){excepts}\" {{\n");
        }
        for agent in &group.denied {
            text += &format!("  # {}\n", comment(&agent.why));
            text +=
                &format!("  $HTTP[\"user-agent\"] =~ \"(?i){}\" {LIGHTTPD_REFUSE}", agent.pattern);
        }
        text += if has_excepts { "  }\n" } else { "" };
    }
    text += &rules.network_reasons("  #");
    for network in rules.distinct_networks() {
        text += &format!("  $HTTP[\"remote-ip\"] == \"{network}\" {LIGHTTPD_REFUSE}");
    }
    text + "}\n"
}
