//! `audit --infer-outages`: first what the logs themselves show of robots.txt.

use clap::Args;

use crate::audit::log_outages::{DAYS_MAX, FoundOutages, LogOutages};
use crate::audit::origin_options::OriginOptions;
use crate::config::audit_config::AuditConfig;
use crate::judge::Judge;

use super::shared::complain;

/// The flag.
#[derive(Args, Debug)]
pub struct InferOutagesArgs {
    /// Count requests as unreachable in hours in which nobody got robots.txt, as the logs show.
    ///
    /// That is an hour of UTC in which at least three clients asked for the robots.txt of an origin
    /// and every one got 429 or 5xx, unless an archive has a snapshot of that origin from less than
    /// a day before or after. The logs are read twice: once for the answers, once to judge; see
    /// --collect where they lie on several machines.
    #[arg(help_heading = "Detecting outages from logs", long)]
    infer_outages: bool,
}

impl InferOutagesArgs {
    /// Its part of a configuration.
    pub fn config(self) -> AuditConfig {
        AuditConfig { infer_outages: self.infer_outages.then_some(true), ..AuditConfig::default() }
    }
}

/// Lets `judge` heed what the `answers` to requests for robots.txt show.
pub fn heed_outages(answers: LogOutages, judge: &mut Judge, naming: &OriginOptions) {
    let FoundOutages { hours, is_cut } = answers.into_silent(judge, naming);
    if is_cut {
        complain(&format!(
            "warning: robots.txt was asked for on more than {DAYS_MAX} days of origins; of some \
             days --infer-outages says nothing; audit fewer days or origins at once"
        ));
    }
    judge.heed(hours);
}
