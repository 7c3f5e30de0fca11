"""The command line of the wheel is that of the program: output, exit codes, signals, limits."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pybotaudit
import pytest
from conftest import REPOSITORY, command

PROGRAM = shutil.which("pybotaudit", path=Path(sys.executable).parent)


def test_the_script_is_installed() -> None:
    assert PROGRAM is not None
    run = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True)
    assert run.stdout.decode() == f"botaudit {pybotaudit.__version__}\n"


def test_exit_codes_and_streams(tmp_path: Path) -> None:
    robots = tmp_path / "robots.txt"
    robots.write_text("User-agent: *\nDisallow: /x\n")
    url = "https://a.example/x"
    run = command("check", "--robots", robots, "--crawler", "GPTBot", url, exit_code=1)
    assert b"disallow" in run.stdout.lower() and run.stderr == b""
    run = command("nothing", exit_code=2)
    assert run.stdout == b"" and b"Usage: botaudit [OPTIONS] <COMMAND>" in run.stderr
    command("check", "--robots", tmp_path / "nowhere", "--crawler", "GPTBot", url, exit_code=2)
    assert b"Usage: botaudit audit" in command("audit", "--help").stdout


def test_a_report_is_that_of_the_sample(tmp_path: Path) -> None:
    report = tmp_path / "report"
    arguments = ["audit", "--robots", "sample-data/robots", "-o", report, "sample-data/logs"]
    command(*arguments, cwd=REPOSITORY)
    expected = next((REPOSITORY / "sample-data/expected").rglob("violations.csv"))
    assert (report / "violations.csv").read_bytes() == expected.read_bytes()


def test_names_need_not_be_utf8(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    with open(name, "wb") as file:
        file.write(b"User-agent: *\nDisallow: x\n")
    run = subprocess.run(
        [sys.executable, "-m", "pybotaudit", "lint", name], check=False, capture_output=True
    )
    assert run.returncode == 1 and b"caf\xef\xbf\xbd.txt:2: error" in run.stdout


def test_a_closed_pipe_is_not_an_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "pybotaudit", "crawlers"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as run:
        assert run.stdout is not None and run.stderr is not None
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines")
def test_a_run_is_confined(tmp_path: Path) -> None:
    (tmp_path / "urls").write_text("https://a.example/\n")
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow:\n")
    run = command(
        "-v", "classify", "--robots", tmp_path / "robots.txt", "--token", "a", tmp_path / "urls"
    )
    confined, unable = b"note: confined by the kernel", b"confined"
    assert confined in run.stderr or unable in run.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "robots.txt").write_text("")
    out = tmp_path / "out"
    out.mkdir()
    arguments = ["classify", "--robots", tmp_path / "robots.txt", "--token", "a", "-"]
    with subprocess.Popen(
        [sys.executable, "-m", "pybotaudit", *arguments, "-o", out / "verdicts.csv"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as run:
        assert run.stdin is not None and run.stderr is not None
        run.stdin.write(b"https://a.example/\n" * 1_000_000)
        run.stdin.flush()
        deadline = time.monotonic() + 20
        while not list(out.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.02)
        run.send_signal(number)
        said = run.stderr.read()
    assert run.returncode == 130, said
    assert b"unfinished outputs were removed" in said and not list(out.iterdir())
