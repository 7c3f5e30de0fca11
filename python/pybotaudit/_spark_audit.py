"""Audits of many logs by Apache Spark."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pybotaudit import _audit_tasks, _botaudit
from pybotaudit._spark_arguments import checked_args, checked_output
from pybotaudit._spark_paths import distribute, locations, order, warn
from pybotaudit._spark_robots import check_on_error
from pybotaudit._spark_tasks import group_task, parallelism, task

_ROBOTS_ERRORS_MAX = 5
"""The most errors in robots.txt files that an audit names, as the command does."""


_FAN_IN = 32
"""How many tallies one task merges."""

_GROUP_BYTES_MAX = 64 << 20
_GROUP_BYTES_MIN = 1 << 20
_GROUP_LOGS_MAX = 500
"""The logs of one task."""


_PARTS = (
    "part bigint, tally binary, path string, error string, incomplete boolean, "
    "warnings array<string>"
)


_PART_NAMES = [column.split(" ")[0] for column in _PARTS.split(", ")]


class AuditProblems(dict[str, str]):
    """The logs that could not be read, or not to their end, and why; and what else there is to say.

    Empty if all logs were read.
    """

    unjudged: str | None = None
    """Why no request could be judged, or too few; None if the audit is as it should be."""

    warnings: tuple[str, ...] = ()
    """All warnings of the audit, each once."""


def audit(
    spark: SparkSession,
    paths: Iterable[str | os.PathLike[str]],
    *,
    robots: str | os.PathLike[str],
    output: str | os.PathLike[str],
    args: Sequence[str] = (),
    on_error: str = "fail",
) -> AuditProblems:
    """Audit logs in tasks, and write one report on the driver.

    The report equals that of one `botaudit audit` of all logs, byte for byte except `made_at_utc`.
    Logs whose sizes the driver can see share tasks of up to 64 MiB; others have their own. A task
    that runs twice counts once. A log with several names (`./a.gz`, links) counts once, with a
    warning. Each warning of the command becomes a Python warning on the driver, once.

    Args:
        spark: The session.
        paths: n logs: paths that all workers can read, or URIs that pyarrow knows. Reports name
            them as they are written here. Directories and patterns are refused.
        robots: A robots.txt file, directory or archive of the driver, which Spark copies to the
            workers. Reports name it as it is written here, an absolute path by its last component.
        output: The report directory to write.
        args: More options of `botaudit audit`, such as `["--ip", "mask"]`. Files among them must be
            absolute paths that the driver and all workers can read. They are tried on the driver
            before the first task. Options that need all logs at once are refused, with the reason.
        on_error: What to do where the command would end with exit code 3, and with a log that
            cannot be read after three attempts. "fail" raises an error and writes nothing. "report"
            writes the report: it names such logs as damaged inputs, and says if nothing could be
            judged. The result says the same.

    Returns:
        The logs that could not be read, or not to their end, and why; `.unjudged` says why nothing
        could be judged, and `.warnings` has all warnings. For "fail" it has no logs, and
        `.unjudged` is None.

    Raises:
        RuntimeError: A log could not be audited, or is damaged; nothing could be judged; or, also
            for "report", no log could be audited.
        ValueError: An argument is not valid, or `output` cannot be written. No task has run.
        OSError: `robots` cannot be read.
    """
    check_on_error(on_error)
    logs, repeated = locations(paths)
    name = os.fspath(robots)
    name = os.path.basename(os.path.normpath(name)) if os.path.isabs(name) else name
    if ".." in Path(name).parts:
        raise ValueError(f"robots '{name}' has '..'; write an absolute path")
    if not os.path.exists(robots):
        raise FileNotFoundError(
            f"{os.path.abspath(robots)} does not exist; name a file or directory of the driver"
        )
    args = checked_args(args, robots, logs[0][0])
    report = checked_output(output)
    groups = _groups(logs, name, parallelism(spark))
    audits = task(
        "_audit_tasks.audits", groups=groups, robots=(name, distribute(spark, robots)), args=args
    )
    parts = spark.range(0, len(groups), 1, len(groups)).mapInArrow(audits, _PARTS)
    count = len(groups)
    while count > 1:
        group = F.floor(F.col("part") / _FAN_IN).cast("bigint").alias("part")
        count = -(-count // _FAN_IN)
        parts = parts.select(group, *_PART_NAMES[1:]).repartition(count, "part")
        parts = parts.groupBy("part").applyInArrow(group_task("_audit_tasks.merge"), _PARTS)
    rows = sorted(parts.collect(), key=lambda row: row["path"] or "")
    failures = {row["path"]: row["error"] for row in rows if row["error"] is not None}
    if (unmerged := failures.pop(None, None)) is not None:
        raise RuntimeError(f"{unmerged}; nothing was written")
    tallies = [bytes(row["tally"]) for row in rows if row["tally"] is not None]
    if failures and (on_error == "fail" or not tallies):
        path, why = min(failures.items())
        advice = "set on_error='report' to write a report that names it" if tallies else ""
        raise RuntimeError(
            f"{len(failures)} of {len(logs)} logs could not be audited, and nothing was written; "
            f"the first is {path}: {why}" + (f"; {advice}" if advice else "")
        )
    tallies += [_botaudit.tally_of_unread(tallies[0], path, why) for path, why in failures.items()]
    found = AuditProblems()
    with tempfile.TemporaryDirectory() as directory:
        names = _audit_tasks.write_tallies(directory, tallies)
        # What the report says decides whether it is written.
        first = os.path.join(directory, "report") if on_error == "fail" else report
        said = _audit_tasks.run_command(["report", *names, "-o", first], directory)
        run = json.loads((Path(first) / "run.json").read_bytes())
        damaged = {log["name"]: log["damage"] for log in run["inputs"] if log["damage"]}
        # Other reasons for exit code 3 are among the warnings about a log.
        damaged.update(
            (row["path"], " ".join(row["warnings"]))
            for row in rows
            if row["incomplete"] and row["path"] is not None and row["path"] not in damaged
        )
        found.update(damaged)
        if "--allow-unjudged" not in args:
            found.unjudged = run.get("nothing_judged") or run.get("too_little_judged")
        of_tasks = [warning for row in rows for warning in row["warnings"]]
        of_robots = _robots_errors(run["robots"], name, robots)
        found.warnings = tuple(dict.fromkeys([*repeated, *of_tasks, *said.warnings, *of_robots]))
        warn(found.warnings)
        if on_error == "fail":
            _refuse_incomplete(found, len(logs))
            _audit_tasks.run_command(["report", *names, "-o", report], directory)
    return found


def _groups(
    logs: Sequence[tuple[str, str]], robots: str, parallelism: int
) -> list[list[tuple[str, str]]]:
    """The logs of each task, about in the order of the command, so that copies meet.

    A process costs more than a small log. A log whose size is not known here has its own task.
    """
    sizes = {name: _size(name, location, robots) for name, location in logs}
    known = [size for size in sizes.values() if size is not None]
    most = min(_GROUP_BYTES_MAX, max(_GROUP_BYTES_MIN, -(-sum(known) // parallelism)))
    groups: list[list[tuple[str, str]]] = []
    open_group: list[tuple[str, str]] = []
    held = 0
    for log in sorted(logs, key=lambda log: order(log[0])):
        size = sizes[log[0]]
        if size is None:
            groups.append([log])
            continue
        if open_group and (held + size > most or len(open_group) == _GROUP_LOGS_MAX):
            open_group, held = [], 0
        if not open_group:
            groups.append(open_group)
        open_group.append(log)
        held += size
    return groups


def _size(name: str, location: str, robots: str) -> int | None:
    """The bytes of a log that can be read beside others, under its name in a directory."""
    parts, of_robots = (Path(path).parts for path in (name, robots))
    # The link of one must not lie in that of the other.
    meets = not os.path.isabs(name) and parts[: len(of_robots)] == of_robots[: len(parts)]
    if "://" in location or ".." in parts or name == "-" or meets:
        return None
    try:
        found = os.stat(location)
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _robots_errors(
    used: Iterable[dict[str, Any]], name: str, robots: str | os.PathLike[str]
) -> list[str]:
    """What the command says about errors in the lines of the robots.txt files of an audit.

    Reports know `robots` as `name`. The files of an archive were not written by the user.
    """
    errors: list[tuple[str, str]] = []
    known = set()
    for robots_txt in used:
        source, digest = robots_txt["source"], robots_txt["digest"]
        path = Path(robots)
        if source != name:
            path /= os.path.relpath(source, name)
        if digest in known or not path.is_file():
            continue
        known.add(digest)
        with open(path, "rb") as file:
            body = file.read(_botaudit.KEPT_BYTES_MAX)
        errors += [
            (source, f"{source}:{line}: {message} [{code}]")
            for line, message, code in _botaudit.line_errors(body)
        ]
    said = [text for _, text in errors[:_ROBOTS_ERRORS_MAX]]
    if len(errors) > len(said):
        more = len(errors) - len(said)
        shown = name if os.path.isdir(robots) else errors[len(said)][0]
        said.append(f"{more} more robots.txt errors; botaudit lint {shown} shows all")
    return said


def _refuse_incomplete(found: AuditProblems, logs: int) -> None:
    """Raise an error for what gives the command the exit code 3."""
    reasons = []
    if found:
        path, why = min(found.items())
        reasons.append(f"{len(found)} of {logs} logs are damaged; the first is {path}: {why}")
    if found.unjudged is not None:
        reasons.append(found.unjudged)
    if reasons:
        raise RuntimeError(
            f"{'; '.join(reasons)}; nothing was written; set on_error='report' to write a report "
            "that says so"
        )
