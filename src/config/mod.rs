//! The configuration of an audit, from flags or from a file.

pub mod amounts;
pub mod audit_config;
mod configuration;
pub mod file;
pub mod option;
pub mod option_value;
pub mod setting;
