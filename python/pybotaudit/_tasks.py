"""What workers of Spark do: verdicts, restrictions, and robots.txt files from WARC files."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs

from pybotaudit import _arrow, _botaudit
from pybotaudit._classifier import Classifier
from pybotaudit._restrictions import restrictions as restrictions_of_table
from pybotaudit._robots import warc_table
from pybotaudit._task_files import ATTEMPTS, Batches, distributed, numbers, opened

Warn = Callable[[list[str]], object]
"""Sends warnings to the driver."""

_PROBLEM = pa.schema([("file", pa.string()), ("record_offset", pa.int64()), ("what", pa.string())])
_WARC_ROW = pa.schema(
    [
        *(field.with_nullable(True) for field in _arrow.ROBOTS),
        ("chain", pa.string()),
        *_PROBLEM,
    ]
)
"""Either a robots.txt file or a problem."""

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
    path = distributed(file)
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


def warc_rows(batches: Batches, paths: Sequence[tuple[str, str]], on_error: str) -> Batches:
    """The robots.txt files of the WARC files with these numbers.

    A record that cannot be read is an error; for "report", it is a row with the name of the file,
    the offset of the record, and why.
    """
    for number in numbers(batches):
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
            with opened(location) as stream, open(local, "wb") as copy:
                while block := stream.read(1 << 20):
                    copy.write(block)
        table, problems = warc_table(local)
    return table, [(offset, why.removeprefix(f"{local}: ")) for offset, why in problems]


def _warc_or_problem(name: str, location: str) -> tuple[pa.Table, list[tuple[int | None, str]]]:
    """The same; a file that cannot be read after some attempts is a problem."""
    for attempt in range(ATTEMPTS):
        try:
            return _warc(name, location)
        except (OSError, ValueError, pa.ArrowException) as failure:
            why = f"{type(failure).__name__}: {failure}"
            print(f"warning: {name}, attempt {attempt + 1}: {why}", file=sys.stderr)
    return _arrow.ROBOTS.append(pa.field("chain", pa.string())).empty_table(), [(None, why)]


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
