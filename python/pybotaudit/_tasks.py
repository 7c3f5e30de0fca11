"""What runs on the workers of Spark."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs

from pybotaudit import _arrow, _botaudit
from pybotaudit._classifier import Classifier
from pybotaudit._restrictions import restrictions as restrictions_of_table
from pybotaudit._robots import warc_table

Batches = Iterator[pa.RecordBatch]
Warn = Callable[[list[str]], object]
"""Sends warnings to the driver."""

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
PACKED = ".botaudit-directory"
"""How the names of packed directories end; Spark would unpack others itself, for each job."""

_PROBLEM = pa.schema([("file", pa.string()), ("record_offset", pa.int64()), ("what", pa.string())])
_WARC_ROW = pa.schema(
    [
        *(field.with_nullable(True) for field in _arrow.ROBOTS),
        ("chain", pa.string()),
        *_PROBLEM,
    ]
)
"""Either a robots.txt file or a problem."""

_ATTEMPTS = 3
_ROWS_OF_BODIES = 256
_ROWS_OF_RESTRICTIONS = 10_000


def origins(urls: pa.Array) -> pa.Array:
    """The origin of each URL."""
    return _botaudit.origins(_arrow.texts(urls))


def url_origins(batches: Batches, column: str) -> Batches:
    """Rows with the origin of their URL."""
    for batch in batches:
        yield batch.append_column("origin", origins(batch.column(column)))


def robots_origins(batches: Batches, on_error: str | None) -> Batches:
    """Rows of robots.txt files with canonical origins.

    A row that is not valid is an error for "fail", and for None, where the caller has no choice;
    otherwise it stays if its origin is valid.
    """
    advice = "; set on_error='null' or 'report' to judge without such rows" if on_error else ""
    for batch in batches:
        given, times = batch.column("origin"), batch.column("fetched_at")
        if on_error in ("fail", None):
            for row, why in _botaudit.robots_faults(_arrow.robots_arrays(batch)):
                place = f"{given[row].as_py()} at {_utc(times[row])}"
                raise ValueError(f"robots, {place}: {why}{advice}")
        origins = _botaudit.origins(_arrow.texts(given))
        batch = batch.set_column(0, "origin", origins)  # noqa: PLW2901
        yield batch.filter(origins.is_valid()) if origins.null_count else batch


def _utc(time: pa.Scalar) -> str:
    if not time.is_valid:
        return "an unknown time"
    found = _arrow.times(pa.array([time.as_py()], time.type))
    return str(found.cast(pa.timestamp("s"))[0]) + " UTC"


def robots_facts(batches: Batches) -> Batches:
    """Which rows of robots.txt files are not valid, and what the others answer.

    Columns: the origin as given, the canonical one, the time, its second, a digest of the answer,
    and why the row is not valid.
    """
    for batch in batches:
        columns = _arrow.robots_arrays(batch)
        origins = _botaudit.origins(columns[0])
        faults = dict(_botaudit.robots_faults(columns))
        rows = range(batch.num_rows)
        answers = [
            None
            if row in faults
            else _answer(batch.column("outcome")[row], batch.column("body")[row])
            for row in rows
        ]
        given, times = batch.column("origin"), batch.column("fetched_at")
        reasons = pa.array([faults.get(row) for row in rows], pa.string())
        arrays = [given, origins, times, columns[1], pa.array(answers, pa.string()), reasons]
        names = ["given", "origin", "fetched_at", "second", "answer", "what"]
        yield pa.RecordBatch.from_arrays(arrays, names)


def _answer(outcome: pa.Scalar, body: pa.Scalar) -> str:
    """Equal for rows with the same answer. The body counts only if the outcome is a success."""
    text = str(outcome.as_py())
    if not text.startswith("2"):
        return text
    kept = memoryview(body.as_buffer())[: _botaudit.KEPT_BYTES_MAX]
    return f"{text} {hashlib.sha256(kept).hexdigest()}"


def judge(
    batches: Batches,
    classifier: dict[str, Any],
    names: Sequence[str],
    options: dict[str, Any],
    columns: Sequence[str],
    on_error: str,
    warn: Warn,
) -> Batches:
    """Verdicts on the URL rows of batches in which the robots rows of an origin come first.

    Rows of robots.txt files are kept for the batch, and those of the last origin for the next one.
    """
    judge = Classifier(**classifier)
    set_robots = judge.set_robots if on_error == "fail" else judge._set_robots_without_bad_rows
    kept: pa.Table | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        is_url = batch.column("robots").is_null()
        robots = _robots_of(batch.filter(pc.invert(is_url)))
        if kept is not None:
            robots = pa.concat_tables([kept, robots])
        robots = _first_copies(robots)
        urls = batch.filter(is_url)
        if urls.num_rows:
            set_robots(robots)
            yield from _plain(judge.batches(_named(urls, names), columns=columns, **options))
        last = batch.column("origin")[-1]
        kept = robots.filter(pc.equal(robots["origin"], last)) if last.is_valid else None
    warn(judge.warnings())


def _robots_of(rows: pa.RecordBatch) -> pa.Table:
    """The robots.txt files of these rows, and which copy of its origin each one is."""
    robots = pa.Table.from_struct_array(rows.column("robots"))
    for name in ("salt", "origin"):
        robots = robots.add_column(0, name, rows.column(name))
    return robots


def _named(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """The last columns under their names in the data of the user."""
    return pa.RecordBatch.from_arrays(batch.columns[batch.num_columns - len(names) :], list(names))


def _first_copies(robots: pa.Table) -> pa.Table:
    """The rows without the copies that origins of many URLs have, each with another salt."""
    if not robots.num_rows or pc.max(robots["salt"]).as_py() == 0:
        return robots
    first: dict[str, int] = {}
    pairs = zip(robots["origin"].to_pylist(), robots["salt"].to_pylist(), strict=True)
    return robots.filter(
        pa.array([first.setdefault(origin, salt) == salt for origin, salt in pairs])
    )


def judge_by_file(
    batches: Batches,
    file: str,
    known_as: str,
    classifier: dict[str, Any],
    names: Sequence[str],
    options: dict[str, Any],
    columns: Sequence[str],
    warn: Warn,
) -> Batches:
    """Verdicts by an archive or a directory that Spark distributed as `file`."""
    path = _distributed(file)
    judge = Classifier(**classifier, robots=path)
    for batch in batches:
        yield from _plain(judge.batches(_named(batch, names), columns=columns, **options))
    warn([text.replace(path, known_as) for text in judge.warnings()])


def restrictions(batches: Batches, options: dict[str, Any]) -> Batches:
    """The rows of `pybotaudit.restrictions`; the rows of an origin are neighbours."""
    kept: pa.Table | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        robots = pa.Table.from_batches([batch])
        if kept is not None:
            robots = pa.concat_tables([kept, robots])
        # The next batch may have more rows of the last origin.
        is_last = pc.equal(robots["origin"], batch.column("origin")[-1])
        kept = robots.filter(is_last)
        yield from _restrictions(robots.filter(pc.invert(is_last)), options)
    if kept is not None:
        yield from _restrictions(kept, options)


def _restrictions(robots: pa.Table, options: dict[str, Any]) -> Batches:
    if robots.num_rows:
        found = restrictions_of_table(robots, **options)
        yield from in_types_of_spark(found).to_batches(max_chunksize=_ROWS_OF_RESTRICTIONS)


def in_types_of_spark(table: pa.Table) -> pa.Table:
    """The same with strings in place of dictionaries, and with microseconds."""

    def kind(of: pa.DataType) -> pa.DataType:
        if pa.types.is_dictionary(of):
            return pa.string()
        return pa.timestamp("us", of.tz) if pa.types.is_timestamp(of) else of

    fields = [pa.field(field.name, kind(field.type)) for field in table.schema]
    return table.cast(pa.schema(fields))


def _plain(batches: Batches) -> Batches:
    """The same with strings in place of dictionaries, which Spark does not read."""
    for batch in batches:
        fields = [
            pa.field(field.name, pa.string()) if pa.types.is_dictionary(field.type) else field
            for field in batch.schema
        ]
        yield batch.cast(pa.schema(fields))


def _distributed(file: str) -> str:
    """The path of a file that Spark distributed; a directory is packed, and unpacked once."""
    from pyspark import SparkFiles

    path = str(SparkFiles.get(file))
    unpacked = path.removesuffix(PACKED)
    if unpacked != path and not os.path.exists(unpacked):
        directory = tempfile.mkdtemp(dir=os.path.dirname(path))
        with tarfile.open(path) as tar:
            # Python 3.10 and 3.11 have filters only in their later releases.
            if hasattr(tarfile, "data_filter"):
                tar.extractall(directory, filter="data")
            else:
                tar.extractall(directory)
        # Another task may have been faster.
        with contextlib.suppress(OSError):
            os.rename(directory, unpacked)
    return unpacked


def warc_rows(batches: Batches, paths: Sequence[tuple[str, str]], on_error: str) -> Batches:
    """The robots.txt files of the WARC files with these numbers.

    A record that cannot be read is an error; for "report", it is a row with the name of the file,
    the offset of the record, and why.
    """
    for number in _numbers(batches):
        name, location = paths[number]
        if on_error == "fail":
            table, problems = _warc(name, location)
            if problems:
                count = f"{len(problems)} problem{'s' * (len(problems) > 1)}"
                raise RuntimeError(
                    f"{name}: {count}, the first: {problems[0][1]}; set on_error='report' to go on "
                    "without such records, and to get a table of them"
                )
        else:
            table, problems = _warc_or_problem(name, location)
        columns = [*table.columns, *(pa.nulls(len(table), field.type) for field in _PROBLEM)]
        rows = pa.Table.from_arrays(columns, schema=_WARC_ROW)
        yield from rows.to_batches(max_chunksize=_ROWS_OF_BODIES)
        if problems:
            found = [
                {"file": name, "record_offset": offset, "what": why} for offset, why in problems
            ]
            yield pa.RecordBatch.from_pylist(found, _WARC_ROW)


def _warc(name: str, location: str) -> tuple[pa.Table, list[tuple[int | None, str]]]:
    """The robots.txt files of a WARC file, and its problems."""
    with tempfile.TemporaryDirectory() as directory:
        local = location
        if "://" in location:
            local = os.path.join(directory, "warc")
            with _opened(location) as stream, open(local, "wb") as copy:
                while block := stream.read(1 << 20):
                    copy.write(block)
        table, problems = warc_table(local)
    return table, [(offset, why.removeprefix(f"{local}: ")) for offset, why in problems]


def _warc_or_problem(name: str, location: str) -> tuple[pa.Table, list[tuple[int | None, str]]]:
    """The same; a file that cannot be read after some attempts is a problem."""
    for attempt in range(_ATTEMPTS):
        try:
            return _warc(name, location)
        except (OSError, ValueError, pa.ArrowException) as failure:
            why = f"{type(failure).__name__}: {failure}"
            print(f"warning: {name}, attempt {attempt + 1}: {why}", file=sys.stderr)
    return _arrow.ROBOTS.append(pa.field("chain", pa.string())).empty_table(), [(None, why)]


def _numbers(batches: Batches) -> Iterator[int]:
    for batch in batches:
        yield from batch.column("id").to_pylist()


def redirect_targets(batches: Batches) -> Batches:
    """The origin of the robots.txt to which a chain of redirects leads, null for other URLs.

    Further columns: how many redirects it has, and the status of the last one that is followed.
    """
    for batch in batches:
        chains = [chain.split("\n") for chain in batch.column("chain").to_pylist()]
        targets = [_botaudit.robots_txt_origin(chain[-1].split(" ", 1)[1]) for chain in chains]
        statuses = [chain[: _botaudit.HOPS_MAX + 1][-1].split(" ", 1)[0] for chain in chains]
        yield pa.RecordBatch.from_arrays(
            [
                *batch.columns,
                pa.array(targets, pa.string()),
                pa.array([len(chain) for chain in chains], pa.int32()),
                pa.array(statuses, pa.string()),
            ],
            [*batch.schema.names, "target", "hops", "status"],
        )


@contextlib.contextmanager
def _opened(location: str) -> Iterator[IO[bytes] | pa.NativeFile]:
    """The bytes of a file, or of an object in a storage that pyarrow knows."""
    if "://" not in location:
        with open(location, "rb") as file:
            yield file
    else:
        system, path = pyarrow.fs.FileSystem.from_uri(location)
        with system.open_input_stream(path, compression=None) as stream:
            yield stream


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
    for number in _numbers(batches):
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
    for attempt in range(_ATTEMPTS):
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
    with tempfile.TemporaryDirectory() as directory, _opened(location) as stream:
        _link(directory, robots[0], _distributed(robots[1]))
        return _tally([f"--name={name}", "-"], directory, robots, args, stream)


def _audit_group(
    logs: Sequence[Log], robots: tuple[str, str], args: Sequence[str]
) -> tuple[bytes, Said]:
    with tempfile.TemporaryDirectory() as directory:
        _link(directory, robots[0], _distributed(robots[1]))
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
            tally, said = merged(tallies)
        except RuntimeError as failure:
            batches.append(_part_row(part, error=str(failure)))
        else:
            batches.append(_part_row(part, tally))
            if said.warnings or said.is_incomplete:
                batches.append(_part_row(part, said=said))
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
