//! Where the fields of a record stand in the objects of one dialect.

use crate::logs::field_kind::LogField;

/// The paths to one part, the best first.
pub type Paths = (LogField, &'static [&'static str]);
