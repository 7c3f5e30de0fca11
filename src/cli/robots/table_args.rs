//! The options of a table about the names of crawlers in robots.txt files.

use std::path::PathBuf;

use clap::Args;

use crate::cli::shared::{CrawlersArgs, ForceArg};
use crate::cli::{console::console, progress::Show};
use crate::run::robots::name_table::NameTable;

/// The files, the names and the output.
#[derive(Args, Debug)]
pub(super) struct TableArgs {
    /// robots.txt file, directory of such files, or archive.
    #[arg(long, value_name = "PATH", help_heading = "Rules")]
    robots: PathBuf,

    #[command(flatten)]
    crawlers: CrawlersArgs,

    /// Write one JSON object per line instead of CSV.
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Output file (also .gz or .zst); - is standard output [default: -]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArg,

    /// Print only errors and warnings.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl TableArgs {
    /// The table that they name.
    pub(super) fn named(self) -> NameTable {
        NameTable {
            robots: self.robots,
            crawlers: self.crawlers.named(),
            is_json: self.json,
            output: self.output,
            overwrite: self.force.overwrite(),
            console: console(Show::unless(self.quiet)),
        }
    }
}
