//! The file of an archive: an SQLite database, its schema, and access to it.
//!
//! It uses a rollback journal, not a write-ahead log: with the latter, readers create files beside
//! the archive, which may be on a read-only medium. Any number of readers can use it; a writer
//! blocks them only during a commit.

use std::io::{ErrorKind, Read};
use std::{fs::File, path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, config::DbConfig, ffi};

use crate::error::{Error, Result};

/// The first bytes of every SQLite file.
const MAGIC: [u8; 16] = *b"SQLite format 3\0";

/// `bota`: the application id in the SQLite header of archives.
const APPLICATION_ID: i32 = 0x626f_7461;

/// The current schema, the only one that was ever published.
const SCHEMA_VERSION: i32 = 1;

/// One tree holds the snapshots by origin and time, with everything that a ruling needs. The
/// columns of `bodies` except the bytes are repeated there, because reading them from among the
/// bytes took longer than everything else. `outcome` is a status from 100 to 999, 0 for an
/// unfollowed redirect, or negative for a failure; `body` is 0 and `digest` null without a body;
/// `chain` has a line `status location` for each followed redirect.
const SCHEMA: &str = "
CREATE TABLE bodies (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    body BLOB NOT NULL
) STRICT;
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE snapshots (
    origin TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    body INTEGER NOT NULL,
    digest BLOB,
    size INTEGER NOT NULL,
    max_age INTEGER,
    chain TEXT,
    source INTEGER NOT NULL REFERENCES sources (id),
    PRIMARY KEY (origin, fetched_at, outcome, body)
) STRICT, WITHOUT ROWID;
CREATE INDEX unfollowed ON snapshots (origin, fetched_at) WHERE outcome = 0;
";

/// The time to wait for another process that reads or writes.
const WAIT: Duration = Duration::from_secs(60);

/// The memory for pages. With it, an import of a million origins keeps its trees in memory, and
/// listing all of them reads no page twice (they take 108 MB). Only the pages in use take memory.
const WRITER_CACHE_KIB: i32 = 128 << 10;
const READER_CACHE_KIB: i32 = 128 << 10;

/// The memory that SQLite may take in this process. Rows of hostile archives may have any size, and
/// some are read whole to compare keys; caches stop growing before the limit.
const CACHES_BYTES_MAX: i64 = 384 << 20;
const SQLITE_BYTES_MAX: i64 = 512 << 20;

/// The steps of SQLite's machine after which a tree must have a cycle, or lead to a page repeatedly:
/// 4,000 for each snapshot of a batch. SQLite reports each million.
const STEPS_REPORTED: i32 = 1 << 20;
const REPORTS_MAX: u32 = 256;

/// Larger than the default, so that most bodies are in one piece.
const PAGE_BYTES: i32 = 8192;

/// Whether `path` begins like an SQLite file.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn is_sqlite(path: &Path) -> Result<bool> {
    let cannot_read = |err| Error::io("cannot read", path, err);
    let mut start = Vec::new();
    let file = File::open(path).map_err(cannot_read)?;
    file.take(MAGIC.len() as u64).read_to_end(&mut start).map_err(cannot_read)?;
    Ok(start == MAGIC)
}

/// Opens the archive at `path` for reading. Nothing is written to it, with one exception: the
/// unfinished batch of a killed writer is rolled back.
///
/// # Errors
/// If it cannot be read, or is not an archive of this version.
pub(crate) fn open_to_read(path: &Path) -> Result<Connection> {
    if !is_sqlite(path)? {
        return Err(Error::archive(
            path,
            "is not an archive; create one with: botaudit robots import",
        ));
    }
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags)?;
        prepare(&mut connection, READER_CACHE_KIB)?;
        let marks = marks(&connection)?;
        Ok((connection, marks))
    };
    let opened = open().or_else(|err| match is_cut_short(&err) {
        true => take_back(path).and_then(|()| open()),
        false => Err(err),
    });
    let mut connection = known(path, opened)?;
    // The list of a large archive takes many steps; readers check the order of rows instead.
    let unlimited = connection.progress_handler(0, None::<fn() -> bool>);
    unlimited.map_err(|err| failed(path, "open", &err))?;
    Ok(connection)
}

/// Opens the archive at `path` for writing; creates it if it does not exist.
///
/// # Errors
/// If it cannot be written, or is not an archive of this version.
pub(crate) fn open_to_write(path: &Path) -> Result<Connection> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(Error::refused(
                path,
                "is a directory, but an archive is a file; name a file",
            ));
        }
        Ok(metadata) if metadata.len() > 0 && !is_sqlite(path)? => {
            return Err(Error::refused(
                path,
                "is not an archive; not overwritten; name another file",
            ));
        }
        Err(err) if err.kind() != ErrorKind::NotFound => {
            return Err(Error::io("cannot open", path, err));
        }
        _ => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(|mut connection| {
        prepare(&mut connection, WRITER_CACHE_KIB)?;
        let marks = make_if_empty(&mut connection)?;
        Ok((connection, marks))
    });
    known(path, opened)
}

/// Whether a writer was killed during a batch, which a read-only connection cannot roll back.
fn is_cut_short(err: &rusqlite::Error) -> bool {
    let code = err.sqlite_error().map(|err| err.extended_code);
    code == Some(ffi::SQLITE_READONLY_ROLLBACK)
}

/// Rolls back an unfinished batch; SQLite does so for any connection that may write.
fn take_back(path: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    prepare(&mut connection, READER_CACHE_KIB)?;
    marks(&connection).map(drop)
}

/// The error for a failure of SQLite while `doing` something with the archive at `path`.
pub(crate) fn failed(path: &Path, doing: &str, err: &rusqlite::Error) -> Error {
    let damaged = |what: &str| {
        format!("the archive is damaged ({what}); restore it from a backup, or import again")
    };
    let why = match err.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another process has locked it; try again later".to_owned()
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(&err.to_string()),
        Some(ErrorCode::OperationInterrupted) => damaged("its pages form a cycle"),
        Some(ErrorCode::OutOfMemory | ErrorCode::TooBig) => damaged("a row is too long"),
        None if matches!(err, rusqlite::Error::QueryReturnedNoRows) => {
            damaged("a body is missing or too long")
        }
        None if matches!(err, rusqlite::Error::FromSqlConversionFailure(..)) => {
            damaged("a row has an invalid value")
        }
        Some(ErrorCode::DiskFull) => "the disk is full; free some space".to_owned(),
        Some(ErrorCode::CannotOpen)
            if path.parent().is_some_and(|dir| !dir.as_os_str().is_empty() && !dir.exists()) =>
        {
            "its directory does not exist; create it first".to_owned()
        }
        _ if is_cut_short(err) => {
            "a writer was killed during a batch; make the archive writable once, so that the \
             batch can be undone"
                .to_owned()
        }
        Some(ErrorCode::ReadOnly) => "it is read-only".to_owned(),
        _ => err.to_string(),
    };
    Error::archive(path, format!("cannot {doing} the archive: {why}"))
}

/// Sets up a connection. The file may be untrusted: nothing in its schema is executed.
fn prepare(connection: &mut Connection, cache_kib: i32) -> rusqlite::Result<()> {
    limit_steps(connection)?;
    connection.busy_timeout(WAIT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Otherwise SQLite recompiles some statements at each binding in search of a better plan, which
    // takes 15 microseconds for a lookup of two.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "soft_heap_limit", CACHES_BYTES_MAX)?;
    connection.pragma_update(None, "hard_heap_limit", SQLITE_BYTES_MAX)?;
    // A confined run cannot create temporary files. The limits above apply to this memory, too.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -cache_kib)
}

/// Ends the work of `connection` from now on, up to the next call, after a number of steps.
pub(crate) fn limit_steps(connection: &mut Connection) -> rusqlite::Result<()> {
    let mut reports = 0;
    let is_endless = move || {
        reports += 1;
        reports > REPORTS_MAX
    };
    connection.progress_handler(STEPS_REPORTED, Some(is_endless))
}

/// Application id, schema version, and whether there are tables.
type Marks = (i32, i32, bool);

/// Reads the [`Marks`].
fn marks(connection: &Connection) -> rusqlite::Result<Marks> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    let tables = "SELECT EXISTS (SELECT 1 FROM sqlite_schema)";
    let tables = connection.query_row(tables, [], |row| row.get(0))?;
    Ok((number("application_id")?, number("user_version")?, tables))
}

/// Creates the tables. Two processes may do this at once: the second finds the tables of the first.
fn make_if_empty(connection: &mut Connection) -> rusqlite::Result<Marks> {
    let before = marks(connection)?;
    if before != (0, 0, false) {
        return Ok(before);
    }
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if marks(&transaction)? == (0, 0, false) {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    let after = marks(&transaction)?;
    transaction.commit()?;
    Ok(after)
}

/// The connection, if it is an archive of this version.
fn known(path: &Path, opened: rusqlite::Result<(Connection, Marks)>) -> Result<Connection> {
    let (connection, marks) = opened.map_err(|err| failed(path, "open", &err))?;
    match marks {
        (APPLICATION_ID, version, _) => known_version(path, version)?,
        _ => {
            let why = "is an SQLite file of another program, not an archive; name another file";
            return Err(Error::archive(path, why));
        }
    }
    known_schema(path, &connection)?;
    Ok(connection)
}

fn known_version(path: &Path, version: i32) -> Result<()> {
    let why = match version {
        SCHEMA_VERSION => return Ok(()),
        ..SCHEMA_VERSION => format!(
            "the archive has schema {version} of an unpublished version of botaudit; this \
             version reads {SCHEMA_VERSION}; import again with botaudit robots import"
        ),
        _ => format!(
            "the archive has schema {version} of a newer botaudit; this version reads \
             {SCHEMA_VERSION}; update botaudit"
        ),
    };
    Err(Error::archive(path, why))
}

/// Checks that an archive has exactly the tables of its version. A view in place of a table may
/// have endless rows, and a trigger can do anything.
fn known_schema(path: &Path, connection: &Connection) -> Result<()> {
    let expected: Vec<&str> =
        SCHEMA.split(";\n").map(str::trim).filter(|sql| !sql.is_empty()).collect();
    // ANALYZE creates tables of SQLite's own.
    let sql = "SELECT sql FROM sqlite_schema WHERE sql NOT IN (
                   'CREATE TABLE sqlite_stat1(tbl,idx,stat)',
                   'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)') LIMIT ?1";
    let found = connection.prepare(sql).and_then(|mut find| {
        let rows = find.query_map([expected.len() as i64 + 1], |row| row.get(0))?;
        rows.collect::<rusqlite::Result<Vec<String>>>()
    });
    let found = found.map_err(|err| failed(path, "open", &err))?;
    let is_known = found.len() == expected.len()
        && expected.iter().all(|sql| found.iter().any(|found| found == sql));
    let why = "does not have the tables of an archive; restore it from a backup, or import again";
    if is_known { Ok(()) } else { Err(Error::archive(path, why)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refuses(path: &Path, expected: &str) {
        for opened in [open_to_read(path), open_to_write(path)] {
            let message = opened.unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn what_is_no_archive_is_refused_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let text = dir.path().join("robots.txt");
        std::fs::write(&text, "User-agent: *\n").unwrap();
        refuses(&text, "is not an archive; ");
        assert_eq!(std::fs::read(&text).unwrap(), b"User-agent: *\n");
        let sqlite = dir.path().join("other.db");
        Connection::open(&sqlite).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
        let before = std::fs::read(&sqlite).unwrap();
        refuses(&sqlite, "is an SQLite file of another program");
        assert_eq!(std::fs::read(&sqlite).unwrap(), before);
        assert!(open_to_write(dir.path()).unwrap_err().to_string().contains("is a directory"));
        let missing = open_to_read(&dir.path().join("missing")).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read "), "{missing}");
    }

    #[test]
    fn other_versions_are_refused_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive");
        for (version, expected) in [
            (0, "import again with botaudit robots import"),
            (-1, "import again with botaudit robots import"),
            (2, "update botaudit"),
        ] {
            let connection = open_to_write(&path).unwrap();
            connection.pragma_update(None, "user_version", version).unwrap();
            drop(connection);
            refuses(&path, expected);
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn damage_is_reported_as_damage() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive");
        drop(open_to_write(&path).unwrap());
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.truncate(bytes.len() / 2);
        bytes[100..200].fill(0xff);
        std::fs::write(&path, bytes).unwrap();
        refuses(&path, "the archive is damaged");
    }

    #[test]
    fn a_row_never_takes_more_memory_than_the_limit() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let archive = open_to_write(file.path()).unwrap();
        let long = format!("SELECT length(randomblob({}))", SQLITE_BYTES_MAX + 1);
        let err = archive.query_row(&long, [], |row| row.get::<_, i64>(0)).unwrap_err();
        let message = failed(file.path(), "read", &err).to_string();
        assert!(message.contains("a row is too long"), "{message}");
    }

    /// The state after a killed writer: pages of the batch in the file, the old ones beside it.
    #[test]
    fn an_unfinished_batch_is_rolled_back_by_the_next_reader() {
        let dir = tempfile::tempdir().unwrap();
        let [path, killed] = ["archive", "killed"].map(|name| dir.path().join(name));
        let mut writer = open_to_write(&path).unwrap();
        writer.execute_batch("INSERT INTO sources (name) VALUES ('whole')").unwrap();
        writer.execute_batch("PRAGMA cache_size = 1").unwrap();
        let batch = writer.transaction().unwrap();
        let begun = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
                     INSERT INTO sources (name) SELECT 'begun ' || i FROM n";
        batch.execute_batch(begun).unwrap();
        for end in ["", "-journal"] {
            let name = |path: &Path| format!("{}{end}", path.display());
            std::fs::copy(name(&path), name(&killed)).unwrap();
        }
        drop(batch);
        let reader = open_to_read(&killed).unwrap();
        let sources = "SELECT count(*) FROM sources";
        let count: i64 = reader.query_row(sources, [], |row| row.get(0)).unwrap();
        assert_eq!(count, 1);
    }

    #[test]
    fn an_empty_file_becomes_an_archive_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let first = open_to_write(file.path()).unwrap();
        let second = open_to_write(file.path()).unwrap();
        drop((first, second));
        assert!(is_sqlite(file.path()).unwrap());
        open_to_read(file.path()).unwrap();
    }
}
