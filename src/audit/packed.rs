//! The form of the files that machines hand each other: a line of text that says what it is, then
//! two zstd frames with a checksum each, the header and the body, as MessagePack with the names of
//! all fields. So the header can be read alone, a changed bit is found, and other programs can read
//! it: `tail -n +2 report.tally | zstd -dc | msgpack-to-json`.

use std::io::Read;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use crate::error::{Error, Result};

/// The quickest level that still finds repeated field names: such files are written at each run.
const LEVEL: i32 = 1;

/// The largest header or body that is read, in bytes: far more than any log can make.
const PART_BYTES_MAX: u64 = 8 << 30;

/// The header and the body of a file, still packed.
pub type Frames<'a> = (&'a [u8], &'a [u8]);

/// The bytes of a file that begins with `magic`.
pub fn file_bytes(magic: &[u8], header: &impl Serialize, body: &impl Serialize) -> Vec<u8> {
    let mut bytes = magic.to_vec();
    bytes.extend(packed(header));
    bytes.extend(packed(body));
    bytes
}

/// All of the file at `path`; `what` it should be.
///
/// # Errors
/// Where it cannot be read.
pub fn read_file(what: &str, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|mut opened| opened.read_to_end(&mut bytes))
        .map_err(|err| Error::io(&format!("cannot read {what}"), path, err))?;
    Ok(bytes)
}

/// The header and the body in what comes after the first line; `None` where that is damaged.
pub fn frames(bytes: &[u8]) -> Option<Frames<'_>> {
    let length = find_frame_compressed_size(bytes).ok()?;
    let (header, body) = bytes.split_at_checked(length)?;
    (find_frame_compressed_size(body).ok() == Some(body.len())).then_some((header, body))
}

fn packed<T: Serialize>(value: &T) -> Vec<u8> {
    let bytes = rmp_serde::to_vec_named(value).expect("nothing in it cannot be packed");
    let mut packer = zstd::bulk::Compressor::new(LEVEL).expect("zstd knows its own levels");
    packer.include_checksum(true).expect("zstd knows its own parameters");
    packer.compress(&bytes).expect("the frame has room for the worst case")
}

/// What is packed in `frame`; `None` where that is damaged.
pub fn unpacked<T: DeserializeOwned>(frame: &[u8]) -> Option<T> {
    let size = get_frame_content_size(frame).ok()??;
    if size > PART_BYTES_MAX {
        return None;
    }
    let bytes = zstd::bulk::decompress(frame, usize::try_from(size).ok()?).ok()?;
    rmp_serde::from_slice(&bytes).ok()
}
