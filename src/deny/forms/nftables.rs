//! Rules for nftables.

use ipnet::IpNet;

use crate::deny::rules::DenyRules;

const USE: &str = "\
# Load it with: nft -f FILE. A firewall sees no paths: robots.txt is refused, too, so these crawlers
# cannot learn what you ask of them. Addresses are those of the peer, which may be a proxy.
table inet botaudit
delete table inet botaudit
table inet botaudit {
";

/// The text of `rules`.
pub(crate) fn text(rules: &DenyRules) -> String {
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
        "{head}{reasons}{USE}{sets}  chain input {{\n    type filter hook input priority filter - \
         10; policy accept;\n{chain}  }}\n}}\n"
    )
}
