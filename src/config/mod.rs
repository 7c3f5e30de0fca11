//! The configuration of an audit, from flags or from a file.

pub mod audit_config;
pub mod fault;
pub mod file;
pub mod money;
pub mod setting;
pub(crate) mod size;
