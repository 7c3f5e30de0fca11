//! `audit --infer-outages`: first what the logs themselves show of robots.txt.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clap::Args;

use crate::audit::witness::{DAYS_MAX, Silent};
use crate::audit::{Options, Progress, silent_hours};
use crate::config::audit_config::AuditConfig;
use crate::crawlers::registry::Registry;
use crate::error::Result;
use crate::input::source::Source;
use crate::judge::Judge;

use super::identity::check_can_be_read_twice;
use super::shared::complain;

/// The flag.
#[derive(Args, Debug)]
pub struct InferOutagesArgs {
    /// Count requests as unreachable in hours in which nobody got robots.txt, as the logs show.
    ///
    /// That is an hour of UTC in which at least three clients asked for the robots.txt of an origin
    /// and every one got 429 or 5xx, unless an archive has a snapshot of that origin from less than
    /// a day before or after. The logs are read twice: once for the answers, once to judge.
    #[arg(help_heading = "Detecting outages from logs", long)]
    infer_outages: bool,
}

impl InferOutagesArgs {
    /// Its part of a configuration.
    pub fn config(self) -> AuditConfig {
        AuditConfig { infer_outages: self.infer_outages.then_some(true), ..AuditConfig::default() }
    }
}

/// Lets `judge` heed what `sources` show, if that is wanted. `bytes_read` counts what is read.
pub fn heed_outages(
    config: &AuditConfig,
    sources: &[Source],
    options: &Options,
    judge: &mut Judge,
    registry: &Registry,
    bytes_read: &Arc<AtomicU64>,
) -> Result<()> {
    if config.infer_outages != Some(true) {
        return Ok(());
    }
    check_can_be_read_twice("--infer-outages", sources)?;
    let progress = Progress { bytes_read: Arc::clone(bytes_read), lines: AtomicU64::new(0) };
    let Silent { hours, is_cut } = silent_hours(sources, options, judge, registry, &progress)?;
    if is_cut {
        complain(&format!(
            "warning: robots.txt was asked for on more than {DAYS_MAX} days of origins; of some \
             days --infer-outages says nothing; audit fewer days or origins at once"
        ));
    }
    judge.heed(hours);
    Ok(())
}
