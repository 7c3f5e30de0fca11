//! What the flags of an audit say where its lines are read by somebody else, and sums are kept.

use std::path::Path;

use crate::audit::Options;
use crate::audit::finish::Audit;
use crate::audit::identities::Identities;
use crate::audit::suspects::Suspects;
use crate::error::Result;
use crate::input::source::Source;
use crate::report::directory::Staging;
use crate::report::page_model::PageModel;
use crate::time::Window;

use super::super::written::write_report;
use super::{AuditArgs, Ready, no_robots};

impl AuditArgs {
    /// Writes to `output` the report of an audit whose lines were read before, those of `window`.
    pub fn report_kept(
        &self,
        mut audit: Audit,
        output: &Path,
        window: Window,
        ready: &Ready,
    ) -> Result<(Audit, PageModel)> {
        let staging = Staging::open(output)?;
        ready.privacy.apply(&mut audit);
        if self.identity.dns_max().is_some() {
            // Who is who was asked when the lines were read.
            audit.notes.clear();
        }
        let options = self.run_options(&Options { window, ..ready.options.clone() });
        let model = write_report(&staging, output, &audit, &options, None, &ready.registry)?;
        staging.commit()?;
        Ok((audit, model))
    }

    /// Fetches what is to be judged by, if that is wanted, for what `sources` ask of whom.
    pub fn fetch_first(&self, sources: &[Source], ready: &Ready) -> Result<()> {
        let robots = self.robots_path().ok_or_else(no_robots)?;
        self.fetch.run(&robots, sources, &ready.options, &ready.registry, self.show())
    }

    /// By what identities are told, as far as nobody has to be asked.
    pub fn ranges(&self, ready: &Ready) -> Result<Identities> {
        self.identity.ranges(&ready.registry)
    }

    /// By what identities are told; `find` reads the logs for those whose names are to be looked
    /// up.
    pub fn identities(
        &self,
        ready: &Ready,
        find: impl FnOnce(&Identities) -> Result<Suspects>,
    ) -> Result<Identities> {
        self.identity.identities_of(&ready.registry, find)
    }

    /// The file of crawlers that are added to the built-in ones.
    pub fn crawlers(&self) -> Option<&Path> {
        self.crawlers.as_deref()
    }

    /// Percent of the lines of a file that must be records.
    pub fn min_parse_rate(&self) -> f64 {
        self.min_parse_rate
    }
}
