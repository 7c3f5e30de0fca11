//! Rules for pf, the packet filter of the BSDs and macOS.

use ipnet::IpNet;

use crate::deny::rules::DenyRules;

const USE: &str = "\
# Add to pf.conf, before rules with quick:
#   anchor \"botaudit\"
#   load anchor \"botaudit\" from \"/etc/pf.botaudit\"
# A firewall sees no paths: robots.txt is refused, too, so these crawlers cannot learn what you ask of
# them. Addresses are those of the peer, which may be a proxy.
";

/// The text of `rules`.
pub(crate) fn text(rules: &DenyRules) -> String {
    let networks: Vec<String> = rules.distinct_networks().iter().map(IpNet::to_string).collect();
    let (head, reasons) = (rules.head("#"), rules.network_reasons("#"));
    format!(
        "{head}{reasons}{USE}table <botaudit> const {{ \\\n  {} \\\n}}\n\
         block drop in quick proto tcp from <botaudit> to any port {{ 80, 443 }}\n\
         block drop in quick proto udp from <botaudit> to any port 443\n",
        networks.join(", \\\n  ")
    )
}
