"""The table of restrictions: equal to that of the command."""

from __future__ import annotations

import datetime
import json
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pybotaudit
import pytest
from conftest import (
    REPOSITORY,
    Snapshot,
    command,
    interrupted,
    random_snapshots,
    robots_table,
    write_archive,
)

NAMES = {"crawlers": ["GPTBot", "AdsBot-Google"], "tokens": ["mybot"]}
FLAGS = ["--crawler", "GPTBot", "--crawler", "AdsBot-Google", "--token", "mybot"]


def by_command(robots: object, *flags: object) -> list[dict[str, Any]]:
    """The rows of the command."""
    run = command("robots", "restrictions", "-q", "--json", *FLAGS, "--robots", robots, *flags)
    return [json.loads(line) for line in run.stdout.splitlines()]


def rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table, with times as the command writes them."""
    found = []
    for row in table.to_pylist():
        times = {
            name: value.strftime("%Y-%m-%dT%H:%M:%SZ")
            for name, value in row.items()
            if isinstance(value, datetime.datetime)
        }
        found.append({**row, **times})
    return found


def unescaped(of_command: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same rows without escapes, of which only the delays may have some."""
    for row in of_command:
        if row["crawl_delay"]:
            row["crawl_delay"] = row["crawl_delay"].replace("\\x1b", "\x1b")
    return of_command


@pytest.mark.parametrize(
    "options",
    [{}, {"at": "2026-02-01"}, {"every": "week"}, {"every": "month"}, {"every": "year"}],
    ids=str,
)
def test_rows_are_those_of_the_command(
    tmp_path: Path, rng: random.Random, options: dict[str, Any]
) -> None:
    snapshots = random_snapshots(rng, 300)
    archive = write_archive(tmp_path, snapshots)
    flags = [part for name, value in options.items() for part in (f"--{name}", value)]
    expected = by_command(archive, *flags)
    assert {row["restriction"] for row in expected} >= {"none", "disallow", "disallow-all"}
    for robots in (archive, str(archive), robots_table(snapshots)):
        table = pybotaudit.restrictions(robots, **NAMES, **options)
        assert rows(table) == unescaped(expected)
    assert table.schema.field("snapshot_utc").type == pa.timestamp("s", "UTC")
    assert table.schema.field("rule_line").type == pa.int64()


def test_times_of_python(tmp_path: Path, rng: random.Random) -> None:
    archive = write_archive(tmp_path, random_snapshots(rng, 20))
    expected = rows(pybotaudit.restrictions(archive, ["GPTBot"], at="2026-02-01T00:00:00Z"))
    day = datetime.date(2026, 2, 1)
    zone = datetime.timezone(datetime.timedelta(hours=2))
    for at in (
        day,
        datetime.datetime(2026, 2, 1),
        datetime.datetime(2026, 2, 1, 2, tzinfo=zone),
    ):
        assert rows(pybotaudit.restrictions(archive, ["GPTBot"], at=at)) == expected


def test_files_and_directories() -> None:
    directory = REPOSITORY / "sample-data/robots"
    expected = by_command(directory)
    assert rows(pybotaudit.restrictions(directory, **NAMES)) == expected
    one = next(directory.iterdir())
    assert rows(pybotaudit.restrictions(one, **NAMES)) == by_command(one)


def test_files_that_are_for_no_host_are_named(tmp_path: Path) -> None:
    for name in ("a.example", "NOTES", "README"):
        (tmp_path / name).write_text("User-agent: *\n")
    with pytest.warns(UserWarning, match=r"NOTES: the file name is not a host.* \(and 1 more\)"):
        table = pybotaudit.restrictions(tmp_path, ["GPTBot"])
    assert table["origin"].to_pylist() == ["a.example"]


def test_a_crawler_that_ignores_star_is_not_its_token() -> None:
    snapshot = Snapshot("https://a.example", 1, "200", None, b"User-agent: *\nDisallow: /\n")
    table = pybotaudit.restrictions(robots_table([snapshot]), ["AdsBot-Google"], ["AdsBot-Google2"])
    found = table.select(["restriction", "group", "reason"]).to_pylist()
    assert found == [
        {"restriction": "none", "group": "none", "reason": "ignores-star"},
        {"restriction": "disallow-all", "group": "star", "reason": None},
    ]


def test_no_rows_have_the_columns() -> None:
    empty = robots_table([])
    table = pybotaudit.restrictions(empty, ["GPTBot"])
    assert len(table) == 0
    snapshot = Snapshot("https://a.example", 1, "404", None, None)
    assert table.schema == pybotaudit.restrictions(robots_table([snapshot]), ["GPTBot"]).schema


def refused(kind: type[Exception], *parts: str) -> pytest.RaisesExc[Exception]:
    return pytest.raises(kind, match="(?s)" + ".*".join(map(re.escape, parts)))


def test_mistakes_are_named(tmp_path: Path) -> None:
    table = robots_table([])
    with refused(ValueError, "no crawler is given; set crawlers=, tokens= or user_agent="):
        pybotaudit.restrictions(table)
    with refused(ValueError, "unknown crawler 'GPTBott'", "tokens=['GPTBott']"):
        pybotaudit.restrictions(table, ["GPTBott"])
    with refused(TypeError, "tokens=['a']"):
        pybotaudit.restrictions(table, tokens="a")
    with refused(ValueError, "'soon' is not a valid time"):
        pybotaudit.restrictions(table, ["GPTBot"], at="soon")
    with refused(ValueError, "every: 'day' is not week, month or year"):
        pybotaudit.restrictions(table, ["GPTBot"], every="day")
    with refused(ValueError, "at and every exclude each other"):
        pybotaudit.restrictions(table, ["GPTBot"], at="2026-01-01", every="month")
    with refused(ValueError, "at and every need an archive"):
        pybotaudit.restrictions(REPOSITORY / "sample-data/robots", ["GPTBot"], every="month")
    with refused(FileNotFoundError, "cannot read robots", "nowhere"):
        pybotaudit.restrictions(tmp_path / "nowhere", ["GPTBot"])
    with refused(TypeError, "int", "Arrow interface"):
        pybotaudit.restrictions(5, ["GPTBot"])


def test_ctrl_c_ends_a_call() -> None:
    script = """
import pybotaudit, pyarrow as pa, sys, datetime
body = b"User-agent: *\\n" + b"".join(b"Disallow: /%d*x\\n" % n for n in range(300))
n = 4000
table = pa.table({
    "origin": [f"https://h{i}.example" for i in range(n)],
    "fetched_at": pa.array([datetime.datetime(2026, 1, 1)] * n, pa.timestamp("us", "UTC")),
    "outcome": ["200"] * n,
    "body": pa.array([body + b"# %d" % i for i in range(n)], pa.binary()),
})
print("ready", flush=True)
try:
    tokens = [f"a{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(200)]
    pybotaudit.restrictions(table, tokens=tokens)
except KeyboardInterrupt:
    sys.exit(7)
"""
    assert interrupted(script) == 7
