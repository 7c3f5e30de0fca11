//! The syntaxes of rules.

use botaudit_robots::named_enum;

use super::pattern::{Anchors, HEADER};
use super::{firewalls, rules::DenyRules, web_servers};

named_enum! {
    /// A syntax of rules.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub(crate) enum Form {
        /// For the context http.
        Nginx = "nginx",
        /// For virtual hosts.
        Apache = "apache",
        /// For sites of a Caddyfile.
        Caddy = "caddy",
        /// For frontends.
        Haproxy = "haproxy",
        /// For the main configuration.
        Lighttpd = "lighttpd",
        /// For the file provider.
        Traefik = "traefik",
        /// For nft; addresses only.
        Nftables = "nftables",
        /// For an anchor; addresses only.
        Pf = "pf",
        /// A filter; user agents only.
        Fail2ban = "fail2ban",
        /// For cscli; addresses only.
        Crowdsec = "crowdsec",
        /// Expressions of custom rules.
        Cloudflare = "cloudflare",
    }
}

named_enum! {
    /// What a request is recognised by.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub(crate) enum DenyBy {
        /// The User-Agent header.
        UserAgent = "user-agent",
        /// The address ranges that the operator publishes.
        Address = "address",
    }
}

impl Form {
    /// What it can recognise requests by; the default comes first.
    pub(crate) fn choices(self) -> &'static [DenyBy] {
        match self {
            Form::Nftables | Form::Pf | Form::Crowdsec => &[DenyBy::Address],
            Form::Fail2ban => &[DenyBy::UserAgent],
            _ => &[DenyBy::UserAgent, DenyBy::Address],
        }
    }

    /// Whether its rules let requests for `/robots.txt` pass.
    pub(crate) fn exempts_robots_txt(self) -> bool {
        !matches!(self, Form::Nftables | Form::Pf | Form::Crowdsec)
    }

    /// The start and the end of a user agent.
    pub(crate) fn anchors(self) -> Anchors {
        match self {
            Form::Fail2ban => firewalls::FAIL2BAN_ANCHORS,
            Form::Cloudflare => firewalls::CLOUDFLARE_ANCHORS,
            _ => HEADER,
        }
    }

    /// The text of `rules`.
    pub(crate) fn text(self, rules: &DenyRules) -> String {
        match self {
            Form::Nginx => web_servers::nginx(rules),
            Form::Apache => web_servers::apache(rules),
            Form::Caddy => web_servers::caddy(rules),
            Form::Haproxy => web_servers::haproxy(rules),
            Form::Lighttpd => web_servers::lighttpd(rules),
            Form::Traefik => web_servers::traefik(rules),
            Form::Nftables => firewalls::nftables(rules),
            Form::Pf => firewalls::pf(rules),
            Form::Fail2ban => firewalls::fail2ban(rules),
            Form::Crowdsec => firewalls::crowdsec(rules),
            Form::Cloudflare => firewalls::cloudflare(rules),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page_model::action::SERVERS;

    #[test]
    fn the_page_names_forms() {
        let is_form = |form| Form::ALL.into_iter().any(|known| known.as_str() == form);
        assert!(SERVERS.into_iter().all(|(_, form)| is_form(form)));
    }
}
