//! Writes the evidence: all violating requests, in the order of files and lines.
//!
//! Workers finish chunks in any order. Their rows are sorted per file and cut into blocks, which
//! are spooled to disk. At the end, the blocks are copied file by file. With a name in `.gz` or
//! `.zst`, each block is a gzip member or zstd frame, so the bytes do not depend on timing.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs::File, sync::Mutex};

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::audit::evidence::{Evidence, ViolatingRequest};
use crate::crawlers::registry::Registry;
use crate::digest::DigestWriter;
use crate::error::{Error, Result};
use crate::input::source::{FileId, Source};
use crate::mutex::{lock, unpoisoned};
use crate::staged::{StagedFile, is_stdout, pending::Unplaced};
use crate::table::csv::{CsvTable, Row};

use super::{output::OutputCompression, privacy::Privacy, tables::REQUESTS_EVIDENCE};

/// The rows of one block, in bytes before compression.
const BLOCK_BYTES: usize = 256 << 10;

/// The evidence of a run in progress.
pub struct RequestsFile {
    path: PathBuf,
    staged: StagedFile,
    privacy: Privacy,
    spool: Mutex<Spool>,
}

/// The evidence of a finished run, which is not in its place yet.
pub struct WrittenRequests {
    path: PathBuf,
    staged: StagedFile,
    digest: String,
}

struct Spool {
    blocks: Blocks,
    inputs: BTreeMap<FileId, Input>,
}

/// The spool of compressed blocks.
struct Blocks {
    file: File,
    end: u64,
    coding: OutputCompression,
}

/// The rows of one input.
#[derive(Default)]
struct Input {
    /// The number of the next chunk.
    next: u64,
    /// The rows of later chunks.
    pending: BTreeMap<u64, Vec<u8>>,
    /// The number of chunks, once it is known.
    chunks: Option<u64>,
    /// Ordered rows that do not fill a block yet.
    tail: Vec<u8>,
    /// Its blocks in the spool: offset and length.
    blocks: Vec<(u64, u64)>,
}

/// The spool of a file that is written directly, as long as it is not in use.
static SPOOL: Mutex<Option<File>> = Mutex::new(None);

/// Opens the spool of a file `path` that is written directly, before the run gives up the right to
/// create temporary files.
///
/// # Errors
/// If no temporary file can be created.
pub(crate) fn open_spool(path: &Path) -> Result<()> {
    let is_file = std::fs::metadata(path).map_or(true, |data| data.is_file() || data.is_dir());
    if is_stdout(path) || !is_file {
        *lock(&SPOOL) = Some(temporary_file()?);
    }
    Ok(())
}

fn temporary_file() -> Result<File> {
    let temporary = std::env::temp_dir();
    tempfile::tempfile_in(&temporary).map_err(|err| {
        Error::io(
            "cannot create the temporary file for --evidence; set TMPDIR to another directory than",
            &temporary,
            err,
        )
    })
}

impl RequestsFile {
    /// Prepares to write `path`; an existing file stays until `commit`. `privacy` applies to
    /// clients, user agents and queries.
    ///
    /// # Errors
    /// If its directory cannot be written to.
    pub fn open(path: &Path, privacy: Privacy) -> Result<RequestsFile> {
        let cannot_write = |err| cannot_write(path, err);
        let wrong = |what| {
            format!(
                "is {what}; use --evidence with a file, such as \
                                    evidence.csv.gz"
            )
        };
        if path.is_dir() {
            return Err(Error::refused(path, wrong("a directory")));
        }
        if path.file_name().is_none() {
            return Err(Error::refused(path, wrong("not a file name")));
        }
        RequestsFile::to(path, StagedFile::create(path).map_err(cannot_write)?, privacy)
    }

    /// Prepares to write to `stream`, which messages call `name`.
    ///
    /// # Errors
    /// If no temporary file can be created.
    pub(crate) fn stream(name: &Path, stream: File, privacy: Privacy) -> Result<RequestsFile> {
        RequestsFile::to(name, StagedFile::stream(stream), privacy)
    }

    fn to(path: &Path, staged: StagedFile, privacy: Privacy) -> Result<RequestsFile> {
        // The spool has no name, so it disappears however the run ends. It is beside the file,
        // where there is enough space for it.
        let beside = staged.hidden().and_then(Path::parent);
        let beside =
            beside.map(|dir| if dir.as_os_str().is_empty() { Path::new(".") } else { dir });
        let file = match (beside, lock(&SPOOL).take()) {
            (Some(beside), _) => {
                tempfile::tempfile_in(beside).map_err(|err| cannot_write(path, err))?
            }
            (None, Some(spool)) => spool,
            (None, None) => temporary_file()?,
        };
        let blocks = Blocks { file, end: 0, coding: OutputCompression::of_name(path) };
        let spool = Mutex::new(Spool { blocks, inputs: BTreeMap::new() });
        Ok(RequestsFile { path: path.to_owned(), staged, privacy, spool })
    }

    /// Receives evidence. Rows are rendered on the thread of the caller, outside of any lock.
    ///
    /// # Errors
    /// If the disk is full or fails.
    pub fn take(&self, evidence: Evidence, sources: &[Source], registry: &Registry) -> Result<()> {
        match evidence {
            Evidence::End { input, chunks } => {
                self.change(input, |input| input.chunks = Some(chunks))
            }
            Evidence::Chunk { input, sequence, requests } => {
                let rows = self.rows(&sources[input.index()].name, &requests, registry);
                let rows = rows.map_err(|err| self.failed(err))?;
                self.change(input, |input| drop(input.pending.insert(sequence, rows)))
            }
        }
    }

    fn rows(
        &self,
        file: &str,
        requests: &[ViolatingRequest],
        registry: &Registry,
    ) -> io::Result<Vec<u8>> {
        let mut csv = CsvTable::without_header(Vec::new(), REQUESTS_EVIDENCE.columns.len());
        for request in requests {
            let (crawler, identity) = request.actor;
            csv.row(|row| {
                row.text(file)
                    .counts([request.line])
                    .time(request.time)
                    .text(&request.origin_key.to_string())
                    .crawler(registry.crawler(crawler), identity)
                    .bytes(&request.method)
                    .bytes(&self.privacy.target(&request.target))
                    .counts([u64::from(request.status), request.bytes])
                    .bytes(&self.privacy.user_agent(&request.user_agent, usize::MAX))
                    .violated_rule(&request.robots.deciding_rule(request.rule_line, crawler))
                    .bytes(&self.privacy.client(&request.client))
                    .maybe(request.snapshot, 1, Row::time)
                    .snapshot_age(request.snapshot, request.time);
                self.signature(request, row);
                row.maybe_counts(request.record_offset.map(|offset| [offset]));
            })?;
        }
        csv.finish()
    }

    fn signature(&self, request: &ViolatingRequest, row: &mut Row) {
        let Some(signature) = &request.signature else {
            row.empty(4);
            return;
        };
        row.text(&signature.agent).text(&signature.thumbprint);
        let bytes = |bytes: &[u8]| format!(":{}:", BASE64_STANDARD.encode(bytes));
        let request = (&*request.target, &*request.user_agent);
        match self.privacy.shows_signed(&signature.base, request) {
            true => row.text(&bytes(&signature.base)).text(&bytes(&signature.signature)),
            false => row.empty(2),
        };
    }

    /// Applies `change` to `input` and spools the blocks that are ready.
    fn change(&self, input: FileId, change: impl FnOnce(&mut Input)) -> Result<()> {
        let mut spool = lock(&self.spool);
        let Spool { blocks, inputs } = &mut *spool;
        let input = inputs.entry(input).or_default();
        change(input);
        input.spool(blocks).map_err(|err| self.failed(err))
    }

    /// Writes what is left, and waits until the file is on disk.
    ///
    /// # Errors
    /// If that fails; an existing file is then unchanged.
    pub fn finish(self) -> Result<WrittenRequests> {
        let RequestsFile { path, staged, spool, .. } = self;
        let spool = unpoisoned(spool.into_inner());
        let written = spool.write_out(staged);
        let written =
            written.and_then(|(staged, digest)| Ok((staged.sync().map(|()| staged)?, digest)));
        let (staged, digest) = written.map_err(|err| cannot_write(&path, err))?;
        Ok(WrittenRequests { path, staged, digest })
    }

    fn failed(&self, err: io::Error) -> Error {
        cannot_write(&self.path, err)
    }
}

impl WrittenRequests {
    /// The SHA-256 of the file, which the report names.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// If that fails.
    pub fn commit(self) -> Result<()> {
        self.staged.commit().map_err(|err| cannot_write(&self.path, err))
    }

    /// Puts the file in its place, and then the output `second` by `last`: both or neither.
    ///
    /// # Errors
    /// If one of them fails; an existing file is then restored.
    pub(crate) fn commit_with(
        self,
        second: Option<Unplaced>,
        last: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.staged.commit_with(second, last, |err| cannot_write(&self.path, err))
    }
}

fn cannot_write(path: &Path, err: io::Error) -> Error {
    Error::io("cannot write --evidence", path, err)
}

impl Spool {
    /// Returns the file and its digest.
    fn write_out(self, staged: StagedFile) -> io::Result<(StagedFile, String)> {
        let Blocks { mut file, coding, .. } = self.blocks;
        let mut out = BufWriter::new(DigestWriter::new(staged));
        let header = CsvTable::with_header(Vec::new(), &REQUESTS_EVIDENCE)?.finish()?;
        out.write_all(&coding.encode(&header)?)?;
        for (offset, length) in self.inputs.values().flat_map(Input::finished_blocks) {
            file.seek(SeekFrom::Start(*offset))?;
            io::copy(&mut (&file).take(*length), &mut out)?;
        }
        let out = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(out.finish())
    }
}

impl Blocks {
    /// Writes `rows` and returns offset and length of their block.
    fn append(&mut self, rows: &[u8]) -> io::Result<(u64, u64)> {
        let block = self.coding.encode(rows)?;
        self.file.write_all(&block)?;
        let (offset, length) = (self.end, block.len() as u64);
        self.end += length;
        Ok((offset, length))
    }
}

impl Input {
    fn finished_blocks(&self) -> &[(u64, u64)] {
        assert!(
            self.chunks == Some(self.next),
            "each chunk's rows were taken before the file was written"
        );
        &self.blocks
    }

    /// Writes all full blocks, and the last one if no rows follow.
    fn spool(&mut self, blocks: &mut Blocks) -> io::Result<()> {
        while let Some(rows) = self.pending.remove(&self.next) {
            self.next += 1;
            self.tail.extend_from_slice(&rows);
            while self.tail.len() >= BLOCK_BYTES {
                let rest = self.tail.split_off(BLOCK_BYTES);
                self.blocks.push(blocks.append(&self.tail)?);
                self.tail = rest;
            }
        }
        if self.chunks == Some(self.next) && !self.tail.is_empty() {
            self.blocks.push(blocks.append(&std::mem::take(&mut self.tail))?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::report::privacy::{Addresses, Queries};

    const PRIVACY: Privacy = Privacy { addresses: Addresses::None, queries: Queries::Keep };

    fn written(name: &str, chunks: &[(usize, u64, &[u8])]) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        let requests = RequestsFile::open(&path, PRIVACY).unwrap();
        for &(input, sequence, rows) in chunks {
            let id = FileId::from_index(input);
            requests
                .change(id, |input| drop(input.pending.insert(sequence, rows.to_vec())))
                .unwrap();
            let count = chunks.iter().filter(|chunk| chunk.0 == input).count();
            requests.change(id, |input| input.chunks = Some(count as u64)).unwrap();
        }
        requests.finish().unwrap().commit().unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        fs::read(path).unwrap()
    }

    #[test]
    fn the_order_of_chunks_does_not_show() {
        let long = vec![b'x'; BLOCK_BYTES * 2 + 17];
        let chunks: &[(usize, u64, &[u8])] =
            &[(0, 0, b"a\r\n"), (0, 1, &long), (0, 2, b""), (0, 3, b"b\r\n"), (1, 0, b"c\r\n")];
        let backwards: Vec<_> = chunks.iter().rev().copied().collect();
        for name in ["x.csv", "x.csv.gz", "x.csv.zst"] {
            assert_eq!(written(name, &backwards), written(name, chunks), "{name}");
        }
        let plain = written("x.csv", &backwards);
        assert!(plain.starts_with(b"\"file\",\"line\",\"time_utc\",\"origin\","));
        assert!(plain.ends_with(b"xb\r\nc\r\n"));
        let mut inflated = Vec::new();
        flate2::read::MultiGzDecoder::new(&written("x.csv.gz", chunks)[..])
            .read_to_end(&mut inflated)
            .unwrap();
        assert_eq!(inflated, plain);
    }

    #[test]
    fn what_stood_there_stays_until_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.csv");
        fs::write(&path, "old").unwrap();
        drop(RequestsFile::open(&path, PRIVACY).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(RequestsFile::open(dir.path(), PRIVACY).is_err());
    }
}
