//! `--config` and `--site`: the settings of a site in a configuration file.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::run::{configured::ConfiguredSite, console::Console};

/// The flags.
#[derive(Args, Debug)]
#[command(next_help_heading = "Configuration file")]
pub(crate) struct ConfiguredArgs {
    /// Use the logs and settings of a site in the configuration of nightly.
    ///
    /// Logs and flags on the command line take precedence.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    config: Option<PathBuf>,

    /// Site of --config; needed only if it has several.
    #[arg(long, value_name = "NAME", hide_short_help = true, requires = "config")]
    site: Option<String>,
}

impl ConfiguredArgs {
    /// The site, if `--config` is given.
    pub(crate) fn site(&self, console: &dyn Console) -> Result<Option<ConfiguredSite>> {
        let open = |file: &PathBuf| ConfiguredSite::open(file, self.site.as_deref(), console);
        self.config.as_ref().map(open).transpose()
    }
}
