//! `botaudit formats`: the log formats, and which of them a log has.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use crate::audit::probe::examine;
use crate::config::audit_config::AuditConfig;
use crate::config::fault::Fault;
use crate::config::setting::Timezone;
use crate::error::{Error, Result};
use crate::input::source::expand;
use crate::logs::detect::Hints;
use crate::logs::haproxy::Captures;
use crate::logs::json::own_names::OwnNames;
use crate::logs::own_format;
use crate::report::formats_text::{examined_text, formats_text};

use super::exit_status::ExitStatus;
use super::shared::{complain, print, refusal};

const EXAMPLES: &str = "\
Examples:
  All formats, each with a sample and what it cannot tell:
    botaudit formats

  What is told from a log, and the first lines that are no records:
    botaudit formats detect /var/log/nginx/access.log

  Whether a format of your own reads a log:
    botaudit formats detect --log-format '$remote_addr [$time_local] \"$request\" $status \"$http_user_agent\"' access.log

Exit codes:
  0 done   2 a log could not be read, or no format reads it";

/// List the log formats, or tell which one a log has.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit formats --help")]
pub struct FormatsArgs {
    #[command(subcommand)]
    command: Option<FormatsCommand>,
}

#[derive(Debug, Subcommand)]
enum FormatsCommand {
    /// List all formats with a sample (what is done without a command).
    #[command(after_help = "Example:\n  botaudit formats list")]
    List,
    /// Tell the format of logs from their first 256 KiB, and show lines that are none of it.
    #[command(after_help = "Example:\n  botaudit formats detect /var/log/nginx/*.log")]
    Detect {
        /// Access logs: files, directories, patterns, or - for standard input.
        #[arg(required = true, value_name = "FILE")]
        logs: Vec<OsString>,

        #[command(flatten)]
        hints: HintArgs,
    },
}

/// What the user says of the formats of all logs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Reading logs")]
pub struct HintArgs {
    /// Log format, by name or as the server's configuration has it; told from the lines if not given.
    ///
    /// A name that botaudit formats lists; or what stands in an nginx log_format or an Apache
    /// LogFormat, as '$remote_addr - [$time_local] "$request" $status "$http_user_agent"' or
    /// '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"'.
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,

    /// Keys of a JSON log, as time=ts,host=request.host,user-agent=headers.ua; the others are told.
    #[arg(long, value_name = "PART=KEY,...")]
    json_fields: Option<String>,

    /// Request headers that HAProxy captures, in the order of its configuration: host,user-agent.
    #[arg(long, value_name = "NAMES")]
    haproxy_captures: Option<String>,

    /// Zone whose midnights part days, and of times that name none, as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    timezone: Option<Timezone>,
}

impl HintArgs {
    /// Their part of a configuration.
    pub fn config(self) -> AuditConfig {
        AuditConfig {
            log_format: self.log_format,
            json_fields: self.json_fields,
            haproxy_captures: self.haproxy_captures,
            timezone: self.timezone,
            ..AuditConfig::default()
        }
    }
}

/// What `config` says of the formats of all logs; each fault goes to `faults`.
pub fn hints(config: &AuditConfig, faults: &mut Vec<Fault>) -> Hints {
    let mut of = |key, err: Error| faults.push(Fault::new(key, err));
    let captures = config.haproxy_captures.as_deref().map(Captures::parse).transpose();
    let haproxy_captures = captures.map_err(|err| of("haproxy_captures", err)).unwrap_or_default();
    let names = config.json_fields.as_deref().map(OwnNames::parse).transpose();
    let json_fields = names.map_err(|err| of("json_fields", err)).unwrap_or_default();
    let zone = config.timezone.clone().unwrap_or_default().zone();
    let hints = Hints { format: None, zone, haproxy_captures, json_fields };
    let format = config.log_format.as_deref().map(|text| own_format::parse(text, &hints));
    let format = format.transpose().map_err(|err| of("log_format", err)).unwrap_or_default();
    Hints { format, ..hints }
}

impl FormatsArgs {
    /// Lists, or looks at logs.
    pub fn run(self) -> Result<ExitStatus> {
        match self.command {
            None | Some(FormatsCommand::List) => print(&formats_text()).map(|()| ExitStatus::Done),
            Some(FormatsCommand::Detect { logs, hints: args }) => {
                let mut faults = Vec::new();
                let hints = hints(&args.config(), &mut faults);
                match faults.is_empty() {
                    true => detect(&logs, &hints),
                    false => Err(refusal(&faults)),
                }
            }
        }
    }
}

/// A log that cannot be read keeps none from being looked at.
fn detect(logs: &[OsString], hints: &Hints) -> Result<ExitStatus> {
    let mut outcome = ExitStatus::Done;
    for source in expand(logs) {
        match examine(&source, hints) {
            Ok(examined) => {
                if examined.detection.format.is_none() && examined.rejected_lines() > 0
                    || examined.damage.is_some()
                {
                    outcome = ExitStatus::Undecided;
                }
                print(&examined_text(&source.name, &examined))?;
            }
            Err(err) => {
                complain(&err.to_string());
                outcome = ExitStatus::Undecided;
            }
        }
    }
    Ok(outcome)
}
