//! One fetch of one robots.txt.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

/// Bytes of a file that are read: what counts (512,000) is less, but the digest
/// should name the whole file wherever that is of a sensible size.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// SHA-256 of a robots.txt, before any cut.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `body`.
    pub fn of(body: &[u8]) -> Digest {
        Digest(Sha256::digest(body).into())
    }
}

/// `sha256:` and 64 hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A robots.txt as it was got, and from where.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The file it was read from, as shown to the user.
    pub source: String,
    /// The bytes, uncut.
    pub body: Vec<u8>,
}

impl Snapshot {
    /// Reads a file.
    ///
    /// # Errors
    /// Where it cannot be read, or is far too long to be a robots.txt.
    pub fn from_file(path: &Path) -> Result<Snapshot> {
        let cannot_read = |err| Error::io("cannot read robots.txt", path, err);
        let mut body = Vec::new();
        File::open(path)
            .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut body))
            .map_err(cannot_read)?;
        if body.len() as u64 > FILE_BYTES_MAX {
            return Err(Error::invalid_file(path, "over 64 MiB: this is no robots.txt"));
        }
        Ok(Snapshot { source: path.display().to_string(), body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_names_the_function_that_made_it() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), empty);
    }
}
