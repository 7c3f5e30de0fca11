"""Data frames of pandas and polars: what goes in as one comes back as one, with its index.

Only the columns that are judged become Arrow arrays. The others, and the index, stay what they are.
pandas and polars are not imported here: who has a data frame has imported its library.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import pyarrow as pa

from pybotaudit import _arrow, _botaudit

_PANDAS_MAX = 2
"""The last major version whose data frames are read and written."""

Output = Sequence[tuple[Any, int | None]]
"""The names of the columns to write; the index of the input's column, or None for an answer."""


class Frame(Protocol):
    """A data frame of some library."""

    @property
    def names(self) -> list[Any]:
        """The names of its columns."""

    def table(self, named: dict[str, Any]) -> pa.Table:
        """The columns that arguments name, such as `{"url": "link"}`, with their names as texts."""

    def answered(self, output: Output, answers: pa.Table, per_row: int) -> Any:
        """The columns of `output`, with `per_row` answers for each row."""

    def series(self, array: pa.ChunkedArray, name: str) -> Any:
        """One column with an element for each row."""


def frame_of(data: Any, column: str) -> Frame | None:
    """The data frame or series `data`, a series as the column `column`; None for other data."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if _is(data, pandas, "Series"):
        return _Pandas(_checked(pandas, data).to_frame(column))
    if _is(data, pandas, "DataFrame"):
        return _Pandas(_checked(pandas, data))
    if _is(data, polars, "Series"):
        return _Polars(data.alias(column).to_frame())
    if _is(data, polars, "DataFrame"):
        return _Polars(data)
    return None


def text_of(name: Any) -> str:
    """The name of a column as a text, for Arrow; columns of pandas may have others."""
    return name if isinstance(name, str) else repr(name)


def _checked(pandas: Any, data: Any) -> Any:
    """`data` of a version of pandas whose types of columns are known here."""
    if int(pandas.__version__.split(".")[0]) > _PANDAS_MAX:
        raise TypeError(
            f"data frames of pandas {pandas.__version__} are not supported; install 'pandas<3', "
            "or pass pyarrow.Table.from_pandas(frame)"
        )
    return data


def _is(data: Any, module: Any, name: str) -> bool:
    # A module that another thread imports has no such name yet.
    return isinstance(data, getattr(module, name, ()))


def arrow_of(
    data: Any, column: str, columns: Sequence[str] | None
) -> tuple[Any, Sequence[str] | None]:
    """The same data and `columns`, with the index of a frame of pandas as columns.

    They are named as pyarrow names them, so that `to_pandas` makes them an index again.
    """
    frame = frame_of(data, column)
    if not isinstance(frame, _Pandas):
        return data, columns
    table = pa.Table.from_pandas(frame.frame, preserve_index=True)
    if not columns or isinstance(columns, str):
        return table, columns
    index = [answer_free(name) for name in table.column_names[len(frame.names) :]]
    return table, [*columns, *(name for name in index if name not in columns)]


def answer_free(name: Any) -> Any:
    """The name of a column of the input in the output: other than those of answers."""
    return f"input_{name}" if name in _botaudit.COLUMNS else name


def metadata(schema: pa.Schema, renamed: dict[str, str]) -> dict[bytes, bytes] | None:
    """The metadata of `schema` with new names of columns, by which pandas finds its index."""
    found: dict[bytes, bytes] | None = schema.metadata
    if not found or b"pandas" not in found or not renamed:
        return found
    said = json.loads(found[b"pandas"])
    index = said.get("index_columns", [])
    for column in said.get("columns", []):
        name = column.get("field_name") or column.get("name")
        if name in renamed:
            column["field_name"] = renamed[name]
            if name not in index:
                column["name"] = renamed[name]
    said["index_columns"] = [
        renamed.get(name, name) if isinstance(name, str) else name for name in index
    ]
    return {**found, b"pandas": json.dumps(said).encode()}


class _Pandas:
    def __init__(self, frame: Any) -> None:
        self.frame = frame

    @property
    def names(self) -> list[Hashable]:
        return list(self.frame.columns)

    def table(self, named: dict[str, Any]) -> pa.Table:
        # A name that is not a text has no other meaning than in messages.
        return pa.table({text_of(name): self._array(name, of) for of, name in named.items()})

    def _array(self, name: Hashable, argument: str) -> pa.Array:
        names = self.names
        # A column of the index is as good.
        if name not in names and name in self.frame.index.names:
            values = self.frame.index.get_level_values(name)
        else:
            values = self.frame.iloc[:, _arrow.position(names, name, argument)]
        try:
            return pa.array(values, from_pandas=True)
        except (pa.ArrowException, UnicodeError) as error:
            is_null = zip(values, values.isna(), strict=True)
            known = [None if null else value for value, null in is_null]
            raise _arrow.unreadable(name, known, error) from error

    def answered(self, output: Output, answers: pa.Table, per_row: int) -> Any:
        result = self.frame.iloc[:, [index for _, index in output if index is not None]]
        if per_row > 1:
            result = result.iloc[_botaudit.repeated(len(result), per_row).to_numpy()]
        names = [name for name, index in output if index is not None]
        if names != list(result.columns):
            import pandas as pd

            result.columns = pd.Index(names, name=result.columns.name)
        for at, (name, index) in enumerate(output):
            if index is None:
                result.insert(at, name, self._values(answers[name]))
        return result

    @staticmethod
    def _values(array: pa.ChunkedArray) -> Any:
        """Values without an index: they are in the order of the rows."""
        if pa.types.is_integer(array.type):
            import pandas as pd

            return array.to_pandas(types_mapper={array.type: pd.Int32Dtype()}.get).array
        return array.to_pandas().array

    def series(self, array: pa.ChunkedArray, name: str) -> Any:
        series = array.to_pandas()
        series.index, series.name = self.frame.index, name
        return series


class _Polars:
    def __init__(self, frame: Any) -> None:
        self.frame = frame

    @property
    def names(self) -> list[str]:
        return list(self.frame.columns)

    def table(self, named: dict[str, Any]) -> pa.Table:
        for argument, name in named.items():
            _arrow.position(self.names, name, argument)
        names = list(dict.fromkeys(named.values()))
        return pa.RecordBatchReader.from_stream(self.frame.select(names)).read_all()

    def answered(self, output: Output, answers: pa.Table, per_row: int) -> Any:
        import polars as pl

        own = self.frame
        if per_row > 1:
            own = own[pl.Series(_botaudit.repeated(len(own), per_row))]
        found = pl.from_arrow(answers)
        return pl.DataFrame(
            [
                found[name] if index is None else own.to_series(index).alias(name)
                for name, index in output
            ]
        )

    def series(self, array: pa.ChunkedArray, name: str) -> Any:
        import polars as pl

        return pl.Series(name, array)
