//! The configuration of an audit, from flags or from a file.

pub mod amounts;
pub mod audit_config;
mod configuration;
pub mod fault;
pub mod file;
pub mod option;
pub mod option_value;
pub mod setting;
