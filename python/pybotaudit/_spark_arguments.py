"""Checks of the arguments of an audit by Spark, on the driver and before the first task."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pybotaudit import _audit_tasks

_OWN = {
    "--robots": "write robots=",
    "-o": "write output=",
    "--output": "write output=",
    "--name": "reports name logs as in paths",
    "--threads": "each task has one thread",
    "--partial": "the tallies of the tasks are merged",
}
_OF_A_PASS = "it reads all logs twice, and each task reads only its own"
_REFUSED = {
    **_OWN,
    "--fetch": f"{_OF_A_PASS}; fetch before the audit: pybotaudit.fetch(archive=..., from_log=...)",
    "--infer-outages": f"{_OF_A_PASS}; run botaudit audit --collect first, and add --collected",
    "--verify-dns": f"{_OF_A_PASS}; run botaudit audit --collect first, and add --collected",
    "--collect": "it writes no report; run botaudit audit --collect without Spark",
    "--dns-cache": "each task would replace the file",
    "--evidence": "each task would replace the file; run botaudit audit --evidence without Spark",
    "--format": "the result is the report in output; pybotaudit.read_report reads its tables",
    "--fail-on": "tasks know no sums of all logs; read the tables of the report",
    "--fail-on-violations": "tasks know no sums of all logs; read the tables of the report",
    "--help": "run botaudit audit --help without Spark",
    "-h": "run botaudit audit --help without Spark",
}
"""Options that cannot be among `args`, and why."""

_COLLECTED = ("--infer-outages", "--verify-dns")
"""Options whose first pass `--collected` has."""

_NOT_A_TALLY = "is not a tally"


def checked_args(args: Sequence[str], robots: str | os.PathLike[str], log: str) -> list[str]:
    """The options, after a trial of them on no lines under the name of one of the logs.

    Raises:
        ValueError: The command refuses them, or they do not work in tasks.
    """
    if isinstance(args, (str, bytes)):
        raise TypeError(f"args is one text; write args={args.split()!r}")
    found = [os.fspath(arg) for arg in args]
    names = [arg.split("=", 1)[0] for arg in found]
    for name in names:
        if name in _REFUSED and not (name in _COLLECTED and "--collected" in names):
            raise ValueError(f"args has {name}, which does not work here: {_REFUSED[name]}")
    with tempfile.TemporaryDirectory() as directory, open(os.devnull, "rb") as nothing:
        own = ["--threads", "1", "--robots", os.path.abspath(robots), "--partial", "trial.tally"]
        try:
            _audit_tasks.run_command(
                ["audit", *found, *own, f"--name={log}", "-"], directory, nothing
            )
        except RuntimeError as failure:
            raise ValueError(f"args: {failure}") from None
    return found


def checked_output(output: str | os.PathLike[str]) -> str:
    """The directory of the report, which can be written.

    Raises:
        ValueError: Something else stands there, or it cannot be written.
    """
    path = os.path.abspath(output)
    with tempfile.TemporaryDirectory() as directory:
        # The command looks at the destination first.
        empty = Path(directory) / "empty.tally"
        empty.touch()
        try:
            # It must not replace the current directory.
            _audit_tasks.run_command(["report", str(empty), "-o", path], os.getcwd())
        except RuntimeError as failure:
            if not str(failure).startswith(f"{empty}: {_NOT_A_TALLY}"):
                why = re.sub(r"(?<![\w-])-o\b", "output", str(failure))
                raise ValueError(f"output: {why}") from None
    parent = os.path.dirname(path)
    while not os.path.exists(parent):
        parent = os.path.dirname(parent)
    try:
        os.rmdir(tempfile.mkdtemp(dir=parent))
    except OSError as failure:
        raise ValueError(
            f"output: cannot write to {parent}: {failure.strerror}; name another directory"
        ) from None
    return path
