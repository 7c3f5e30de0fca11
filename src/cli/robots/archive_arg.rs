//! The argument of the commands on archives.

use std::path::PathBuf;

use clap::Args;

/// The archive.
#[derive(Args, Debug)]
pub(crate) struct ArchiveArg {
    /// The archive, a file such as robots.db.
    #[arg(short = 'a', long = "archive", value_name = "FILE")]
    pub path: PathBuf,
}
