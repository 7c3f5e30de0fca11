//! Rules for web servers, nginx, Apache and lighttpd, and for proxies in front of them: HAProxy, Caddy and Traefik.

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

const HAPROXY_USE: &str = "\
# Put these lines into each frontend that should refuse them. src is the address of the peer.
acl botaudit_robots path /robots.txt
";

/// A line of HAProxy has at most 64 words.
const NETWORKS_PER_LINE: usize = 32;

/// Rules for a frontend of HAProxy.
pub(crate) fn haproxy(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + HAPROXY_USE;
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

const CADDY_USE: &str = "\
# Import this file in each site that should refuse them. Directives such as handle and route come
# before respond, so a site that has them needs the global option: order respond first
# Behind a proxy, replace remote_ip by client_ip (Caddy 2.7) and set trusted_proxies.
";

/// Rules for a site of a Caddyfile.
pub(crate) fn caddy(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + CADDY_USE;
    for (number, group) in (1..).zip(&rules.agents) {
        text += "\n";
        text += &group.reasons();
        text += &format!("@botaudit_agent_{number} {{\n\tnot path /robots.txt\n");
        if !group.excepts.is_empty() {
            text += &format!("\tnot header_regexp User-Agent `(?i){}`\n", any_of(&group.excepts));
        }
        let patterns = group.patterns();
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

const TRAEFIK_USE: &str = "\
# Save it as a .toml file in the directory of the file provider (Traefik 3). Each router is there with and
# without TLS. Behind a proxy, ClientIP is the address of the proxy.
[http.middlewares.botaudit-deny.ipAllowList]
# No client has this address, so all clients get the answer 403.
sourceRange = [\"255.255.255.255/32\"]
";

/// Above all routers that do not set a priority: theirs is the length of their rule.
const PRIORITY: u32 = 1_000_000;

/// Dynamic configuration for Traefik 3. Patterns and networks have neither backticks nor single quotes.
pub(crate) fn traefik(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + TRAEFIK_USE;
    for (number, group) in (1..).zip(&rules.agents) {
        text += "\n";
        text += &group.reasons();
        let patterns = group.patterns();
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
