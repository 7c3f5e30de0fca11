//! `--what-if`: the flags that try a draft of a robots.txt on past requests.

use std::path::PathBuf;

use clap::Args;

use crate::archive::Store;
use crate::audit::origin_options::OriginOptions;
use crate::audit::what_if::{Draft, Governs};
use crate::config::audit_config::AuditConfig;
use crate::error::Result;
use crate::judge::Judge;
use crate::url::origin::Origin;

/// What if another robots.txt had been in force.
#[derive(Args, Debug)]
#[command(next_help_heading = "Testing a draft")]
pub struct WhatIfArgs {
    /// A draft of a robots.txt: write to what-if.csv what it would newly forbid or allow.
    ///
    /// Compared with the rules in force, for the requests that these decided. The draft stands for
    /// the whole of a single --robots file; else for --origin, or for the only origin of the logs.
    #[arg(long, value_name = "DRAFT")]
    what_if: Option<PathBuf>,

    /// The origin that the draft is for, as https://example.com. Can be repeated.
    #[arg(long, value_name = "URL")]
    what_if_for: Vec<Origin>,
}

impl WhatIfArgs {
    /// Their part of a configuration.
    pub fn config(self) -> AuditConfig {
        AuditConfig {
            what_if: self.what_if,
            what_if_for: (!self.what_if_for.is_empty()).then_some(self.what_if_for),
            ..AuditConfig::default()
        }
    }
}

/// The draft, where `config` names one. `judge_of` makes a judge by one file; `is_one_file` says
/// whether one file is in force for all of the log.
pub fn draft(
    config: &AuditConfig,
    naming: &OriginOptions,
    is_one_file: bool,
    judge_of: impl FnOnce(Store) -> Result<Judge>,
) -> Result<Option<Draft>> {
    let Some(path) = &config.what_if else { return Ok(None) };
    let named = config.what_if_for.as_deref().unwrap_or_default();
    let governs = governs(named, naming, is_one_file);
    Draft::new(judge_of(Store::File(path.clone()))?, governs).map(Some)
}

fn governs(named: &[Origin], naming: &OriginOptions, is_one_file: bool) -> Governs {
    let resolve =
        |origin: &Origin| naming.aliases.resolve(origin).unwrap_or_else(|| origin.clone());
    match (named.is_empty(), is_one_file, &naming.origin) {
        (false, _, _) => Governs::Origins(named.iter().map(resolve).collect()),
        (true, true, _) => Governs::Everything,
        (true, false, Some(origin)) => Governs::Origins(vec![resolve(origin)]),
        (true, false, None) => Governs::TheOnlyOne,
    }
}
