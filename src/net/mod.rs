//! The network: how a robots.txt, or a list that an operator publishes, is asked for, and
//! whose an address is.
//!
//! Every server is taken for hostile: what it sends is bounded in bytes and in
//! time, a redirect is followed by hand after a look at where it leads, and
//! whatever goes wrong is an outcome, not an error.
//!
//! No proxy is used, not even one that the environment names: what a crawler
//! gets is what the site itself answers. No cookie is kept, nothing is cached,
//! nothing is tried twice.

pub mod outcome;
pub mod settings;

pub mod address;
pub mod cache_control;
pub mod coding;
mod ftp;
mod ftp_reply;
mod http;
mod timeout;
mod transport;

pub mod rate_limit;

pub mod batch;
pub mod download;
pub mod fetch;

pub mod dns;
pub mod dns_cache;
pub mod forward_confirmed;
