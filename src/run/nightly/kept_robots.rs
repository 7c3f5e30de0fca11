//! The versions of the robots.txt files of a site: what a night sees of them, and the judge who knows them.

use std::path::PathBuf;

use crate::archive::{Store, kept::KeptFiles};
use crate::config::file::ConfigFile;
use crate::error::Result;
use crate::judge::Judge;
use crate::run::setup::Setup;
use crate::time::{Day, UtcTime};

/// The versions of the robots.txt files of one site.
#[derive(Clone, Debug)]
pub(super) struct KeptRobots {
    /// The archive with them.
    path: PathBuf,
    /// The time of the run.
    now: UtcTime,
    /// The first day that is kept in the state.
    first_kept: Option<Day>,
}

impl KeptRobots {
    /// Those of the site with this name, beside the state of `config`.
    pub(super) fn new(
        config: &ConfigFile,
        site: &str,
        now: UtcTime,
        first_kept: Option<Day>,
    ) -> KeptRobots {
        let mut directory = config.state.clone().into_os_string();
        directory.push(".robots");
        let path = PathBuf::from(directory).join(format!("{site}.db"));
        KeptRobots { path, now, first_kept }
    }

    /// Notes which versions the files have now. An archive has a history of its own.
    ///
    /// # Errors
    /// If the versions cannot be written.
    pub(super) fn see(&self, setup: &Setup) -> Result<()> {
        if setup.is_fetched() {
            return Ok(());
        }
        let (store, zone) = (Store::open(setup.robots())?, &setup.options.zone);
        let first_kept = self.first_kept.and_then(|day| zone.parse(&day.to_string()));
        let named = setup.options.naming.origin.as_ref();
        KeptFiles::see(&store, named, &self.path, self.now, first_kept)
    }

    /// The judge, who takes the version of the time of each request.
    ///
    /// # Errors
    /// If robots.txt or the versions cannot be read.
    pub(super) fn judge(&self, setup: &Setup) -> Result<Judge> {
        let store = Store::open(setup.robots())?;
        let named = setup.options.naming.origin.as_ref();
        let kept_files = KeptFiles::open(&store, named, &self.path)?;
        Ok(setup.judge_by(store)?.with_kept_files(kept_files))
    }
}
