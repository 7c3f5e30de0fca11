//! Signatures of requests: HTTP Message Signatures (RFC 9421) with the profile Web Bot Auth
//! (draft-ietf-webbotauth-httpsig-protocol).
//!
//! All is computed from a line of a log, keys and times. Nothing here asks the network, and what a client
//! sent cannot fail or take more than a bounded time.

pub(crate) mod base;
pub(crate) mod check;
pub mod fields;
pub mod keys;
