//! Checks the files that an audit reads and writes, before it reads the first.

use std::path::{Path, PathBuf};

use crate::config::audit_config::AuditConfig;
use crate::error::Result;
use crate::input::source::Source;
use crate::report::outputs::{OutputContent, Outputs, Overwrite};
use crate::report::requests::open_spool;

use super::{audit::Destination, sandbox::access_rights::TcpUse, written::ResultFormat};

/// Checks that no output is an input, and that only files written by botaudit are replaced. Returns
/// the files of the run.
pub(crate) fn check_outputs(
    config: &AuditConfig,
    sources: &[Source],
    collected: Option<&Path>,
    destination: &Destination,
    format: ResultFormat,
    overwrite: Overwrite,
) -> Result<Outputs> {
    let mut outputs = Outputs::new(overwrite);
    check_files(config, sources, &mut outputs)?;
    collected.into_iter().for_each(|path| outputs.reads("--collected", path));
    if format.is_data() {
        outputs.file("--format", Path::new("-"), OutputContent::Foreign)?;
    }
    match destination {
        Destination::Report(output) => outputs.directory("-o", output)?,
        Destination::Printed => {}
        Destination::Tally(path) => outputs.file("--partial", path, OutputContent::Tally)?,
        Destination::Collected(path) => {
            outputs.file("--collect", path, OutputContent::Collected)?
        }
    }
    if let Some(path) = &config.evidence {
        outputs.file("--evidence", path, OutputContent::Evidence)?;
        open_spool(path)?;
    }
    Ok(outputs)
}

/// Whether an audit fetches files or asks DNS, which may be answered by TCP.
pub(crate) fn tcp_use(config: &AuditConfig) -> TcpUse {
    TcpUse::needed_if(config.fetch == Some(true) || config.verify_dns == Some(true))
}

/// Adds the inputs to `outputs`, and checks the inputs and outputs.
pub(crate) fn check_files(
    config: &AuditConfig,
    sources: &[Source],
    outputs: &mut Outputs,
) -> Result<()> {
    name_inputs(config, sources, outputs);
    if let Some(directory) = &config.ip_ranges {
        outputs.reads_files_of("--ip-ranges", directory);
    }
    if let Some(directory) = &config.signature_keys {
        outputs.reads_files_of("--signature-keys", directory);
    }
    if let Some(cache) = &config.dns_cache {
        outputs.updated("--dns-cache", cache)?;
    }
    match &config.dns_archive {
        Some(archive) if config.verify_dns == Some(true) => {
            outputs.updated("--dns-archive", archive)?
        }
        Some(archive) => outputs.reads("--dns-archive", archive),
        None => {}
    }
    match config.robots.as_ref().filter(|_| config.fetch == Some(true)) {
        Some(archive) => outputs.updated("--robots", archive),
        None => Ok(()),
    }
}

/// Adds the inputs to `outputs`.
pub(crate) fn name_inputs(config: &AuditConfig, sources: &[Source], outputs: &mut Outputs) {
    outputs.reads_sources("a log", sources);
    if let Some(robots) = config.robots.as_ref().filter(|_| config.fetch != Some(true)) {
        outputs.reads_robots("--robots", robots);
    }
    let named = [
        ("--crawlers", &config.crawlers),
        ("--what-if", &config.what_if),
        ("--networks", &config.networks),
    ];
    for (flag, path) in named {
        path.iter().for_each(|path| outputs.reads(flag, path));
    }
}

/// Adds the tallies `paths` to `outputs`; they are files or report directories.
pub(crate) fn name_tallies(paths: &[PathBuf], outputs: &mut Outputs) {
    for path in paths {
        match path.is_dir() {
            true => outputs.reads_files_of("a report", path),
            false => outputs.reads("a tally", path),
        }
    }
}
