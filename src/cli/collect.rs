//! `audit --collect` and `audit --collected`: the flags of the first pass of an audit on several machines.

use std::path::PathBuf;

use clap::Args;

use crate::audit::client_key::ClientKey;
use crate::error::Result;

use super::size::bytes;

/// The flags.
#[derive(Args, Debug)]
#[command(next_help_heading = "Parts of a large audit")]
pub(crate) struct CollectArgs {
    /// Write to FILE what --verify-dns, --infer-outages and --fetch need from these logs.
    ///
    /// Nothing is judged. `botaudit merge` merges such files of several machines, and --collected
    /// reads the result. With --verify-dns, FILE holds client addresses: only its owner may read it;
    /// delete it after use. Give the same --robots as in the audit. - is standard output.
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        conflicts_with_all = ["output", "partial", "collected", "evidence", "fail_on", "fail_on_violations"]
    )]
    pub collect: Option<PathBuf>,

    /// Read from FILE what --verify-dns, --infer-outages and --fetch need.
    ///
    /// The logs are then read once, and may come from a pipe. FILE must be collected from these logs
    /// (and possibly others), with the same version, the same crawlers and the same options.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub collected: Option<PathBuf>,

    /// Memory that FILE of --collected may take, such as 4GiB [default: 2GiB]
    #[arg(long, value_name = "SIZE", hide_short_help = true, value_parser = bytes, requires = "collected")]
    pub memory: Option<usize>,

    /// Secret with which --collect hashes clients, at least 16 characters [default: random]
    ///
    /// Files of several machines can be merged only if they have the same secret. For
    /// --infer-outages FILE holds hashes of clients, neither their addresses nor the secret.
    #[arg(long, hide_short_help = true, value_name = "TEXT", value_parser = ClientKey::of_text, requires = "collect")]
    client_key: Option<ClientKey>,
}

impl CollectArgs {
    /// The key for hashes of clients.
    pub(crate) fn key(&self) -> Result<ClientKey> {
        self.client_key.clone().map_or_else(ClientKey::random, Ok)
    }
}
