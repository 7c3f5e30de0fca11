//! A filter for fail2ban, which reads access logs in the combined format.

use crate::deny::pattern::Anchors;
use crate::deny::rules::{DenyRules, any_of, comment};

/// The user agent is within quotes.
pub(crate) const ANCHORS: Anchors = Anchors { start: "(?<=\")", end: "(?=\")" };

const USE: &str = "\
# Save this file as filter.d/botaudit.conf, and write into jail.d/botaudit.conf:
#   [botaudit]
#   enabled = true
#   filter = botaudit
#   port = http,https
#   logpath = /var/log/nginx/access.log
#   maxretry = 30
#   findtime = 10m
#   bantime = 1d
# Requests for robots.txt do not count, but a ban includes robots.txt. Logs behind a proxy must have
# the address of the client, or the proxy is banned.
[Definition]
datepattern = ^[^\\[]*\\[({DATE})
ignoreregex =
";

/// All fields up to the user agent. The brackets are empty, because the date is cut out before.
const FIELDS: &str = r#"^<HOST> \S+ \S+ \[\] "(?!\S+ /robots\.txt[ ?])[^"]*" \d{3} \S+ "[^"]*" ""#;

/// The text of `rules`.
pub(crate) fn text(rules: &DenyRules) -> String {
    let mut text = rules.head("#");
    let mut lines = Vec::new();
    for group in &rules.agents {
        let not = match group.excepts.is_empty() {
            true => String::new(),
            false => format!("(?![^\"]*(?i:{}))", any_of(&group.excepts)),
        };
        for agent in &group.denied {
            text += &format!("# {}\n", comment(&agent.why));
            lines.push(format!("{FIELDS}{not}[^\"]*(?i:{})[^\"]*\"", agent.pattern));
        }
    }
    text + USE + &format!("failregex = {}\n", lines.join("\n            "))
}
