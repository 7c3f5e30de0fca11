CREATE TABLE inputs (
    id INTEGER PRIMARY KEY,
    site TEXT NOT NULL,
    name TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    hash BLOB NOT NULL,
    marks BLOB NOT NULL,
    last_day TEXT,
    latest_day TEXT,
    format TEXT,
    caveats TEXT NOT NULL,
    damage TEXT,
    parsed INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    seen TEXT NOT NULL
) STRICT;
CREATE INDEX inputs_of_sites ON inputs (site);
CREATE TABLE files (
    site TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    input INTEGER NOT NULL REFERENCES inputs (id),
    PRIMARY KEY (site, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE TABLE days (
    site TEXT NOT NULL,
    day TEXT NOT NULL,
    due INTEGER NOT NULL,
    tally BLOB NOT NULL,
    PRIMARY KEY (site, day)
) STRICT;
CREATE TABLE actors (
    site TEXT NOT NULL,
    day TEXT NOT NULL,
    origin TEXT NOT NULL,
    crawler TEXT NOT NULL,
    identity TEXT NOT NULL,
    sums TEXT NOT NULL,
    PRIMARY KEY (site, day, origin, crawler, identity)
) STRICT, WITHOUT ROWID;
CREATE TABLE ruled (
    site TEXT NOT NULL,
    day TEXT NOT NULL,
    source TEXT NOT NULL,
    at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (site, day, source, at, outcome, digest)
) STRICT, WITHOUT ROWID;
