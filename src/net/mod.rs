//! The network: fetches robots.txt files and published address lists, and verifies addresses.
//!
//! Every server is treated as hostile: its bytes and its time are limited, each redirect is checked
//! before it is followed, and every failure is an outcome, not an error.
//!
//! No proxy is used, not even one from the environment: a crawler gets the answer of the site
//! itself. There are no cookies, no cache and no retries.

pub mod outcome;
pub mod settings;

pub mod address;
pub mod coding;
pub mod ftp;
pub(crate) mod http;

pub mod fetch;
pub mod host_queue;

pub mod dns;
pub(crate) mod dns_archive;
pub mod forward_confirmed;
