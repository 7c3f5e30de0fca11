"""The tables of a report."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pybotaudit
import pytest
from conftest import REPOSITORY, command


def test_the_tables_of_a_report_have_types(tmp_path: Path) -> None:
    report = tmp_path / "report"
    options = ["--paths", "--cost-per-gb", "0.09", "--session-minutes", "5"]
    arguments = ["-q", "--robots", "sample-data/robots", "-o", report, "sample-data/logs"]
    command("audit", *options, *arguments, cwd=REPOSITORY)
    tables = pybotaudit.read_report(report)
    assert set(tables) >= {"summary", "violations", "robots-rules", "daily", "rejects"}
    violations = tables["violations"]
    assert sum(violations["requests"].to_pylist()) == 167
    first = violations.to_pylist()[0]
    assert first["rule_line"] == 12 and first["continued_over_line"] is None
    zone = datetime.timezone.utc
    assert first["first_seen_utc"] == datetime.datetime(2026, 3, 28, 18, 18, 3, tzinfo=zone)
    assert first["first_seen_utc"].utcoffset() == datetime.timedelta(0)
    assert tables["daily"]["day"].type == pa.date32()
    assert tables["summary"]["violation_rate"].type == pa.float64()
    assert tables["costs"]["cost"].type == pa.float64()
    assert tables["sessions"]["requests_per_session"].type == pa.float64()
    assert tables["statuses"]["status"].type == pa.int64()
    # A target with control characters, and one that a spreadsheet would run.
    targets = violations["example_target"].to_pylist()
    assert "/private/\x1b[2J\x1b]0;x\x07.html" in targets
    for table in tables.values():
        assert table.schema.types and all(kind != pa.null() for kind in table.schema.types)


def test_escapes_are_undone(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    line = '192.0.2.1 - - [01/Nov/2026:00:00:00 +0000] "GET {} HTTP/1.1" 200 5 "-" "{}"\n'
    log.write_text(line.format("/x", "=cmd-bot/1.0 \\x5Cx41") + line.format("/x", "'quotebot/2"))
    robots = tmp_path / "robots.txt"
    robots.write_bytes(b"User-agent: *\nDisallow: /\n")
    report = tmp_path / "report"
    origin = ["--origin", "https://a.example"]
    command("audit", "-q", "--robots", robots, *origin, "-o", report, log)
    agents = pybotaudit.read_report(report)["unknown-crawlers"]["user_agent"].to_pylist()
    assert sorted(agents) == ["'quotebot/2", "=cmd-bot/1.0 \\x41"]


def test_what_is_not_a_report_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is not a report; name the directory"):
        pybotaudit.read_report(tmp_path)
    (tmp_path / "report.tally").touch()
    (tmp_path / "daily.csv").write_text('"day","x"\n2026-01-01,2\n')
    with pytest.raises(ValueError, match=r"daily.csv has columns of another version"):
        pybotaudit.read_report(tmp_path)


def test_a_missing_table_is_an_error(tmp_path: Path) -> None:
    report = tmp_path / "report"
    arguments = ["-q", "--robots", "sample-data/robots", "-o", report, "sample-data/logs"]
    command("audit", *arguments, cwd=REPOSITORY)
    assert "comparison" not in pybotaudit.read_report(report)
    (report / "violations.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"violations\.csv is missing.*botaudit report"):
        pybotaudit.read_report(report)
