//! The evidence: every violating request, in the order of files and lines.
//!
//! Workers finish chunks in any order. Their rows are put in order for each
//! file, cut into blocks, and the blocks spooled to disk as they fill; at the
//! end they are copied out file by file. Where the name ends in `.gz` or
//! `.zst` each block is a gzip member or zstd frame of its own, so the bytes do not depend on timing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::audit::evidence::{Evidence, ViolatingRequest};
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::{FileId, Source};
use crate::staged::StagedFile;

use super::columns::tables::REQUESTS_EVIDENCE;
use super::compression::OutputCompression;
use super::csv::CsvTable;
use super::privacy::Privacy;

/// Rows of one block, in bytes before compression.
const BLOCK_BYTES: usize = 256 << 10;

/// Rows on their way to one file.
pub struct RequestsFile {
    path: PathBuf,
    staged: StagedFile,
    coding: OutputCompression,
    privacy: Privacy,
    spool: Mutex<Spool>,
}

struct Spool {
    file: File,
    end: u64,
    inputs: BTreeMap<FileId, Input>,
}

/// Rows of one input.
#[derive(Default)]
struct Input {
    /// The chunk whose rows come next.
    next: u64,
    /// Rows of later chunks.
    pending: BTreeMap<u64, Vec<u8>>,
    /// How many chunks there are, once that is known.
    chunks: Option<u64>,
    /// Rows in order that do not fill a block yet.
    tail: Vec<u8>,
    /// Where its blocks lie in the spool: offset and length.
    blocks: Vec<(u64, u64)>,
}

impl RequestsFile {
    /// Prepares to write `path`; what stands there stays until `commit`. `privacy` says what of
    /// clients and queries may leave.
    ///
    /// # Errors
    /// Where its directory cannot be written to.
    pub fn open(path: &Path, privacy: Privacy) -> Result<RequestsFile> {
        let cannot_write = |err| cannot_write(path, err);
        if path.is_dir() {
            return Err(Error::invalid_file(
                path,
                "is a directory; give --evidence a file, as evidence.csv.gz",
            ));
        }
        if path.file_name().is_none() {
            return Err(Error::invalid_file(
                path,
                "is no file name; give --evidence a file, as evidence.csv.gz",
            ));
        }
        let staged = StagedFile::create(path).map_err(cannot_write)?;
        // Without a name: however the run ends, it is gone. Beside the file there is room for as
        // much as that.
        let beside = staged.hidden().and_then(Path::parent);
        let beside = beside.map(|dir| if dir == "" { Path::new(".") } else { dir });
        let file = beside.map_or_else(tempfile::tempfile, tempfile::tempfile_in);
        let spool = Spool { file: file.map_err(cannot_write)?, end: 0, inputs: BTreeMap::new() };
        let coding = OutputCompression::of_name(path);
        Ok(RequestsFile {
            path: path.to_owned(),
            staged,
            coding,
            privacy,
            spool: Mutex::new(spool),
        })
    }

    /// Takes news of the evidence; rows are made where it is called, outside of any lock.
    ///
    /// # Errors
    /// Where the disk is full or fails.
    pub fn take(&self, evidence: Evidence, sources: &[Source], registry: &Registry) -> Result<()> {
        match evidence {
            Evidence::End { input, chunks } => self.end(input, chunks),
            Evidence::Chunk { input, sequence, requests } => {
                let rows = self.rows(&sources[input.index()].name, &requests, registry);
                self.add(input, sequence, rows.map_err(|err| self.failed(err))?)
            }
        }
    }

    fn rows(
        &self,
        file: &str,
        requests: &[ViolatingRequest],
        registry: &Registry,
    ) -> io::Result<Vec<u8>> {
        let mut csv = CsvTable::without_header(Vec::new(), &REQUESTS_EVIDENCE);
        for request in requests {
            let (crawler, identity) = request.actor;
            csv.row(|row| {
                row.text(file)
                    .counts([request.line])
                    .time(request.time)
                    .text(&request.place.to_string())
                    .crawler(registry.crawler(crawler), identity)
                    .bytes(&request.method)
                    .bytes(self.privacy.target(&request.target))
                    .counts([u64::from(request.status), request.bytes])
                    .bytes(&request.user_agent)
                    .rule(&request.robots.deciding_rule(request.rule_line, crawler))
                    .bytes(&self.privacy.client(&request.client))
                    .snapshot(request.snapshot, request.time);
            })?;
        }
        csv.finish()
    }

    /// The rows of chunk `sequence` (from 0, each exactly once) of `input`.
    fn add(&self, input: FileId, sequence: u64, rows: Vec<u8>) -> Result<()> {
        let mut spool = self.spool.lock().unwrap_or_else(PoisonError::into_inner);
        spool.add(input, sequence, rows, self.coding).map_err(|err| self.failed(err))
    }

    /// `input` has no more than `chunks` chunks, so its last rows need not be kept in memory.
    fn end(&self, input: FileId, chunks: u64) -> Result<()> {
        let mut spool = self.spool.lock().unwrap_or_else(PoisonError::into_inner);
        spool.end(input, chunks, self.coding).map_err(|err| self.failed(err))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// Where that is refused; what stood there is then as it was.
    pub fn commit(self) -> Result<()> {
        let RequestsFile { path, staged, coding, spool, .. } = self;
        let spool = spool.into_inner().unwrap_or_else(PoisonError::into_inner);
        spool
            .write_out(staged, coding)
            .and_then(StagedFile::commit)
            .map_err(|err| cannot_write(&path, err))
    }

    /// The name under which it is written, to be removed if the run is stopped. None where it is
    /// a pipe or a device, which is written to as it stands.
    pub fn hidden(&self) -> Option<&Path> {
        self.staged.hidden()
    }

    fn failed(&self, err: io::Error) -> Error {
        cannot_write(&self.path, err)
    }
}

fn cannot_write(path: &Path, err: io::Error) -> Error {
    Error::io("cannot write --evidence", path, err)
}

impl Spool {
    fn write_out(self, staged: StagedFile, coding: OutputCompression) -> io::Result<StagedFile> {
        let Spool { mut file, inputs, .. } = self;
        let mut out = BufWriter::new(staged);
        let header = CsvTable::with_header(Vec::new(), &REQUESTS_EVIDENCE)?.finish()?;
        out.write_all(&coding.encode(&header)?)?;
        for (offset, length) in inputs.values().flat_map(Input::finished_blocks) {
            file.seek(SeekFrom::Start(*offset))?;
            io::copy(&mut (&file).take(*length), &mut out)?;
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)
    }

    fn add(
        &mut self,
        input: FileId,
        sequence: u64,
        rows: Vec<u8>,
        coding: OutputCompression,
    ) -> io::Result<()> {
        let Spool { file, end, inputs } = self;
        let input = inputs.entry(input).or_default();
        input.pending.insert(sequence, rows);
        while let Some(rows) = input.pending.remove(&input.next) {
            input.next += 1;
            input.tail.extend_from_slice(&rows);
            while input.tail.len() >= BLOCK_BYTES {
                let rest = input.tail.split_off(BLOCK_BYTES);
                input.flush_tail(file, end, coding)?;
                input.tail = rest;
            }
        }
        input.flush_if_ended(file, end, coding)
    }

    fn end(&mut self, input: FileId, chunks: u64, coding: OutputCompression) -> io::Result<()> {
        let Spool { file, end, inputs } = self;
        let input = inputs.entry(input).or_default();
        input.chunks = Some(chunks);
        input.flush_if_ended(file, end, coding)
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

    fn flush_if_ended(
        &mut self,
        file: &mut File,
        end: &mut u64,
        coding: OutputCompression,
    ) -> io::Result<()> {
        if self.chunks == Some(self.next) { self.flush_tail(file, end, coding) } else { Ok(()) }
    }

    fn flush_tail(
        &mut self,
        file: &mut File,
        end: &mut u64,
        coding: OutputCompression,
    ) -> io::Result<()> {
        if self.tail.is_empty() {
            return Ok(());
        }
        let block = coding.encode(&self.tail)?;
        self.tail = Vec::new();
        file.write_all(&block)?;
        self.blocks.push((*end, block.len() as u64));
        *end += block.len() as u64;
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
            requests.add(id, sequence, rows.to_vec()).unwrap();
            let count = chunks.iter().filter(|chunk| chunk.0 == input).count();
            requests.end(id, count as u64).unwrap();
        }
        requests.commit().unwrap();
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
        assert!(plain.starts_with(b"file,line,time_utc,origin,"));
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
