//! Where the fields of a record stand in the objects of one dialect.

use crate::logs::field_kind::LogField;

/// The paths to one field, the best first, with spaces between.
pub type Paths = (LogField, &'static str);
