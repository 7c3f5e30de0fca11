//! Rules for firewalls, and for services that tell them what to refuse: nftables, pf, CrowdSec, fail2ban
//! and Cloudflare.

use ipnet::IpNet;

use crate::crawlers::pattern::names;
use crate::table::escape::csv_cell;

use super::pattern::{Anchors, HEADER};
use super::rules::{AgentGroup, DenyRules, MARK, any_of, comment};

const NFTABLES_USE: &str = "\
# Load it with: nft -f FILE. A firewall sees no paths: robots.txt is refused, too, so these crawlers
# cannot learn what you ask of them. Addresses are those of the peer, which may be a proxy.
table inet botaudit
delete table inet botaudit
table inet botaudit {
";

/// Rules for nftables.
pub(crate) fn nftables(rules: &DenyRules) -> String {
    let (v4, v6): (Vec<IpNet>, Vec<IpNet>) =
        rules.distinct_networks().into_iter().partition(|network| network.addr().is_ipv4());
    let (mut sets, mut chain) = (String::new(), String::new());
    for (name, family, kind, networks) in
        [("deny4", "ip", "ipv4_addr", v4), ("deny6", "ip6", "ipv6_addr", v6)]
    {
        if networks.is_empty() {
            continue;
        }
        let elements: Vec<String> = networks.iter().map(IpNet::to_string).collect();
        sets += &format!("  set {name} {{\n    type {kind}\n    flags interval\n    auto-merge\n");
        sets += &format!("    elements = {{\n      {}\n    }}\n  }}\n", elements.join(",\n      "));
        for (protocol, ports) in [("tcp", "{ 80, 443 }"), ("udp", "443")] {
            chain += &format!("    {family} saddr @{name} {protocol} dport {ports} counter drop\n");
        }
    }
    let (head, reasons) = (rules.head("#"), rules.network_reasons("#"));
    format!(
        "{head}{reasons}{NFTABLES_USE}{sets}  chain input {{\n    type filter hook input priority filter - \
         10; policy accept;\n{chain}  }}\n}}\n"
    )
}

const PF_USE: &str = "\
# Add to pf.conf, before rules with quick:
#   anchor \"botaudit\"
#   load anchor \"botaudit\" from \"/etc/pf.botaudit\"
# A firewall sees no paths: robots.txt is refused, too, so these crawlers cannot learn what you ask of
# them. Addresses are those of the peer, which may be a proxy.
";

/// Rules for pf, the packet filter of the BSDs and macOS.
pub(crate) fn pf(rules: &DenyRules) -> String {
    let networks: Vec<String> = rules.distinct_networks().iter().map(IpNet::to_string).collect();
    let (head, reasons) = (rules.head("#"), rules.network_reasons("#"));
    format!(
        "{head}{reasons}{PF_USE}table <botaudit> const {{ \\\n  {} \\\n}}\n\
         block drop in quick proto tcp from <botaudit> to any port {{ 80, 443 }}\n\
         block drop in quick proto udp from <botaudit> to any port 443\n",
        networks.join(", \\\n  ")
    )
}

/// Decisions for CrowdSec, as CSV. CSV has no comments, so each row has its reason, and expires.
pub(crate) fn crowdsec(rules: &DenyRules) -> String {
    let duration = format!("{}h", rules.review_days * 24);
    let mut rows = vec![["duration", "scope", "type", "reason", "value"].map(str::to_owned)];
    for denied in &rules.networks {
        let reason = comment(&format!("{MARK}: {}", denied.why));
        for network in &denied.networks {
            let (scope, value) = match network.prefix_len() == network.max_prefix_len() {
                true => ("ip", network.addr().to_string()),
                false => ("range", network.to_string()),
            };
            let reason = csv_cell(reason.as_bytes());
            rows.push([duration.clone(), scope.to_owned(), "ban".to_owned(), reason, value]);
        }
    }
    let mut csv = csv::Writer::from_writer(Vec::new());
    let written = rows.iter().try_for_each(|row| csv.write_record(row));
    written.expect("memory can be written");
    String::from_utf8(csv.into_inner().expect("memory can be written")).expect("cells are text")
}

/// The user agent is within quotes.
pub(crate) const FAIL2BAN_ANCHORS: Anchors =
    Anchors { start: "(?<=\")", end: "(?=\")", finds_within: false };

const FAIL2BAN_USE: &str = "\
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

/// A filter for fail2ban, which reads access logs in the combined format.
pub(crate) fn fail2ban(rules: &DenyRules) -> String {
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
    text + FAIL2BAN_USE + &format!("failregex = {}\n", lines.join("\n            "))
}

/// Not all plans have regular expressions, and without them a name has no borders.
pub(crate) const CLOUDFLARE_ANCHORS: Anchors = Anchors { finds_within: true, ..HEADER };

const CLOUDFLARE_USE: &str = "\
# Each line without # is the expression of a custom rule; choose the action Block. Expressions with
# `matches` need a plan that has regular expressions. Expressions with `contains` also refuse clients
# whose name is longer, as MyGPTBot is longer than GPTBot: try them on your logs with --replay.
";

const NOT_ROBOTS: &str = "http.request.uri.path ne \"/robots.txt\"";

/// Expressions for custom rules of Cloudflare.
pub(crate) fn cloudflare(rules: &DenyRules) -> String {
    let mut text = rules.head("#") + CLOUDFLARE_USE;
    for group in &rules.agents {
        text += "\n";
        text += &group.reasons();
        text += &expression(group);
    }
    let networks: Vec<String> = rules.distinct_networks().iter().map(ToString::to_string).collect();
    if !networks.is_empty() {
        let networks = networks.join(" ");
        text += &format!("\n{}", rules.network_reasons("#"));
        text += &format!("({NOT_ROBOTS} and ip.src in {{{networks}}})\n");
    }
    text
}

fn expression(group: &AgentGroup) -> String {
    let any = |patterns: Vec<&String>| {
        patterns.into_iter().map(|pattern| test(pattern)).collect::<Vec<_>>().join(" or ")
    };
    let denied = any(group.denied.iter().map(|agent| &agent.pattern).collect());
    let except = match group.excepts.is_empty() {
        true => String::new(),
        false => format!(" and not ({})", any(group.excepts.iter().collect())),
    };
    format!("({NOT_ROBOTS} and ({denied}){except})\n")
}

/// The test for a pattern. `contains` is in every plan, and is enough for names.
fn test(pattern: &str) -> String {
    let contains = |name: String| format!("lower(http.user_agent) contains \"{name}\"");
    match names(pattern) {
        Some(names) => names.into_iter().map(contains).collect::<Vec<_>>().join(" or "),
        None => format!("http.user_agent matches r#\"(?i){pattern}\"#"),
    }
}
