//! Which of several tallies contradicts itself.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

use super::model::ReportModel;
use super::tally::{counter::TallyLimits, file::DAMAGED, merge::merge_files};

/// What to do about tallies that are whole, but not their sum.
const NOT_TOGETHER: &str = "cannot be merged with the other tallies, because its counts are too \
                            large; create them again";

/// `err`, which was found in the sum of the tallies at `paths`. If sums differ that must agree, a
/// file is damaged, and the error names it.
pub fn name_damaged(err: Error, paths: &[PathBuf], limits: TallyLimits) -> Error {
    match paths {
        [path, others @ ..] if err.is_inconsistent() => {
            let is_damaged = |path: &&PathBuf| !others.is_empty() && check(path, limits).is_err();
            match paths.iter().find(is_damaged) {
                Some(damaged) => err.in_file(damaged, DAMAGED),
                None if others.is_empty() => err.in_file(path, DAMAGED),
                None => err.in_file(path, NOT_TOGETHER),
            }
        }
        _ => err,
    }
}

/// Whether the tally at `path` can be reported alone.
fn check(path: &Path, limits: TallyLimits) -> Result<()> {
    let tally = merge_files(&[path.to_owned()], limits)?;
    ReportModel::new(tally).map(drop)
}
