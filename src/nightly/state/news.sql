CREATE TABLE IF NOT EXISTS lines (
    site TEXT NOT NULL,
    day TEXT NOT NULL,
    lines INTEGER NOT NULL,
    reported INTEGER,
    PRIMARY KEY (site, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS told (
    site TEXT NOT NULL,
    kind TEXT NOT NULL,
    day TEXT NOT NULL,
    source TEXT NOT NULL,
    before TEXT NOT NULL,
    now TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (site, kind, day, source)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mailed (
    site TEXT NOT NULL,
    day TEXT NOT NULL,
    kind TEXT NOT NULL,
    crawler TEXT NOT NULL,
    identity TEXT NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (site, day, kind, crawler, identity, source)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS nights (
    site TEXT PRIMARY KEY,
    day TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fetches (
    site TEXT NOT NULL,
    day TEXT NOT NULL,
    origin TEXT NOT NULL,
    crawler TEXT NOT NULL,
    identity TEXT NOT NULL,
    minute INTEGER NOT NULL,
    is_304 INTEGER NOT NULL,
    PRIMARY KEY (site, day, origin, crawler, identity, minute)
) STRICT, WITHOUT ROWID;
