"""Verdicts on columns of URLs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from botaudit import _arrow, _botaudit, _frames

_INT_COLUMN = "rule_line"


TEXT = pa.dictionary(pa.int32(), pa.string())
"""The type of answers that are texts: each different text is stored once."""


def answer_field(name: str) -> pa.Field:
    """The field of an answer."""
    return pa.field(name, pa.int32() if name == _INT_COLUMN else TEXT)


class _Plan(NamedTuple):
    """What a call reads and writes."""

    url: str
    crawler: str | None
    """The column of crawlers or user agents."""
    time: str | None
    answers: list[str]
    """The answers to compute, in their own order."""
    output: list[tuple[str, int | None]]
    """The names of the columns to write; the index of the input's column, or None for an answer."""
    schema: pa.Schema
    is_user_agent: bool = False


class Classifier:
    """Classifies URLs: which crawlers may request them.

    Args:
        crawlers: Names of known crawlers, such as `["GPTBot"]`.
        tokens: Product tokens of any other crawlers. A version after one is ignored: `GPTBot/1.2`.
        user_agent: A whole User-Agent header, or several. One that the registry does not know
            counts by its first product: `FooBot` of `FooBot/1.0 (+http://foo.example)` and of
            `Mozilla/5.0 (compatible; FooBot/1.0)`.
            Without `crawlers`, `tokens` and `user_agent`, each row names its crawler.
        robots: A directory with a robots.txt for each host, an archive, one robots.txt for all
            origins, or a table with the columns `origin` (string), `fetched_at` (timestamp),
            `outcome` (string: a status such as "200", or a failure such as "timeout"), `body`
            (binary) and, if wanted, `max_age` (int64, seconds). Several rows for an origin are its
            history. Without it, nothing is known about any origin.
        dialect: How percent-encodings are compared: "google" or "rfc9309".
        memory: The approximate bytes for robots.txt files, compiled rules and origins. A table
            stays in memory as well.

    Threads can share a classifier; each call uses one thread, and other threads of Python run
    meanwhile.

    Raises:
        ValueError: An unknown crawler, a token that is not a product token, or a row of `robots`
            that is not valid.
        TypeError: `robots` is neither a path nor a table, or a column has another type.
        OSError: `robots` cannot be read.
    """

    def __init__(
        self,
        crawlers: Sequence[str] = (),
        tokens: Sequence[str] = (),
        *,
        user_agent: str | bytes | Sequence[str | bytes] = (),
        robots: str | os.PathLike[str] | Any = None,
        dialect: str = "google",
        memory: int = 256 << 20,
    ) -> None:
        """See the class."""
        for name, value in (("crawlers", crawlers), ("tokens", tokens)):
            if isinstance(value, (str, bytes)):
                raise TypeError(f"{name} is one text; write {name}=[{value!r}]")
        headers = [user_agent] if isinstance(user_agent, (str, bytes)) else user_agent
        sent = [header.encode() if isinstance(header, str) else header for header in headers]
        self._native = _botaudit.Classifier(list(crawlers), list(tokens), sent, dialect, memory)
        if robots is not None:
            self.set_robots(robots)

    def set_robots(self, robots: str | os.PathLike[str] | Any) -> None:
        """Judge by other robots.txt files from now on. Compiled rules are kept."""
        if isinstance(robots, (str, os.PathLike)):
            self._native.set_path(robots)
        else:
            self._native.set_table(_arrow.robots_columns(robots), False)

    def set_robots_without_bad_rows(self, robots: Any) -> None:
        """As `set_robots` by a table; nothing is known about origins with an invalid row."""
        self._native.set_table(_arrow.robots_columns(robots), True)

    def warnings(self) -> list[str]:
        """Sentences about robots.txt files that could not be read, or are something else."""
        return self._native.warnings()

    def classify(
        self,
        data: Any,
        url: str = "url",
        *,
        crawler_column: str | None = None,
        user_agent_column: str | None = None,
        time_column: str | None = None,
        columns: Sequence[str] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Any:
        """The rows of `data` with the answers.

        Args:
            data: n rows of a data frame of pandas or polars, or of any object with the Arrow
                interface (pyarrow, relations of DuckDB), or a single column of URLs.
            url: The column of URLs: string, large_string, string_view, binary or dictionary. Null
                stays null in all answers.
            crawler_column: The column with the name of each row's crawler.
            user_agent_column: The column with the User-Agent header of each row.
            time_column: The column with the time to judge each row at: timestamp (UTC if it has no
                zone), date, seconds since 1970, or text. By default, the newest robots.txt counts.
            columns: Names of the columns to return, from the input and from the answers. Fewer
                columns take less time.
            progress: Is called with the number of rows judged so far, after each batch.

        Returns:
            n rows for each crawler: all crawlers of the first row, then those of the second row. It
            is a data frame of pandas for a data frame or series of pandas, with its index (repeated
            for several crawlers), one of polars for those of polars, and otherwise a table of
            pyarrow. It has the columns of the input, and then the answers `origin`, `crawler`,
            `verdict`, `reason`, `rule_line` (int32, from 1), `directive`, `pattern`, `group` and
            `snapshot`. All but `rule_line` are dictionaries of strings (categories for pandas and
            polars), which hold each different text once; `column.cast("string")` gives plain
            strings. A column of the input with the name of an answer is renamed: `input_origin`.

        Raises:
            ValueError: A column is missing or twice there, or `columns` has an unknown name.
            TypeError: A column has a type that cannot be read.
        """
        frame = _frames.frame_of(data, url)
        if frame is not None:
            named = {
                "url": url,
                "crawler_column": crawler_column,
                "user_agent_column": user_agent_column,
                "time_column": time_column,
            }
            return self._classify_frame(frame, named, columns, progress)
        reader, plan = self._plan(
            data, url, crawler_column, user_agent_column, time_column, columns
        )
        texts = _botaudit.AnswerTexts()
        table = pa.Table.from_batches(
            self._answered(reader, plan, progress, lambda: texts), plan.schema
        )
        columns_of_table = [
            _with_last_dictionary(column) if index is None else column
            for column, (_, index) in zip(table.columns, plan.output, strict=True)
        ]
        return pa.Table.from_arrays(columns_of_table, schema=plan.schema)

    def _classify_frame(
        self,
        frame: _frames.Frame,
        named: dict[str, Any],
        columns: Sequence[str] | None,
        progress: Callable[[int], object] | None,
    ) -> Any:
        """The answers for the columns that arguments name, beside the columns of `frame`."""
        self.check_crawlers(named["crawler_column"], named["user_agent_column"])
        named = {argument: name for argument, name in named.items() if name is not None}
        table = frame.table(named)
        texts = {argument: _frames.text_of(name) for argument, name in named.items()}
        output = _chosen(output_columns(frame.names), columns)
        wanted = {name for name, index in output if index is None}
        answers = [name for name in _botaudit.COLUMNS if name in wanted] or _botaudit.COLUMNS[:1]
        found = self.classify(table, **texts, columns=answers, progress=progress)
        return frame.answered(output, found, self._native.per_row)

    def batches(
        self,
        data: Any,
        url: str = "url",
        *,
        crawler_column: str | None = None,
        user_agent_column: str | None = None,
        time_column: str | None = None,
        columns: Sequence[str] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> pa.RecordBatchReader:
        """As `classify`, but gives one batch after the other, for data larger than memory.

        The batches are those of pyarrow. For data of pandas they have the index as columns, so that
        `to_pandas` of each batch has the index of its rows.
        """
        data, columns = _frames.arrow_of(data, url, columns)
        reader, plan = self._plan(
            data, url, crawler_column, user_agent_column, time_column, columns
        )
        rows = self._answered(reader, plan, progress, _botaudit.AnswerTexts)
        return pa.RecordBatchReader.from_batches(plan.schema, rows)

    def check_crawlers(self, crawler_column: str | None, user_agent_column: str | None) -> None:
        """Refuse columns of crawlers that do not fit this classifier."""
        if crawler_column is not None and user_agent_column is not None:
            raise ValueError("crawler_column and user_agent_column exclude each other; drop one")
        is_named = crawler_column is not None or user_agent_column is not None
        if self._native.is_per_row and not is_named:
            raise ValueError(
                "no crawler is given; set crawlers=, tokens= or user_agent= in the constructor, or "
                "crawler_column= or user_agent_column= here"
            )
        if is_named and not self._native.is_per_row:
            raise ValueError(
                "this classifier has crawlers of its own; make one without crawlers, tokens and "
                "user_agent for crawler_column= and user_agent_column="
            )

    def _plan(
        self,
        data: Any,
        url: str,
        crawler: str | None,
        user_agent: str | None,
        time: str | None,
        columns: Sequence[str] | None,
    ) -> tuple[pa.RecordBatchReader, _Plan]:
        """The batches to judge, and how."""
        reader = _arrow.reader(data, url)
        self.check_crawlers(crawler, user_agent)
        plan = _plan(reader.schema, url, crawler or user_agent, time, columns)
        return reader, plan._replace(is_user_agent=user_agent is not None)

    def _answered(
        self,
        reader: pa.RecordBatchReader,
        plan: _Plan,
        progress: Callable[[int], object] | None,
        texts: Callable[[], _botaudit.AnswerTexts],
    ) -> Iterator[pa.RecordBatch]:
        """The batches with their answers; `texts` gives the texts that a batch continues."""
        done = 0
        for batch in _arrow.of_size(reader, max(1, _arrow.ROWS // self._native.per_row)):
            yield self._judged(batch, plan, texts())
            done += batch.num_rows
            if progress is not None:
                progress(done)

    def _judged(
        self, batch: pa.RecordBatch, plan: _Plan, texts: _botaudit.AnswerTexts
    ) -> pa.RecordBatch:
        crawler = None if plan.crawler is None else _arrow.texts(batch.column(plan.crawler))
        time = None if plan.time is None else _arrow.times(batch.column(plan.time))
        url = _arrow.texts(batch.column(plan.url))
        found = self._native.classify(url, crawler, plan.is_user_agent, time, plan.answers, texts)
        answers = dict(zip(plan.answers, found, strict=True))
        own = batch.columns
        if self._native.per_row > 1:
            rows = _botaudit.repeated(batch.num_rows, self._native.per_row)
            own = [_arrow.taken(column, rows) for column in own]
        arrays = [answers[name] if index is None else own[index] for name, index in plan.output]
        return pa.RecordBatch.from_arrays(arrays, schema=plan.schema)


def _with_last_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same texts with one dictionary: that of each batch continues the one before."""
    if not pa.types.is_dictionary(column.type) or column.num_chunks < 2:
        return column
    texts = column.chunk(column.num_chunks - 1).dictionary
    chunks = (
        pa.DictionaryArray.from_arrays(chunk.indices, texts, safe=False) for chunk in column.chunks
    )
    return pa.chunked_array(chunks)


def _plan(
    schema: pa.Schema,
    url: str,
    crawler: str | None,
    time: str | None,
    columns: Sequence[str] | None,
) -> _Plan:
    _arrow.check_text(schema, url, "url")
    if crawler is not None:
        _arrow.check_text(schema, crawler, "crawler_column or user_agent_column")
    if time is not None:
        _arrow.check_time(schema, time, "time_column")
    all_columns = output_columns(schema.names)
    renamed = {
        schema.names[index]: name
        for name, index in all_columns
        if index is not None and name != schema.names[index]
    }
    all_columns = _chosen(all_columns, columns)
    wanted = {name for name, index in all_columns if index is None}
    answers = [name for name in _botaudit.COLUMNS if name in wanted]
    fields = [
        answer_field(name) if index is None else schema.field(index).with_name(name)
        for name, index in all_columns
    ]
    found = pa.schema(fields, _frames.metadata(schema, renamed))
    return _Plan(url, crawler, time, answers, all_columns, found)


def _chosen(
    all_columns: list[tuple[str, int | None]], columns: Sequence[str] | None
) -> list[tuple[str, int | None]]:
    """The columns with these names."""
    if columns is None:
        return all_columns
    if isinstance(columns, str):
        raise TypeError(f"columns is one text; write columns=[{columns!r}]")
    if not columns:
        raise ValueError("columns is empty; name at least one column")
    by_name = dict(all_columns)
    for name in columns:
        if name not in by_name:
            names = ", ".join(map(str, by_name))
            raise ValueError(f"columns has the unknown name '{name}'; the columns are {names}")
    return [(name, by_name[name]) for name in columns]


def output_columns(names: Sequence[str]) -> list[tuple[str, int | None]]:
    """The columns of an input with these names, with their indexes, and then the answers."""
    renamed = list(map(_frames.answer_free, names))
    if len(set(renamed)) < len(renamed):
        twice = next(name for name in renamed if renamed.count(name) > 1)
        raise ValueError(f"the data has two columns '{twice}'; rename one")
    own: list[tuple[str, int | None]] = [(name, index) for index, name in enumerate(renamed)]
    return own + [(name, None) for name in _botaudit.COLUMNS]
