//! The flags of the summary. They change what is shown, not what is counted.

use std::num::NonZeroUsize;

use clap::{Arg, Args, Command};

use crate::config::size::positive;
use crate::report::summary_table::{SummaryBy, SummaryView};

use super::terminal::OutputStream;
use super::value_names::{SUMMARY_ROWS, one_of};

const HEADING: &str = "Summary";

/// The flags.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct SummaryFlags {
    /// Show only this crawler, even without violations; repeatable.
    #[arg(long, value_name = "CRAWLER", hide_short_help = true)]
    only: Vec<String>,

    /// Do not show this crawler; repeatable.
    #[arg(long, value_name = "CRAWLER", hide_short_help = true)]
    exclude: Vec<String>,

    /// Show at most N rows [default: 10]
    #[arg(long, value_name = "N", default_value = "10", hide_default_value = true, value_parser = positive,
        allow_negative_numbers = true, hide_short_help = true)]
    top: NonZeroUsize,

    /// Show one row for each crawler, origin or rule [default: crawler]
    #[arg(long, value_name = "WHAT", value_parser = one_of(&SUMMARY_ROWS), default_value = "crawler", hide_default_value = true,
        hide_possible_values = true, hide_short_help = true)]
    by: SummaryBy,
}

impl SummaryFlags {
    /// `command` with these flags in its short help, for commands with few flags.
    pub(crate) fn shown(command: Command) -> Command {
        let is_ours = |arg: &Arg| arg.get_help_heading() == Some(HEADING);
        command.mut_args(|arg| if is_ours(&arg) { arg.hide_short_help(false) } else { arg })
    }

    /// The view of a summary on `stream`.
    pub(crate) fn view(self, stream: OutputStream) -> SummaryView {
        let SummaryFlags { only, exclude, top, by } = self;
        SummaryView { only, exclude, top: top.get(), by, ..view_of(stream) }
    }
}

/// The view of a summary on `stream` without flags.
pub(crate) fn view_of(stream: OutputStream) -> SummaryView {
    SummaryView { columns: stream.columns(), palette: stream.palette(), ..SummaryView::default() }
}
