//! `--since` and `--until`.

use clap::Args;

use crate::config::audit_config::AuditConfig;

/// The flags.
#[derive(Args, Debug)]
#[command(next_help_heading = "Reading logs")]
pub struct WindowArgs {
    /// Pass over requests made before TIME: 2026-01-31, 2026-01-31T12:00, or with an offset.
    ///
    /// A date begins at midnight in the zone of --timezone, and so does a time without an offset.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Pass over requests made at TIME or later; written as for --since.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl WindowArgs {
    /// Their part of a configuration.
    pub fn config(self) -> AuditConfig {
        AuditConfig { since: self.since, until: self.until, ..AuditConfig::default() }
    }
}
