//! Fetching from servers that these tests start on loopback, most of them hostile.
//!
//! - `http`: each row of the table of outcomes, and what servers do to break a client.
//! - `hostile`: responses with random damage.
//! - `redirects`: chains, circles, and where they lead.
//! - `tls`: certificates that prove something, and those that do not.
//! - `ftp`: the dialogue, and the replies that end it.
//! - `batch`: many origins, politely.
//! - `program`: the command, run as its users run it.
//! - `ranges`: the address lists of operators.
//! - `rulings`: the table of what a fetch amounts to, end to end.
//! - `stopped`: runs that are stopped while they fetch.
//!
//! No test asks the outside network.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod batch;
mod ftp;
mod hostile;
mod http;
mod program;
mod ranges;
mod redirects;
mod rulings;
mod server;
#[cfg(unix)]
mod stopped;
mod tls;
