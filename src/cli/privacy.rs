//! The flags that say what may leave in a report.

use clap::{Args, ValueEnum};

use crate::config::audit_config::AuditConfig;
use crate::config::setting::AddressForm;
use crate::report::privacy::{Addresses, Privacy, Queries};

/// What may leave in a report.
#[derive(Args, Debug)]
#[command(next_help_heading = "Privacy")]
pub struct PrivacyArgs {
    /// How clients' addresses are written in reports [default: none]
    #[arg(long, value_enum, value_name = "HOW")]
    ip: Option<IpArg>,

    /// Text that hashes of addresses depend on; keep it secret, and keep it to compare reports.
    #[arg(long, value_name = "TEXT")]
    ip_salt: Option<String>,

    /// Leave query strings out of examples and evidence, and examples out of rejects.csv.
    #[arg(long)]
    strip_query: bool,
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
    /// Their part of a configuration.
    pub fn config(self) -> AuditConfig {
        AuditConfig {
            ip: self.ip.map(IpArg::form),
            ip_salt: self.ip_salt,
            strip_query: self.strip_query.then_some(true),
            ..AuditConfig::default()
        }
    }
}

/// What may leave in a report, as a configuration with defaults says.
pub fn privacy(config: &AuditConfig) -> Privacy {
    let salt = || config.ip_salt.clone().unwrap_or_default();
    let addresses = match config.ip.unwrap_or_default() {
        AddressForm::None => Addresses::None,
        AddressForm::Mask => Addresses::Mask,
        AddressForm::Hash => Addresses::Hash(salt()),
        AddressForm::Full => Addresses::Full,
    };
    let queries = if config.strip_query == Some(true) { Queries::Strip } else { Queries::Keep };
    Privacy { addresses, queries }
}

impl IpArg {
    fn form(self) -> AddressForm {
        match self {
            IpArg::None => AddressForm::None,
            IpArg::Mask => AddressForm::Mask,
            IpArg::Hash => AddressForm::Hash,
            IpArg::Full => AddressForm::Full,
        }
    }
}
