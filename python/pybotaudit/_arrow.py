"""Data of any library that speaks Arrow, as batches and columns of pyarrow."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

ROBOTS = pa.schema(
    [
        pa.field("origin", pa.string(), nullable=False),
        pa.field("fetched_at", pa.timestamp("us", "UTC"), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("max_age", pa.int64()),
        pa.field("body", pa.binary()),
    ]
)
"""The columns of a table of robots.txt files."""

ROWS = 1 << 19
"""The most rows that are judged at once: with more rows, an origin occurs more often."""

THREADS_MAX = 1024
"""The most threads, as of the command."""

_INTERFACE = "an object with the Arrow interface, such as a table of pyarrow, polars or DuckDB"


def reader(data: Any, column: str) -> pa.RecordBatchReader:
    """The batches of `data`; if it is a single column, its name is `column`."""
    if isinstance(data, pa.RecordBatchReader):
        return data
    data = _of_python(data, column)
    if isinstance(data, (pa.Array, pa.ChunkedArray)) and not pa.types.is_struct(data.type):
        data = pa.table({column: data})
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return pa.RecordBatchReader.from_stream(data)
        except (pa.ArrowInvalid, TypeError):
            return pa.table({column: pa.chunked_array(data)}).to_reader()
    if hasattr(data, "__arrow_c_array__"):
        array = pa.array(data)
        if pa.types.is_struct(array.type):
            batch = pa.RecordBatch.from_struct_array(array)
        else:
            batch = pa.record_batch({column: array})
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])
    raise TypeError(f"data is of the type {type(data).__name__}; give {_advice(data)}")


def _of_python(data: Any, column: str) -> Any:
    """Lists, dicts, arrays of numpy and datasets as data of pyarrow; other data as it is."""
    if isinstance(data, Mapping):
        return _table(data)
    if isinstance(data, (list, tuple)):
        if data and isinstance(data[0], Mapping):
            return _table(_columns(data))
        return _table({column: data if data else pa.array([], pa.string())})
    numpy: Any = sys.modules.get("numpy")
    if isinstance(data, getattr(numpy, "ndarray", ())):
        return pa.table({column: _of_numpy(data, column)})
    # Batches of a dataset are read when they are judged.
    dataset: Any = sys.modules.get("pyarrow.dataset")
    if dataset is not None and isinstance(data, dataset.Dataset):
        return pa.RecordBatchReader.from_batches(data.schema, data.to_batches())
    if dataset is not None and isinstance(data, dataset.Scanner):
        return data.to_reader()
    return data


def _of_numpy(values: Any, column: str) -> pa.Array:
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, UnicodeError) as error:
        raise unreadable(column, values, error) from error


def _columns(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """The columns of dicts. A row has null where it lacks the name of a column."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            kind = type(row).__name__
            raise TypeError(f"data, row {number} (from 0) is of the type {kind}; give a dict")
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _table(columns: Mapping[str, Any]) -> pa.Table:
    try:
        return pa.table(dict(columns))
    except (pa.ArrowException, UnicodeError) as error:
        for name, values in columns.items():
            if isinstance(values, (list, tuple)) and _odd_row(values):
                raise unreadable(name, values, error) from error
        raise


def unreadable(name: Any, values: Iterable[Any], error: Exception) -> Exception:
    """Why pyarrow refused `values`, with the first row that differs from those before."""
    kind = ValueError if isinstance(error, UnicodeError) else TypeError
    return kind(f"column '{name}' cannot be read: {error}{_odd_row(values)}")


def _odd_row(values: Iterable[Any]) -> str:
    """The first value that is not Unicode or has another type than those before, if any."""
    first: type | None = None
    for row, value in enumerate(values):
        if isinstance(value, str) and _is_broken(value):
            return f"; row {row} (from 0) is not valid Unicode"
        if value is None or isinstance(value, first or ()):
            continue
        if first is not None:
            kind = type(value).__name__
            return (
                f"; row {row} (from 0) is of the type {kind}, the rows before {first.__name__}; "
                "cast it"
            )
        first = type(value)
    return ""


def _is_broken(text: str) -> bool:
    """Whether it has halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _advice(data: Any) -> str:
    """What to give in place of data that cannot be read."""
    module = type(data).__module__.partition(".")[0]
    match module, type(data).__name__:
        case "polars", "LazyFrame":
            return "data.collect()"
        case "pyspark", _:
            return "it to pybotaudit.spark.classify"
        case "dask", _:
            return "data.compute(), or use data.map_partitions(classifier.classify)"
        case "pandas", _:
            return "data.to_series() or data.to_frame()"
        case "builtins", "str" | "bytes":
            return f"[{data!r}]"
    if isinstance(data, Iterable):
        return "list(data)"
    return _INTERFACE


def threads(asked: int) -> int:
    """The number of threads; 0 stands for one for each core."""
    if asked < 0 or asked > THREADS_MAX:
        raise ValueError(f"threads is {asked}; write a number up to {THREADS_MAX}, 0 for all cores")
    if asked:
        return asked
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def packed(batches: list[list[pa.Array]]) -> bytes:
    """Columns of some batches as bytes; of sliced arrays, only what they show."""
    sink = pa.BufferOutputStream()
    for columns in batches:
        batch = pa.RecordBatch.from_arrays(columns, [str(at) for at in range(len(columns))])
        # The types may differ between batches.
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def unpacked(packed: bytes) -> list[list[pa.Array]]:
    """The columns of such batches."""
    source = pa.BufferReader(packed)
    batches: list[list[pa.Array]] = []
    while source.tell() < source.size():
        with pa.ipc.open_stream(source) as stream:
            batches.extend(batch.columns for batch in stream)
    return batches


def of_size(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The same rows, in batches of at most `rows`; small ones are joined."""
    waiting: list[pa.RecordBatch] = []
    count = 0

    def joined() -> list[pa.RecordBatch]:
        if len(waiting) < 2:
            return waiting
        return list(pa.Table.from_batches(waiting).combine_chunks().to_batches())

    for batch in batches:
        if count + batch.num_rows > rows:
            yield from joined()
            waiting, count = [], 0
        if batch.num_rows > rows:
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)
        else:
            waiting.append(batch)
            count += batch.num_rows
    yield from joined()


def position(names: Sequence[Any], name: Any, argument: str) -> int:
    """The index of the column that an argument names."""
    found = [index for index, known in enumerate(names) if known == name]
    if not found:
        known = ", ".join(map(str, names))
        raise ValueError(
            f"the data has no column '{name}'; its columns are {known}; set {argument}="
        )
    if len(found) > 1:
        raise ValueError(f"the data has {len(found)} columns '{name}'; rename all but one")
    return found[0]


def require(schema: pa.Schema, name: str, argument: str) -> pa.DataType:
    """The type of the column that an argument names."""
    return schema.field(position(schema.names, name, argument)).type


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds texts."""
    kind = _value_type(kind)
    tests = (
        pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary,
        pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary,
        pa.types.is_null,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def check_text(schema: pa.Schema, name: str, argument: str) -> None:
    """Refuse a column that is missing or does not hold texts."""
    kind = require(schema, name, argument)
    if not is_text(kind):
        raise TypeError(f"column '{name}' has the type {kind}; cast it to string")


def check_time(schema: pa.Schema, name: str, argument: str) -> None:
    """Refuse a column that is missing or does not hold times."""
    kind = require(schema, name, argument)
    is_time = pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_integer(kind)
    if not is_time and not is_text(kind):
        raise TypeError(
            f"column '{name}' has the type {kind}; cast it to timestamp, to seconds since 1970 as "
            "int64, or to string"
        )


def texts(array: pa.Array) -> pa.Array:
    """The bytes of texts, which are shared where possible."""
    if pa.types.is_dictionary(array.type):
        array = taken(array.dictionary, array.indices)
    kind = array.type
    if pa.types.is_large_string(kind):
        return array.cast(pa.large_binary())
    if pa.types.is_string_view(kind):
        return array.cast(pa.binary_view())
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return array
    return array.cast(pa.binary())


def taken(array: pa.Array, indices: pa.Array) -> pa.Array:
    """The elements at `indices`; pyarrow has no such function for views."""
    kind = array.type
    if pa.types.is_string_view(kind):
        return array.cast(pa.large_string()).take(indices).cast(kind)
    if pa.types.is_binary_view(kind):
        return array.cast(pa.large_binary()).take(indices).cast(kind)
    return array.take(indices)


def times(array: pa.Array) -> pa.Array:
    """Seconds since 1970 as int64; texts stay texts."""
    kind = array.type
    if is_text(kind):
        return texts(array)
    if pa.types.is_integer(kind):
        return array.cast(pa.int64())
    if pa.types.is_timestamp(kind):
        # Rounded down, also before 1970.
        array = pc.floor_temporal(array, unit="second")
        return array.cast(pa.timestamp("s", kind.tz)).cast(pa.int64())
    return array.cast(pa.timestamp("s")).cast(pa.int64())


def robots_columns(data: Any) -> list[list[pa.Array]]:
    """The columns of a table of robots.txt files, for the native half."""
    batches = reader(data, "body")
    check_robots(batches.schema)
    return [robots_arrays(batch) for batch in batches]


def robots_arrays(batch: pa.RecordBatch) -> list[pa.Array]:
    """The columns of some rows of such a table."""
    if "max_age" in batch.schema.names:
        max_age = _whole_seconds(batch.column("max_age"))
    else:
        max_age = pa.nulls(batch.num_rows, pa.int64())
    return [
        texts(batch.column("origin")),
        times(batch.column("fetched_at")),
        texts(batch.column("outcome")),
        max_age,
        texts(batch.column("body")),
    ]


def _whole_seconds(column: pa.Array) -> pa.Array:
    """The column as int64. pandas makes floats of counts of which some are missing."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise ValueError(f"robots, column 'max_age' has no whole seconds: {error}") from error


def check_robots(schema: pa.Schema) -> None:
    """Refuse columns that are not those of a table of robots.txt files."""
    for name in ("origin", "fetched_at", "outcome", "body"):
        if name not in schema.names:
            raise ValueError(
                f"robots has no column '{name}'; it needs origin, fetched_at, outcome and body, "
                "and may have max_age"
            )
    for name in ("origin", "outcome", "body"):
        kind = schema.field(name).type
        if not is_text(kind):
            wanted = "binary" if name == "body" else "string"
            raise TypeError(f"robots, column '{name}' has the type {kind}; cast it to {wanted}")
    kind = schema.field("fetched_at").type
    if not pa.types.is_timestamp(kind):
        raise TypeError(
            f"robots, column 'fetched_at' has the type {kind}; cast it to timestamp[us, tz=UTC]"
        )
    if "max_age" in schema.names:
        kind = schema.field("max_age").type
        tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
        if not any(test(kind) for test in tests):
            raise TypeError(f"robots, column 'max_age' has the type {kind}; cast it to int64")
