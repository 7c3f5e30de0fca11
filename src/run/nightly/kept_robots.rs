//! The versions of the robots.txt files of a site: what a night sees of them, and the judge who knows them.

use std::path::PathBuf;

use crate::archive::{Store, kept::KeptFiles};
use crate::config::file::ConfigFile;
use crate::error::Result;
use crate::judge::Judge;
use crate::run::setup::Setup;
use crate::time::{Day, UtcTime};

/// A day that began so many seconds ago is yesterday, or the day before.
const RECENT_SECONDS: i64 = 2 * 86_400;

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

    /// Notes which versions the files have now. An archive has a history of its own. Returns a sentence if the rules of
    /// `day`, or of a part of it, may have been others: a file was changed since it began, and was never seen before.
    ///
    /// # Errors
    /// If the versions cannot be written.
    pub(super) fn see(&self, setup: &Setup, day: Day) -> Result<Option<String>> {
        if setup.is_fetched() {
            return Ok(None);
        }
        let (store, zone) = (Store::open(setup.robots())?, &setup.options.zone);
        let first_kept = self.first_kept.and_then(|day| zone.parse(&day.to_string()));
        let named = setup.options.naming.origin.as_ref();
        let first_seen = KeptFiles::see(&store, named, &self.path, self.now, first_kept)?;
        // The rules of a day long ago are what the user says they are.
        let Some(begin) = zone.parse(&day.to_string()) else { return Ok(None) };
        let is_recent = self.now.unix_seconds() - begin.unix_seconds() < RECENT_SECONDS;
        let mut changed = first_seen
            .into_iter()
            .filter(|(_, time)| is_recent && (begin..=self.now).contains(time));
        Ok(changed.next().map(|(file, time)| {
            format!(
                "{} was changed at {time}, and no earlier version of it is known: requests from before are judged by it, \
                 too; if it was another file, add that one: botaudit robots import --archive {} --at TIME FILE; then \
                 remove the state, and run again",
                file.display(),
                self.path.display(),
            )
        }))
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
