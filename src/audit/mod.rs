//! The audit of logs.
