//! `botaudit deny`: writes rules for a server that refuse crawlers of a report.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

use crate::deny::form::{DenyBy, Form};
use crate::deny::selection::DEFAULT_CONDITION;
use crate::error::Result;
use crate::run::{console::RunOutcome, deny::DenyRun};

use super::console::{Show, console};
use super::shared::{DENY_BY, DENY_FORMS, ForceArg, MemoryArg, one_of};
use super::{help::short, option_flags::FormatFlags};

const HELP: &str = include_str!("help/deny.txt");

/// Write rules that refuse crawlers, for a server or a firewall.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "deny"), after_long_help = HELP,
    override_usage = "botaudit deny [OPTIONS] --for <FORM> [REPORT|TALLY]")]
pub(crate) struct DenyArgs {
    /// Report directory, or tally.
    #[arg(value_name = "REPORT|TALLY", default_value = "botaudit-report")]
    report: PathBuf,

    /// Program that reads the rules; required.
    #[arg(long = "for", value_name = "FORM", value_parser = one_of(&DENY_FORMS),
        hide_possible_values = true)]
    form: Option<Form>,

    /// Crawlers to refuse: a condition on the columns of summary.csv, as for audit --fail-on.
    #[arg(long = "where", value_name = "CONDITION", default_value = DEFAULT_CONDITION)]
    condition: String,

    /// How rules recognise a crawler [default: user-agent, or address for nftables, pf and crowdsec]
    #[arg(long, value_name = "WHAT", value_parser = one_of(&DENY_BY), hide_possible_values = true)]
    by: Option<DenyBy>,

    /// Directory of the address lists of operators, for --by address.
    #[arg(long, value_name = "DIR", help_heading = "Crawlers")]
    ip_ranges: Option<PathBuf>,

    /// CSV file with more crawlers; a row with a built-in name replaces that crawler.
    #[arg(long, value_name = "FILE", help_heading = "Crawlers", hide_short_help = true)]
    crawlers: Option<PathBuf>,

    /// Logs to try the rules on, before they are written.
    #[arg(long, value_name = "LOG", num_args = 1.., help_heading = "Trial")]
    replay: Vec<OsString>,

    #[command(flatten)]
    format: FormatFlags,

    /// File to write [default: standard output]
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "-",
        hide_default_value = true,
        help_heading = "Output"
    )]
    output: PathBuf,

    #[command(flatten)]
    force: ForceArg,

    #[command(flatten)]
    memory: MemoryArg,
}

impl DenyArgs {
    /// Selects crawlers, tries the rules, and writes them.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let run = DenyRun {
            report: self.report,
            form: self.form,
            condition: self.condition,
            by: self.by,
            ip_ranges: self.ip_ranges,
            crawlers: self.crawlers,
            replay: self.replay,
            format: self.format.config(),
            output: self.output,
            overwrite: self.force.overwrite(),
            limits: self.memory.limits(),
            console: console(Show::OnTerminal),
        };
        run.run()
    }
}
