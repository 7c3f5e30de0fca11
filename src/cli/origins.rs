//! The flags that say whose log it is.

use clap::Args;
use ipnet::IpNet;

use crate::audit::client_address::network;
use crate::audit::origin_options::{Aliases, FromPath, OriginOptions};
use crate::config::audit_config::AuditConfig;
use crate::config::fault::Fault;
use crate::url::origin::Origin;

/// Whose log it is, and by whom it was reached.
#[derive(Args, Debug)]
#[command(next_help_heading = "Origins")]
pub struct OriginArgs {
    /// Origin of records whose log names no host, as https://example.com.
    #[arg(long, value_name = "URL")]
    origin: Option<Origin>,

    /// Regular expression that takes the host of such records from the log's path, without --origin.
    ///
    /// Its group `host` is the host; groups `scheme` and `port` are optional:
    /// '/var/log/nginx/(?<host>[^/]+)\.access\.log'.
    #[arg(long, value_name = "REGEX")]
    origin_from_path: Option<String>,

    /// Another name of a host or an origin: www.example.com=example.com. Can be repeated.
    ///
    /// Between hosts, scheme and port stay; http://example.com=https://example.com is about
    /// these two alone. The report and robots.txt go by the second name.
    #[arg(long, value_name = "ALIAS=NAME")]
    alias: Vec<String>,

    /// A proxy that is believed about X-Forwarded-For, as 10.0.0.0/8. Can be repeated.
    ///
    /// The client is then the last address there that is no such proxy.
    #[arg(long, value_name = "CIDR")]
    trusted_proxy: Vec<String>,
}

impl OriginArgs {
    /// Their part of a configuration.
    pub fn config(self) -> AuditConfig {
        let given = |list: Vec<String>| (!list.is_empty()).then_some(list);
        AuditConfig {
            origin: self.origin,
            origin_from_path: self.origin_from_path,
            alias: given(self.alias),
            trusted_proxy: given(self.trusted_proxy),
            ..AuditConfig::default()
        }
    }
}

/// What `config` says of origins; each fault goes to `faults`.
pub fn naming(config: &AuditConfig, faults: &mut Vec<Fault>) -> OriginOptions {
    let from_path = config.origin_from_path.as_deref().map(FromPath::parse).transpose();
    let from_path = from_path.unwrap_or_else(|why| {
        let example = r"/var/log/nginx/(?<host>[^/]+)\.access\.log";
        faults.push(Fault::new("origin_from_path", why).or_write(example));
        None
    });
    let mut aliases = Aliases::default();
    for alias in config.alias.iter().flatten() {
        if let Err(why) = aliases.add(alias) {
            let fault = Fault::new("alias", format!("'{alias}': {why}"));
            faults.push(fault.or_write("www.example.com=example.com"));
        }
    }
    OriginOptions { origin: config.origin.clone(), from_path, aliases }
}

/// The proxies that `config` trusts; each fault goes to `faults`.
pub fn trusted_proxies(config: &AuditConfig, faults: &mut Vec<Fault>) -> Vec<IpNet> {
    let mut parse = |text: &String| {
        let network = network(text);
        if network.is_none() {
            let why = format!("'{text}' is not an address or network");
            faults.push(Fault::new("trusted_proxy", why).or_write("10.0.0.0/8"));
        }
        network
    };
    config.trusted_proxy.iter().flatten().filter_map(&mut parse).collect()
}
