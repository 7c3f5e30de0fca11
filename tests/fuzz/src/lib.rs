//! What several targets share: files, and imports into an archive.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use botaudit::archive::import::{Import, ImportProgress, warc_memory};
use botaudit::archive::writer::Writer;
use botaudit::error::Result;

/// The file `name` with these bytes, in a directory of this process.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("botaudit-fuzz-{}", std::process::id()));
    let path = directory.join(name);
    let written = std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(&path, bytes));
    written.expect("temporary files can be written");
    path
}

/// Imports into an archive in memory: nothing that was found may be lost.
pub fn import(job: impl FnOnce(&mut Import<'_>) -> Result<()>) {
    let mut writer = Writer::open(Path::new(":memory:")).expect("memory can be written");
    let progress = ImportProgress::default();
    let mut import = Import {
        writer: &mut writer,
        progress: &progress,
        problems: &mut |problem| drop(problem.to_string()),
    };
    job(&mut import).expect("errors of a file are problems");
    writer.flush().expect("memory can be written");
    let added = writer.added();
    assert_eq!(added.snapshots + added.known, progress.snapshots.load(Ordering::Relaxed));
    warc_memory::follow(&mut writer).expect("the archive is whole");
}
