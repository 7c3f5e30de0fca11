"""What runs on the workers of Spark."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs

from botaudit import _arrow, _botaudit
from botaudit._classifier import Classifier
from botaudit._robots import warc_table

Batches = Iterator[pa.RecordBatch]

_PART = pa.schema(
    [
        ("part", pa.int64()),
        ("tally", pa.binary()),
        ("path", pa.string()),
        ("error", pa.string()),
    ]
)
PACKED = ".botaudit-directory"
"""How the names of packed directories end; Spark would unpack others itself, for each job."""

_ATTEMPTS = 3
_ROWS_OF_BODIES = 256


def url_origins(batches: Batches, url: str) -> Batches:
    """Rows with the origin of their URL."""
    for batch in batches:
        row = batch.column("row")
        origins = _botaudit.origins(_arrow.texts(pc.struct_field(row, url)))
        yield pa.RecordBatch.from_arrays([origins, row], ["origin", "row"])


def robots_origins(batches: Batches) -> Batches:
    """Rows of robots.txt files with canonical origins."""
    for batch in batches:
        given = batch.column("origin")
        origins = _botaudit.origins(_arrow.texts(given))
        if origins.null_count:
            at = origins.is_null().to_pylist().index(True)
            raise ValueError(
                f"robots: origin {given[at].as_py()!r} is not valid; write https://example.com"
            )
        yield batch.set_column(0, "origin", origins)


def judge(
    batches: Batches, classifier: dict[str, Any], options: dict[str, Any], columns: Sequence[str]
) -> Batches:
    """Verdicts on the URL rows of batches in which the robots rows of an origin come first.

    Rows of robots.txt files are kept for the batch, and those of the last origin for the next one.
    """
    judge = Classifier(**classifier)
    kept: pa.Table | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        is_url = pc.equal(batch.column("kind"), 1)
        robots = pa.Table.from_batches([batch.filter(pc.invert(is_url))]).drop_columns("row")
        if kept is not None:
            robots = pa.concat_tables([kept, robots])
        robots = _first_copies(robots)
        urls = batch.filter(is_url)
        if urls.num_rows:
            judge.set_robots(robots)
            rows = pa.RecordBatch.from_struct_array(urls.column("row"))
            yield from _plain(judge.batches(rows, columns=columns, **options))
        last = batch.column("origin")[-1]
        kept = robots.filter(pc.equal(robots["origin"], last)) if last.is_valid else None


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
    classifier: dict[str, Any],
    options: dict[str, Any],
    columns: Sequence[str],
) -> Batches:
    """Verdicts by an archive or a directory that Spark distributed as `file`."""
    judge = Classifier(**classifier, robots=_distributed(file))
    for batch in batches:
        rows = pa.RecordBatch.from_struct_array(batch.column("row"))
        yield from _plain(judge.batches(rows, columns=columns, **options))


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
            tar.extractall(directory, filter="data")
        # Another task may have been faster.
        with contextlib.suppress(OSError):
            os.rename(directory, unpacked)
    return unpacked


def warc_rows(batches: Batches, paths: Sequence[tuple[str, str]]) -> Batches:
    """The robots.txt files of the WARC files with these numbers."""
    for number in _numbers(batches):
        name, location = paths[number]
        with tempfile.TemporaryDirectory() as directory:
            local = location
            if "://" in location:
                local = os.path.join(directory, "warc")
                with _opened(location) as stream, open(local, "wb") as copy:
                    while block := stream.read(1 << 20):
                        copy.write(block)
            table, problems = warc_table(local)
        for problem in problems:
            print(f"warning: {problem.replace(local, name)}", file=sys.stderr)
        yield from table.to_batches(max_chunksize=_ROWS_OF_BODIES)


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


def run_command(arguments: Sequence[str], directory: str, stdin: Any = None) -> None:
    """Run the command line.

    Raises:
        RuntimeError: It failed. The message is that of the command.
    """
    program = [sys.executable, "-m", "botaudit", *arguments]
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
        raise RuntimeError(
            " ".join(errors).removeprefix("error: ") or f"botaudit ended with {run.returncode}"
        )


def _copy(source: Any, pipe: IO[bytes]) -> None:
    # If the command ended early, its exit code and message say why.
    with contextlib.suppress(BrokenPipeError):
        while block := source.read(1 << 20):
            pipe.write(block)
    with contextlib.suppress(BrokenPipeError):
        pipe.close()


def audits(
    batches: Batches, paths: Sequence[tuple[str, str]], robots: tuple[str, str], args: Sequence[str]
) -> Batches:
    """The tallies of the logs with these numbers, or why they cannot be read."""
    for number in _numbers(batches):
        name, location = paths[number]
        for attempt in range(_ATTEMPTS):
            tally, error = None, None
            try:
                tally = _audit(name, location, robots, args)
                break
            except (OSError, RuntimeError, pa.ArrowException) as failure:
                error = f"{type(failure).__name__}: {failure}"
                print(f"warning: {name}, attempt {attempt + 1}: {error}", file=sys.stderr)
        yield _part_row(number, tally, name, error)


def _audit(name: str, location: str, robots: tuple[str, str], args: Sequence[str]) -> bytes:
    robots_name, distributed = robots
    with tempfile.TemporaryDirectory() as directory, _opened(location) as stream:
        link = Path(directory) / robots_name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(_distributed(distributed))
        options = ["--threads", "1", "--robots", robots_name, "--partial", "part.tally"]
        run_command(["audit", *args, *options, "--name", name, "-"], directory, stream)
        return (Path(directory) / "part.tally").read_bytes()


def _part_row(
    part: int, tally: bytes | None, path: str | None, error: str | None
) -> pa.RecordBatch:
    row = {"part": part, "tally": tally, "path": path, "error": error}
    return pa.RecordBatch.from_pylist([row], _PART)


def merge(table: pa.Table) -> pa.Table:
    """The rows of one part as one tally; rows without a tally stay."""
    failed = table.filter(table["tally"].is_null())
    tallies = table["tally"].drop_null().to_pylist()
    part = table["part"][0].as_py()
    if len(tallies) > 1:
        tallies = [merged(tallies)]
    batches = [_part_row(part, tally, None, None) for tally in tallies]
    return pa.concat_tables([pa.Table.from_batches(batches, _PART), failed.cast(_PART)])


def merged(tallies: Sequence[bytes]) -> bytes:
    """The tally of all inputs of these tallies."""
    with tempfile.TemporaryDirectory() as directory:
        names = write_tallies(directory, tallies)
        run_command(["merge", "-q", *names, "-o", "merged.tally"], directory)
        return (Path(directory) / "merged.tally").read_bytes()


def write_tallies(directory: str, tallies: Sequence[bytes]) -> list[str]:
    """Write each tally to a file, and return their names."""
    names = [f"{number}.tally" for number in range(len(tallies))]
    for name, tally in zip(names, tallies, strict=True):
        (Path(directory) / name).write_bytes(tally)
    return names
