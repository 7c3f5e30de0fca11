//! The argument of the commands on archives.

use std::path::PathBuf;

use clap::Args;

use crate::cli::{console::console, progress::Show};
use crate::run::robots::queries::ArchiveQuery;

/// The archive.
#[derive(Args, Debug)]
pub(crate) struct ArchiveArg {
    /// The archive, a file such as robots.db.
    #[arg(short = 'a', long = "archive", value_name = "FILE")]
    pub path: PathBuf,
}

impl ArchiveArg {
    /// The archive, to be asked.
    pub(super) fn query(self, show: Show) -> ArchiveQuery {
        ArchiveQuery { archive: self.path, console: console(show) }
    }
}
