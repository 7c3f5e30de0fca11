//! `botaudit robots fetch` and `import`: robots.txt files from servers, or histories in other formats, into an archive.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

use crate::cli::console::{Show, console};
use crate::cli::help::short;
use crate::cli::shared::{NetworkArgs, seconds};
use crate::config::{amounts::whole, setting::Seconds};
use crate::error::Result;
use crate::net::settings::{Ports, Reach};
use crate::run::robots::fetch::{FetchRun, ImportRun};
use crate::run::{console::RunOutcome, fetching::LoggedLimits};

use super::queries::ArchiveArg;

const HELP: &str = include_str!("../help/robots-fetch.txt");

/// Fetch robots.txt files over HTTP, HTTPS and FTP into an archive.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots fetch"), after_long_help = HELP)]
pub(crate) struct FetchArgs {
    /// Origins, such as https://example.com; - is a list on standard input.
    #[arg(required_unless_present = "from_log", value_name = "ORIGIN")]
    origins: Vec<String>,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Fetch from all hosts in these logs that crawlers requested.
    ///
    /// Files, directories, patterns, or - for standard input.
    #[arg(long, help_heading = "Input", value_name = "LOG", num_args = 1..)]
    from_log: Vec<OsString>,

    /// Allow fetching from private addresses that logs name.
    ///
    /// Host names in logs are untrusted: any client can send any Host header. An origin on the command
    /// line is always fetched, but a redirect from a public site to a private address is never
    /// followed.
    #[arg(long, help_heading = "Network", requires = "from_log", hide_short_help = true)]
    allow_private_addresses: bool,

    /// Allow fetching from any port of hosts in logs.
    ///
    /// Otherwise only the ports 80, 443, 8080 and 8443 are asked. At most four ports of a host are
    /// asked. An origin on the command line may have any port.
    #[arg(long, help_heading = "Network", requires = "from_log", hide_short_help = true)]
    fetch_any_port: bool,

    /// Time for all fetches from hosts in logs [default: 600]
    ///
    /// What is not fetched by then is left out, and the exit code is 3. Origins on the command line
    /// are fetched first, and without this limit.
    #[arg(
        long,
        help_heading = "Network",
        value_name = "SECONDS",
        requires = "from_log",
        hide_short_help = true
    )]
    fetch_budget: Option<Seconds>,

    /// Number of fetches at the same time.
    #[arg(short, long, help_heading = "Network", value_name = "N", default_value_t = 16,
        value_parser = whole, allow_negative_numbers = true)]
    jobs: usize,

    /// Pause between two requests to a host.
    #[arg(long, help_heading = "Network", value_name = "SECONDS", default_value_t = 0.0)]
    delay: f64,

    #[command(flatten)]
    network: NetworkArgs,

    /// Print only problems.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl FetchArgs {
    /// Fetches from all origins.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let run = FetchRun {
            settings: self.network.settings()?,
            pause: seconds("--delay", self.delay)?,
            limits: LoggedLimits {
                reach: if self.allow_private_addresses { Reach::AsAsked } else { Reach::Public },
                ports: if self.fetch_any_port { Ports::Any } else { Ports::Usual },
                budget: self.fetch_budget.unwrap_or(Seconds::OF_FETCHES).get(),
            },
            origins: self.origins,
            archive: self.archive.path,
            from_log: self.from_log,
            jobs: self.jobs,
            console: console(Show::unless(self.quiet)),
        };
        run.run()
    }
}

const IMPORT_HELP: &str = include_str!("../help/robots-import.txt");

/// Import robots.txt versions into an archive.
#[derive(Args, Debug)]
#[command(after_help = short(IMPORT_HELP, "robots import"), after_long_help = IMPORT_HELP)]
pub(crate) struct ImportArgs {
    /// Files or directories to import.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Origin of files that name none.
    #[arg(long, value_name = "URL", help_heading = "Input")]
    origin: Option<String>,

    /// Time of files without one; `modified` means their modification time.
    #[arg(long, value_name = "TIME", help_heading = "Input")]
    at: Option<String>,

    /// Import each file's history from git (the current branch).
    #[arg(long, requires = "origin", help_heading = "Input")]
    git: bool,

    /// Print only problems.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl ImportArgs {
    /// Imports all paths.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let run = ImportRun {
            paths: self.paths,
            archive: self.archive.path,
            origin: self.origin,
            at: self.at,
            is_git: self.git,
            console: console(Show::unless(self.quiet)),
        };
        run.run()
    }
}
