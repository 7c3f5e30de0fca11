//! The flags that say what may leave in a report.

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::report::privacy::{Addresses, Privacy, Queries};

/// What may leave in a report.
#[derive(Args, Debug)]
#[command(next_help_heading = "What may leave in a report")]
pub struct PrivacyArgs {
    /// How clients' addresses are written in reports; not at all, unless something else is asked for.
    #[arg(long, value_enum, default_value_t = IpArg::None, value_name = "HOW")]
    pub ip: IpArg,

    /// Text that hashes of addresses depend on; keep it secret, and keep it to compare reports.
    #[arg(long, value_name = "TEXT")]
    ip_salt: Option<String>,

    /// Leave query strings out of examples and evidence, and examples out of rejects.csv.
    #[arg(long)]
    pub strip_query: bool,
}

/// How clients' addresses are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum IpArg {
    /// Not at all.
    None,
    /// As their network: /24 of IPv4, /48 of IPv6.
    Mask,
    /// As the first 16 hexadecimal digits of a SHA-256 over --ip-salt and the address.
    Hash,
    /// As logged.
    Full,
}

impl PrivacyArgs {
    /// For the rooms below.
    pub fn privacy(&self) -> Result<Privacy> {
        let addresses = match (self.ip, &self.ip_salt) {
            (IpArg::Hash, Some(salt)) if !salt.is_empty() => Addresses::Hash(salt.clone()),
            (IpArg::Hash, _) => {
                return Err(Error::usage(
                    "--ip hash needs a secret, or anybody can find the addresses by trying all; \
                     write --ip-salt and some text that nobody guesses",
                ));
            }
            (_, Some(_)) => return Err(Error::usage("--ip-salt is for --ip hash; write both")),
            (IpArg::None, None) => Addresses::None,
            (IpArg::Mask, None) => Addresses::Mask,
            (IpArg::Full, None) => Addresses::Full,
        };
        let queries = if self.strip_query { Queries::Strip } else { Queries::Keep };
        Ok(Privacy { addresses, queries })
    }
}

impl IpArg {
    /// As the user writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            IpArg::None => "none",
            IpArg::Mask => "mask",
            IpArg::Hash => "hash",
            IpArg::Full => "full",
        }
    }
}
