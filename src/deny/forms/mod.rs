//! The text of rules in each syntax.

pub mod apache;
pub mod caddy;
pub mod cloudflare;
pub mod crowdsec;
pub mod fail2ban;
pub mod haproxy;
pub mod lighttpd;
pub mod nftables;
pub mod nginx;
pub mod pf;
pub mod traefik;
