"""Audits in this process: equal to those of the command."""

from __future__ import annotations

import inspect
import json
import re
import resource
import sys
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pybotaudit
import pytest
from conftest import REPOSITORY, command, interrupted, ticks_during

LINE = '192.0.2.1 - - [01/Nov/2026:00:00:00 +0000] "GET /private/{} HTTP/1.1" 200 5 "-" "{}"\n'


@pytest.fixture(scope="module")
def sample() -> pybotaudit.AuditReport:
    """The audit of the sample data."""
    robots = REPOSITORY / "sample-data/robots"
    return pybotaudit.audit(REPOSITORY / "sample-data/logs", robots=robots)


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Path]:
    """A robots.txt and a log."""
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
    lines = [LINE.format(number, "GPTBot/1.2") for number in range(20)]
    (tmp_path / "access.log").write_text("".join(lines) + LINE.format("x", "Firefox/1"))
    return {"robots": tmp_path / "robots.txt", "logs": tmp_path / "access.log"}


def files(directory: Path) -> dict[str, bytes]:
    """The CSV files of a report."""
    return {path.name: path.read_bytes() for path in sorted(directory.glob("*.csv"))}


OPTIONS: dict[str, Any] = {
    "paths": True,
    "cost_per_gb": "0.09USD",
    "session_minutes": 5,
    "alias": {"shop.example.com": "www.example.com"},
    "ip": "mask",
    "timezone": "Europe/Berlin",
    "min_parse_rate": 0,
    "reaction_days": 7,
    "since": "2026-03-01",
    "what_if": "sample-data/robots/www.example.com.txt",
    "what_if_for": ["https://www.example.com"],
}


@pytest.mark.parametrize("options", [{}, OPTIONS], ids=["defaults", "options"])
def test_the_files_are_those_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.chdir(REPOSITORY)
    flags = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, dict):
            flags += [part for pair in value.items() for part in (flag, "=".join(pair))]
        elif value is True:
            flags += [flag]
        else:
            flags += [flag, *(value if isinstance(value, list) else [str(value)])]
    by_command = tmp_path / "by-command"
    arguments = ["--robots", "sample-data/robots", "-o", by_command, "sample-data/logs"]
    printed = command("audit", *flags, *arguments).stdout.decode()
    report = pybotaudit.audit("sample-data/logs", robots="sample-data/robots", **options)
    report.save(tmp_path / "by-python")
    found = files(tmp_path / "by-python")
    assert found == files(by_command) and len(found) > 20
    # The command wraps lines.
    assert report.summary.split()[:40] == printed.split()[:40]
    run, expected = report.run, json.loads((by_command / "run.json").read_text())
    assert {**run, "made_at_utc": None} == {**expected, "made_at_utc": None}
    # Tables are the same before and after they were written.
    tables = pybotaudit.read_report(by_command)
    assert set(report.tables) == set(tables)
    for name, table in tables.items():
        assert report.table(name).equals(table), name


def test_tables_are_of_any_library(sample: pybotaudit.AuditReport) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert isinstance(sample.violations, pa.Table)
    assert sample.violations is sample.table("violations")
    assert sum(sample.violations["requests"].to_pylist()) == 167
    frame = sample.to_pandas()["violations"]
    assert isinstance(frame, pandas.DataFrame) and frame["requests"].sum() == 167
    frame = sample.to_polars()["violations"]
    assert isinstance(frame, polars.DataFrame) and frame["requests"].sum() == 167
    assert list(sample.to_arrow()) == sample.tables
    with pytest.raises(ValueError, match="no table 'violation'; its tables are summary, "):
        sample.table("violation")


def test_a_report_says_what_it_is(sample: pybotaudit.AuditReport, small: dict[str, Path]) -> None:
    assert sample.has_violations and sample.unjudged is None
    assert (
        repr(sample)
        == f"<AuditReport: {len(sample.violations)} broken rules, {len(sample.tables)} tables>"
    )
    public = {name for name in dir(sample) if name[0] != "_"}
    assert public == {
        "failed_conditions", "has_violations", "is_complete", "run", "save", "summary", "table",
        "tables", "to_arrow", "to_pandas", "to_polars", "unjudged", "violations", "warnings",
    }  # fmt: skip
    report = pybotaudit.audit(small["logs"], robots=small["robots"], since="2999-01-01")
    assert any("is in the future" in warning for warning in report.warnings)
    assert not report.has_violations and report.is_complete
    directory = small["logs"].with_name("robots")
    directory.mkdir()
    (directory / "b.example").write_text("")
    other = pybotaudit.audit(small["logs"], robots=directory, origin="https://a.example")
    assert other.unjudged is not None and "no request could be judged" in other.unjudged


def test_arguments_are_the_flags_of_the_command() -> None:
    text = command("audit", "--help").stdout.decode()
    flags = set(re.findall(r"(?m)^ {2,6}(?:-\w, )?--([a-z][a-z-]+)", text))
    arguments = {name.replace("_", "-") for name in inspect.signature(pybotaudit.audit).parameters}
    assert arguments - flags == {"logs", "progress"}
    assert len(flags) > 40


def test_conditions_that_rows_meet_are_named(small: dict[str, Path]) -> None:
    met = "violations > 0 where crawler = 'GPTBot'"
    both = [met, "violations > 20"]
    report = pybotaudit.audit(small["logs"], robots=small["robots"], fail_on=both)
    assert report.failed_conditions == [
        f'1 row meets fail_on "{met}": GPTBot (not-on-list) at -, violations 20'
    ]
    assert pybotaudit.audit(small["logs"], robots=small["robots"]).failed_conditions == []
    with refused('fail_on: "violation > 0"'):
        pybotaudit.audit(small["logs"], robots=small["robots"], fail_on="violation > 0")


def refused(*parts: str) -> pytest.RaisesExc[ValueError]:
    return pytest.raises(ValueError, match="(?s)" + ".*".join(map(re.escape, parts)))


def test_mistakes_are_named(small: dict[str, Path], tmp_path: Path) -> None:
    with refused("ip: 'some': write none, mask, hash or full; threads: expected a whole number"):
        pybotaudit.audit(small["logs"], robots=small["robots"], ip="some", threads=-1)
    with refused("dns_max: it has no effect without verify_dns"):
        pybotaudit.audit(small["logs"], robots=small["robots"], dns_max=3)
    with refused("until", "is not later than"):
        pybotaudit.audit(
            small["logs"], robots=small["robots"], since="2026-02-01", until="2026-01-01"
        )
    with refused("logs is empty"):
        pybotaudit.audit([], robots=small["robots"])
    with pytest.raises(FileNotFoundError, match=r"cannot open .*nothing"):
        pybotaudit.audit([tmp_path / "nothing"], robots=small["robots"])
    with pytest.raises(TypeError, match="logs is of the type NoneType; give a path, or several"):
        pybotaudit.audit(None, robots=small["robots"])  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match="cannot read robots"):
        pybotaudit.audit(small["logs"], robots=tmp_path / "nowhere")
    with refused("robots is not UTF-8"):
        pybotaudit.audit(small["logs"], robots="caf\udce9.txt")
    with pytest.raises(TypeError, match="fetch"):
        pybotaudit.audit(small["logs"], robots=small["robots"], fetch=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="paths is of the type bytes"):
        pybotaudit.audit(small["logs"], robots=small["robots"], paths=b"x")  # type: ignore[arg-type]
    with refused(str(tmp_path)):
        pybotaudit.audit(small["logs"], robots=small["robots"]).save(tmp_path)


def test_texts_reach_the_audit_unchanged(small: dict[str, Path]) -> None:
    directory = small["logs"].parent / 'a"b\\c\x7fé\n'
    directory.mkdir()
    robots = directory / "robots.txt"
    robots.write_bytes(small["robots"].read_bytes())
    report = pybotaudit.audit(small["logs"], robots=robots, origin="https://a.example")
    assert report.run["options"]["robots"] == str(robots)
    assert report.violations["requests"].to_pylist() == [20]


def test_progress_is_told(small: dict[str, Path]) -> None:
    told: list[tuple[int, int | None]] = []
    pybotaudit.audit(
        small["logs"], robots=small["robots"], progress=lambda *bytes_of: told.append(bytes_of)
    )
    size = small["logs"].stat().st_size
    assert told[-1] == (size, size)
    with pytest.raises(ZeroDivisionError):
        pybotaudit.audit(small["logs"], robots=small["robots"], progress=lambda *_: 1 / 0)


def test_a_bar_is_shown(small: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    pybotaudit.audit(small["logs"], robots=small["robots"], progress=True)
    assert "100%" in capsys.readouterr().err


def test_without_tqdm_an_audit_runs(
    small: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.warns(UserWarning, match="pip install tqdm"):
        report = pybotaudit.audit(small["logs"], robots=small["robots"], progress=True)
    assert report.has_violations


def test_other_threads_run_meanwhile(small: dict[str, Path]) -> None:
    with small["logs"].open("a") as log:
        log.writelines(LINE.format(number, "GPTBot/1.2") for number in range(200_000))
    robots = small["robots"]
    assert ticks_during(lambda: pybotaudit.audit(small["logs"], robots=robots, threads=1)) > 10


def test_ctrl_c_ends_an_audit(small: dict[str, Path]) -> None:
    lines = "".join(LINE.format(number, "GPTBot/1.2") for number in range(20_000))
    big = small["logs"].with_name("big.log")
    with big.open("w") as log:
        for _ in range(40):
            log.write(lines)
    script = f"""
import pybotaudit, resource, sys, time
def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
def told(done, total):
    print("ready", flush=True)
try:
    pybotaudit.audit([{str(big)!r}] , robots={str(small["robots"])!r}, threads=1, progress=told)
except KeyboardInterrupt:
    before = cpu()
    time.sleep(0.5)
    sys.exit(7 if cpu() - before < 0.1 else 8)
"""
    assert interrupted(script, pause=0) == 7


def test_no_process_is_started(small: dict[str, Path]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pybotaudit.audit(str(small["logs"]), robots=str(small["robots"]))
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime == before
