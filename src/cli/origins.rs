//! The flags that say whose log it is.

use clap::Args;
use ipnet::IpNet;

use crate::audit::client::network;
use crate::audit::naming::{Aliases, FromPath, Naming};
use crate::error::{Error, Result};

use super::shared::origin;

/// Whose log it is, and by whom it was reached.
#[derive(Args, Debug)]
#[command(next_help_heading = "Whose log it is")]
pub struct OriginArgs {
    /// Origin of records whose log names no host, as https://example.com.
    #[arg(long, value_name = "URL")]
    pub origin: Option<String>,

    /// Regular expression that takes the host of such records from the log's path, without --origin.
    ///
    /// Its group `host` is the host; groups `scheme` and `port` are optional:
    /// '/var/log/nginx/(?<host>[^/]+)\.access\.log'.
    #[arg(long, value_name = "REGEX")]
    pub origin_from_path: Option<String>,

    /// Another name of a host or an origin: www.example.com=example.com. Can be repeated.
    ///
    /// Between hosts, scheme and port stay; http://example.com=https://example.com is about
    /// these two alone. The report and robots.txt go by the second name.
    #[arg(long, value_name = "ALIAS=NAME")]
    pub alias: Vec<String>,

    /// A proxy that is believed about X-Forwarded-For, as 10.0.0.0/8. Can be repeated.
    ///
    /// The client is then the last address there that is no such proxy.
    #[arg(long, value_name = "CIDR")]
    pub trusted_proxy: Vec<String>,
}

impl OriginArgs {
    /// What the user says of origins.
    pub fn naming(&self) -> Result<Naming> {
        let from_path = self.origin_from_path.as_deref().map(FromPath::parse).transpose();
        let from_path = from_path.map_err(|why| {
            Error::usage(format!(
                "--origin-from-path: {why}; write for example '/var/log/nginx/(?<host>[^/]+)\\.access\\.log'"
            ))
        })?;
        let mut aliases = Aliases::default();
        for alias in &self.alias {
            aliases.add(alias).map_err(|why| {
                Error::usage(format!(
                    "--alias {alias}: {why}; write --alias www.example.com=example.com"
                ))
            })?;
        }
        let origin = self.origin.as_deref().map(origin).transpose()?;
        Ok(Naming { origin, from_path, aliases })
    }

    /// The proxies that are believed.
    pub fn trusted_proxies(&self) -> Result<Vec<IpNet>> {
        let networks = self.trusted_proxy.iter().map(|text| {
            network(text).ok_or_else(|| {
                Error::usage(format!(
                    "'{text}' is no network; write --trusted-proxy 10.0.0.0/8 or a single address"
                ))
            })
        });
        networks.collect()
    }
}
