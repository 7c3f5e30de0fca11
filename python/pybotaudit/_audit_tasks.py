"""Audits on the workers of Spark: groups of logs to tallies, and these to one."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa

from pybotaudit._task_files import ATTEMPTS, Batches, distributed, numbers, opened

_PART = pa.schema(
    [
        ("part", pa.int64()),
        ("tally", pa.binary()),
        ("path", pa.string()),
        ("error", pa.string()),
        ("incomplete", pa.bool_()),
        ("warnings", pa.list_(pa.string())),
    ]
)
"""Either a tally, or what there is to say about a log (`path`) or about a step of the audit."""


class RefusedError(RuntimeError):
    """The command ended by itself, so another attempt would end as this one."""


class Said(NamedTuple):
    """What the command said, apart from its result."""

    warnings: list[str]
    is_incomplete: bool = False
    """Exit code 3: an input is damaged, or nothing could be judged."""


def run_command(arguments: Sequence[str], directory: str, stdin: Any = None) -> Said:
    """Run the command line.

    Raises:
        RefusedError: It failed. The message is that of the command.
        RuntimeError: It was stopped.
    """
    program = [sys.executable, "-m", "pybotaudit", *arguments]
    with tempfile.TemporaryFile() as said:
        run = subprocess.Popen(
            program,
            cwd=directory,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        with run:
            if stdin is not None and run.stdin is not None:
                _copy(stdin, run.stdin)
        said.seek(0)
        lines = said.read().decode("utf-8", "replace").strip().splitlines()
    # 1 and 3: violations or damaged inputs, which the result names.
    if run.returncode not in (0, 1, 3):
        errors = [line for line in lines if line.startswith("error: ")] or lines[-1:]
        kind = RefusedError if run.returncode == 2 else RuntimeError
        raise kind(
            " ".join(errors).removeprefix("error: ") or f"botaudit ended with {run.returncode}"
        )
    label = "warning: "
    warnings = [line.removeprefix(label) for line in lines if line.startswith(label)]
    return Said(warnings, run.returncode == 3)


def _copy(source: Any, pipe: IO[bytes]) -> None:
    # If the command ended early, its exit code and message say why.
    with contextlib.suppress(BrokenPipeError):
        while block := source.read(1 << 20):
            pipe.write(block)
    with contextlib.suppress(BrokenPipeError):
        pipe.close()


Log = tuple[str, str]
"""The name of a log in reports, and where workers find it."""


def audits(
    batches: Batches, groups: Sequence[Sequence[Log]], robots: tuple[str, str], args: Sequence[str]
) -> Batches:
    """The tallies of the groups of logs with these numbers, and what there is to say about each."""
    for number in numbers(batches):
        yield from _audited(number, groups[number], robots, args)


def _audited(
    part: int, logs: Sequence[Log], robots: tuple[str, str], args: Sequence[str]
) -> Batches:
    """The tally of the logs of a part; of each half alone if there is a fault in any of them.

    So a fault is told of the log that has it.
    """
    if len(logs) == 1:
        yield from _audited_alone(part, *logs[0], robots, args)
        return
    try:
        tally, said = _audit_group(logs, robots, args)
        is_whole = not said.is_incomplete
    except (OSError, RuntimeError) as failure:
        is_whole = False
        print(f"warning: {len(logs)} logs from {logs[0][0]}: {failure}", file=sys.stderr)
    if is_whole:
        yield _part_row(part, tally)
        if said.warnings:
            yield _part_row(part, said=said)
        return
    half = len(logs) // 2
    for some in (logs[:half], logs[half:]):
        yield from _audited(part, some, robots, args)


def _audited_alone(
    part: int, name: str, location: str, robots: tuple[str, str], args: Sequence[str]
) -> Batches:
    for attempt in range(ATTEMPTS):
        try:
            tally, said = _audit(name, location, robots, args)
        except (OSError, RuntimeError, pa.ArrowException) as failure:
            error = f"{type(failure).__name__}: {failure}"
            print(f"warning: {name}, attempt {attempt + 1}: {error}", file=sys.stderr)
            if isinstance(failure, RefusedError):
                error = str(failure)
                break
        else:
            yield _part_row(part, tally)
            if said.warnings or said.is_incomplete:
                yield _part_row(part, path=name, said=said)
            return
    yield _part_row(part, path=name, error=error)


def _audit(
    name: str, location: str, robots: tuple[str, str], args: Sequence[str]
) -> tuple[bytes, Said]:
    with tempfile.TemporaryDirectory() as directory, opened(location) as stream:
        _link(directory, robots[0], distributed(robots[1]))
        return _tally([f"--name={name}", "-"], directory, robots, args, stream)


def _audit_group(
    logs: Sequence[Log], robots: tuple[str, str], args: Sequence[str]
) -> tuple[bytes, Said]:
    with tempfile.TemporaryDirectory() as directory:
        _link(directory, robots[0], distributed(robots[1]))
        for name, location in logs:
            if not os.path.isabs(name):
                _link(directory, name, location)
        return _tally(["--", *(name for name, _ in logs)], directory, robots, args)


def _link(directory: str, name: str, location: str) -> None:
    """A link in a directory, by which the command knows a file under its name."""
    link = Path(directory) / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(location)


def _tally(
    logs: Sequence[str],
    directory: str,
    robots: tuple[str, str],
    args: Sequence[str],
    stdin: Any = None,
) -> tuple[bytes, Said]:
    with tempfile.TemporaryDirectory() as other:
        path = Path(other) / "part.tally"
        options = ["--threads", "1", "--robots", robots[0], "--partial", str(path)]
        said = run_command(["audit", *args, *options, *logs], directory, stdin)
        return path.read_bytes(), said


def _part_row(
    part: int,
    tally: bytes | None = None,
    *,
    path: str | None = None,
    error: str | None = None,
    said: Said | None = None,
) -> pa.RecordBatch:
    warnings, is_incomplete = said or Said([])
    row = {
        "part": part,
        "tally": tally,
        "path": path,
        "error": error,
        "incomplete": is_incomplete,
        "warnings": warnings,
    }
    return pa.RecordBatch.from_pylist([row], _PART)


def merge(table: pa.Table) -> pa.Table:
    """The rows of one part as one tally; rows without a tally stay."""
    others = table.filter(table["tally"].is_null())
    tallies = table["tally"].drop_null().to_pylist()
    part = table["part"][0].as_py()
    batches = []
    if len(tallies) > 1:
        # What cannot be merged now cannot be merged later: it is no reason to try again.
        try:
            # The report says what is wrong with the whole; a part may lack what the others have.
            tally, _ = merged(tallies)
        except RuntimeError as failure:
            batches.append(_part_row(part, error=str(failure)))
        else:
            batches.append(_part_row(part, tally))
    else:
        batches.extend(_part_row(part, tally) for tally in tallies)
    return pa.concat_tables([pa.Table.from_batches(batches, _PART), others.cast(_PART)])


def merged(tallies: Sequence[bytes]) -> tuple[bytes, Said]:
    """The tally of all inputs of these tallies."""
    with tempfile.TemporaryDirectory() as directory:
        names = write_tallies(directory, tallies)
        said = run_command(["merge", "-q", *names, "-o", "merged.tally"], directory)
        return (Path(directory) / "merged.tally").read_bytes(), said


def write_tallies(directory: str, tallies: Sequence[bytes]) -> list[str]:
    """Write each tally to a file, and return their names."""
    names = [f"{number}.tally" for number in range(len(tallies))]
    for name, tally in zip(names, tallies, strict=True):
        (Path(directory) / name).write_bytes(tally)
    return names
