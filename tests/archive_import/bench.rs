//! An archive with an import, for tests.

use std::fs;
use std::path::PathBuf;

use botaudit::archive::import::files::{HistoryKind, kind_of};
use botaudit::archive::import::warc::{self, import_warc};
use botaudit::archive::import::warc_memory::WarcMemory;
use botaudit::archive::import::{Import, ImportProgress, warc_memory};
use botaudit::archive::reader::Archive;
use botaudit::time::UtcTime;
use botaudit::url::origin::Origin;

pub struct Bench {
    dir: tempfile::TempDir,
    pub memory: WarcMemory,
    pub problems: Vec<String>,
    /// The offsets of the records of these problems.
    pub offsets: Vec<Option<u64>>,
}

impl Bench {
    pub fn new() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        Bench { dir, memory: WarcMemory::default(), problems: Vec::new(), offsets: Vec::new() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs an import to its end.
    pub fn import(&mut self, job: impl FnOnce(&mut WarcMemory, &mut Import<'_>)) {
        let mut writer = Archive::writer(&self.path("archive")).unwrap();
        let Bench { problems, offsets, memory, .. } = self;
        let mut take = |problem: botaudit::archive::import::ImportProblem| {
            problems.push(problem.to_string());
            offsets.push(problem.offset_bytes);
        };
        let progress = ImportProgress::default();
        let mut import = Import { writer: &mut writer, progress: &progress, problems: &mut take };
        job(memory, &mut import);
        warc::finish(memory, &mut import).unwrap();
        writer.flush().unwrap();
        warc_memory::follow(&mut writer).unwrap();
    }

    pub fn import_warc(&mut self, bytes: &[u8]) {
        let path = self.write("a.warc.gz", bytes);
        assert_eq!(kind_of(&path).unwrap(), HistoryKind::Warc);
        self.import(|memory, import| import_warc(&path, memory, import).unwrap());
    }

    /// `time outcome body` of each snapshot of an origin; times are seconds since 2025-01-01.
    pub fn history(&self, origin: &str) -> Vec<String> {
        let archive = Archive::open(&self.path("archive")).unwrap();
        let origin = Origin::parse(origin.as_bytes()).unwrap();
        let entries = archive.history(&origin).unwrap();
        let text = |entry: botaudit::archive::snapshot::HistoryEntry| {
            let body = entry.body.map(|key| archive.body(key).unwrap()).unwrap_or_default();
            let hops: String = entry
                .fetch
                .chain
                .iter()
                .map(|hop| format!(" {}>{}", hop.status, hop.location))
                .collect();
            let age =
                entry.fetch.max_age_seconds.map_or_else(String::new, |age| format!(" max {age}"));
            let seconds = entry.fetch.fetched_at.unix_seconds() - NEW_YEAR;
            let body = String::from_utf8_lossy(&body);
            format!("{seconds} {}{hops}{age} {body}", entry.fetch.outcome).trim_end().to_owned()
        };
        entries.into_iter().map(text).collect()
    }
}

/// 2025-01-01T00:00:00Z.
pub const NEW_YEAR: i64 = 1_735_689_600;

pub fn time(seconds: i64) -> String {
    UtcTime::from_unix_seconds(NEW_YEAR + seconds).unwrap().to_string()
}
