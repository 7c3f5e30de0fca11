//! Rules for Apache, with mod_rewrite.

use crate::deny::rules::{AgentGroup, DenyRules, comment};

const USE: &str = "\
# Include this file in each virtual host that should refuse them; it needs mod_rewrite.
# Behind a proxy, use mod_remoteip, or the address is that of the proxy.
RewriteEngine On
";

const EXEMPT: &str = "RewriteCond \"%{REQUEST_URI}\" \"!=/robots.txt\"\n";

const REFUSE: &str = "RewriteRule \"^\" \"-\" [F]\n";

/// The text of `rules`.
pub(crate) fn text(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + USE;
    rules.agents.iter().for_each(|group| text += &conditions(group));
    let networks = rules.distinct_networks();
    if let Some((last, others)) = networks.split_last() {
        text += &format!("\n{}{EXEMPT}", rules.network_reasons("#"));
        for network in others {
            text += &format!("RewriteCond expr \"-R '{network}'\" [OR]\n");
        }
        text += &format!("RewriteCond expr \"-R '{last}'\"\n{REFUSE}");
    }
    text
}

fn conditions(group: &AgentGroup) -> String {
    let mut text = format!("\n{EXEMPT}");
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
    text + REFUSE
}
