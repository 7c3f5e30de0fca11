//! The flags that try a draft of a robots.txt on past requests.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::archive::Store;
use crate::audit::naming::Naming;
use crate::audit::simulate::{Draft, Governs};
use crate::error::{Error, Result};
use crate::judge::Judge;
use crate::url::origin::Origin;

/// What if another robots.txt had been in force.
#[derive(Args, Debug)]
pub struct SimulateArgs {
    /// A draft of a robots.txt: write to what-if.csv what it would newly forbid or allow.
    ///
    /// Compared with the rules in force, for the requests that these decided. The draft stands for
    /// the whole of a single --robots file; else for --origin, or for the only origin of the logs.
    #[arg(long, value_name = "DRAFT")]
    simulate: Option<PathBuf>,

    /// The origin that the draft is for, as https://example.com. Can be repeated.
    #[arg(long, value_name = "URL", requires = "simulate")]
    pub simulate_for: Vec<String>,
}

impl SimulateArgs {
    /// The draft, where one is given. `judge_of` makes a judge by one file; `is_one_file` says
    /// whether one file is in force for all of the log.
    pub fn draft(
        &self,
        naming: &Naming,
        is_one_file: bool,
        judge_of: impl FnOnce(Store) -> Result<Judge>,
    ) -> Result<Option<Draft>> {
        let Some(path) = &self.simulate else { return Ok(None) };
        let governs = self.governs(naming, is_one_file)?;
        Draft::new(judge_of(Store::File(path.clone()))?, governs).map(Some)
    }

    /// The file of the draft.
    pub fn path(&self) -> Option<&Path> {
        self.simulate.as_deref()
    }

    /// The name of the draft.
    pub fn name(&self) -> Option<String> {
        self.simulate.as_ref().map(|path| path.display().to_string())
    }

    fn governs(&self, naming: &Naming, is_one_file: bool) -> Result<Governs> {
        let named = self.simulate_for.iter().map(|url| {
            let origin = Origin::parse(url.as_bytes()).ok_or_else(|| {
                Error::usage(format!(
                    "'{url}' is no origin; write --simulate-for https://example.com"
                ))
            })?;
            Ok(naming.aliases.resolve(&origin).unwrap_or(origin))
        });
        let named: Vec<Origin> = named.collect::<Result<_>>()?;
        Ok(match (named.is_empty(), is_one_file, &naming.origin) {
            (false, _, _) => Governs::Origins(named),
            (true, true, _) => Governs::Everything,
            (true, false, Some(origin)) => {
                let origin = naming.aliases.resolve(origin).unwrap_or_else(|| origin.clone());
                Governs::Origins(vec![origin])
            }
            (true, false, None) => Governs::TheOnlyOne,
        })
    }
}
