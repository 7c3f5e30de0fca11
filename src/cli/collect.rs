//! `audit --collect` and `audit --collected`: the flags of the first pass of an audit on several machines.

use std::path::PathBuf;

use clap::Args;

use crate::audit::client_key::ClientKey;
use crate::config::size::bytes;
use crate::error::Result;

/// The flags.
#[derive(Args, Debug)]
#[command(next_help_heading = "Parts of a large audit")]
pub(crate) struct CollectArgs {
    /// Write the facts for --verify-dns, --infer-outages, --fetch to FILE.
    ///
    /// `botaudit merge` merges such files. With --verify-dns, FILE contains client addresses: delete
    /// it after use. Use the same --robots as in the audit.
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        conflicts_with_all = ["output", "partial", "collected", "evidence", "fail_on", "fail_on_violations"]
    )]
    pub collect: Option<PathBuf>,

    /// Read the facts that --collect wrote from these and other logs.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub collected: Option<PathBuf>,

    /// Memory for --collected, such as 4GiB [default: 2GiB]
    #[arg(long, value_name = "SIZE", hide_short_help = true, value_parser = bytes, requires = "collected")]
    pub memory: Option<usize>,

    /// Secret of at least 16 characters, the same on all machines.
    ///
    /// --collect hashes clients with it; files with other secrets cannot be merged.
    #[arg(long, hide_short_help = true, value_name = "TEXT", value_parser = ClientKey::of_text, requires = "collect")]
    client_key: Option<ClientKey>,
}

impl CollectArgs {
    /// The key for hashes of clients.
    pub(crate) fn key(&self) -> Result<ClientKey> {
        self.client_key.clone().map_or_else(ClientKey::random, Ok)
    }
}
