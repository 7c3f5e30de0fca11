"""The table of changes of rules: equal to that of the command."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pybotaudit
import pytest
from conftest import REPOSITORY, Snapshot, command, random_snapshots, robots_table, write_archive
from test_restrictions import FLAGS, NAMES, rows


def test_rows_are_those_of_the_command(tmp_path: Path, rng: random.Random) -> None:
    snapshots = random_snapshots(rng, 300)
    archive = write_archive(tmp_path, snapshots)
    run = command("robots", "changes", "-q", "--json", *FLAGS, "--robots", archive)
    # Control characters are as in the file; bytes that are not UTF-8 stay escaped.
    texts = run.stdout.decode().replace("\\\\x1B", "\\u001b").replace("\\\\xE9", "\\\\xe9")
    expected = [json.loads(line) for line in texts.splitlines()]
    assert {row["rule_change"] for row in expected} >= {"added", "removed"}
    for robots in (archive, robots_table(snapshots)):
        found = rows(pybotaudit.rule_changes(robots, **NAMES))
        assert found == expected


def test_a_change_and_its_types() -> None:
    bodies = [b"User-agent: *\nDisallow: /a\n", b"User-agent: *\nDisallow: /\n"]
    snapshots = [
        Snapshot("https://a.example", hour, "200", None, body) for hour, body in enumerate(bodies)
    ]
    table = pybotaudit.rule_changes(robots_table(snapshots), tokens=["GPTBot"])
    columns = [
        "effect",
        "old_restriction",
        "new_restriction",
        "rule_effect",
        "pattern",
        "rule_line",
    ]
    assert [list(row.values()) for row in table.select(columns).to_pylist()] == [
        ["tightened", "disallow", "disallow-all", "none", "/a", 2],
        ["tightened", "disallow", "disallow-all", "tightened", "/", 2],
    ]
    assert table.schema.field("changed_before_utc").type == pa.timestamp("s", "UTC")
    assert pybotaudit.rule_changes(robots_table([]), ["GPTBot"]).schema == table.schema


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="robots must be an archive"):
        pybotaudit.rule_changes(REPOSITORY / "sample-data/robots", ["GPTBot"])
    with pytest.raises(ValueError, match="no crawler is given"):
        pybotaudit.rule_changes(robots_table([]))
