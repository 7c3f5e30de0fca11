"""The tables of a report as tables of pyarrow."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from pybotaudit import _botaudit

_INTEGERS = {
    "count", "line number from 1", "line number in that version", "bytes", "minutes", "seconds",
    "HTTP status", "0 to 23",
}  # fmt: skip
_TYPES = {
    "RFC 3339, UTC": pa.timestamp("s", "UTC"),
    "YYYY-MM-DD": pa.date32(),
}
_ESCAPE = re.compile(rb"\\x([0-9A-Fa-f]{2})")


def read_report(directory: str | os.PathLike[str]) -> dict[str, pa.Table]:
    r"""The tables of a report directory, by the name of the file without `.csv`.

    Counts, lines and sizes are int64, times are timestamps in UTC, days are dates, and rates are
    float64. Empty cells are null. Texts are as they were in the log: escapes are undone, but for
    bytes that are not UTF-8, which stay `\xHH`.

    Raises:
        FileNotFoundError: `directory` is not a report, or one of its tables is missing.
        ValueError: A table has columns of another version of botaudit.
    """
    directory = Path(directory)
    if not (directory / "report.tally").exists():
        raise FileNotFoundError(
            f"{directory} is not a report; name the directory that botaudit audit -o wrote"
        )
    made = _files_made(directory / "run.json")
    tables = {}
    for file, columns in _botaudit.report_columns():
        path = directory / file
        if not file.endswith(".csv"):
            continue
        if path.exists():
            tables[path.stem] = _read_table(path, columns)
        elif file in made:
            raise FileNotFoundError(
                f"{path} is missing, though the report was written with it; write the report "
                f"again with botaudit report {directory}"
            )
    return tables


def _files_made(run: Path) -> set[str]:
    """The files of the report, by its `run.json`."""
    if not run.exists():
        return set()
    return set(json.loads(run.read_bytes()).get("files", []))


def _read_table(path: Path, columns: list[tuple[str, str]]) -> pa.Table:
    table = table_of_csv(path, columns)
    if table is None:
        raise ValueError(
            f"{path} has columns of another version of botaudit; draw the report again with "
            f"botaudit report {path.parent}"
        )
    return table


def table_of_csv(
    source: Any, columns: list[tuple[str, str]], *, has_header: bool = True
) -> pa.Table | None:
    """The table in a file or buffer, with types by the units of its columns.

    None if it has other columns.
    """
    names = [name for name, _ in columns]
    options = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        strings_can_be_null=True,
        null_values=[""],
    )
    read = pyarrow.csv.ReadOptions(column_names=None if has_header else names)
    table = pyarrow.csv.read_csv(source, read_options=read, convert_options=options)
    if table.column_names != names:
        return None
    arrays = [_typed(table[name], unit) for name, unit in columns]
    return pa.table(arrays, names=names)


def _typed(column: pa.ChunkedArray, unit: str) -> pa.ChunkedArray:
    if unit in _INTEGERS:
        return column.cast(pa.int64())
    if unit in _TYPES:
        return column.cast(_TYPES[unit])
    if unit.endswith(" decimals"):
        return column.cast(pa.float64())
    is_escaped = pc.or_(pc.starts_with(column, "'"), pc.match_substring(column, "\\x"))
    if not pc.any(is_escaped).as_py():
        return column
    return pa.chunked_array([pa.array(map(_unescaped, column.to_pylist()), pa.string())])


def _unescaped(cell: str | None) -> str | None:
    if cell is None:
        return None
    text = cell.removeprefix("'").encode()
    text = _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), text)
    return text.decode("utf-8", "backslashreplace")
