//! Fetches from servers that these tests start on loopback, most of them hostile.
//!
//! - `http`: each row of the table of outcomes, and hostile servers.
//! - `hostile`: responses with random damage.
//! - `redirects`: chains, loops, and their targets.
//! - `tls`: trusted and untrusted certificates.
//! - `ftp`: the dialogue, and how it ends.
//! - `batch`: many origins, with rate limits.
//! - `program`: the command, run as by its users.
//! - `ranges`: the address lists of operators.
//! - `rulings`: the table of rulings, end to end.
//! - `stopped`: runs that are stopped during a fetch.
//!
//! No test uses the outside network.

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
