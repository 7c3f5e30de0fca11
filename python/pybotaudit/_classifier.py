"""Verdicts on columns of URLs."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import pyarrow as pa

from pybotaudit import _arrow, _botaudit, _frames
from pybotaudit._name_tables import named_crawlers
from pybotaudit._progress import Asked, Progress

_INT_COLUMN = "rule_line"


TEXT = pa.dictionary(pa.int32(), pa.string())
"""The type of answers that are texts: each different text is stored once."""


def answer_field(name: str) -> pa.Field:
    """The field of an answer."""
    return pa.field(name, pa.int32() if name == _INT_COLUMN else TEXT)


_ROWS_OF_THREAD = 1 << 16
"""The rows of a batch where several threads judge, at least: enough that an origin occurs often."""

_BATCHES_OF_THREAD = 4
"""The batches of each thread, if they have enough rows: so a late thread makes less difference."""

_Robots = str | tuple[list[list[pa.Array]], bool] | None
"""Robots.txt files: a path, or the columns of a table and whether bad rows are forgotten."""


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
        user_agent: A whole User-Agent header, or several. The names in it choose the group:
            `FooBot` in `FooBot/1.0 (+http://foo.example)` and in
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

    Threads can share a classifier; a call uses `threads` of its own, and other threads of Python
    run meanwhile. It can be pickled: a directory, file or archive by its absolute path, a table
    with its rows.

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
        named = named_crawlers(crawlers, tokens, user_agent)
        self._arguments = (*named, dialect, memory)
        self._native = _botaudit.Classifier(*self._arguments)
        self._robots: _Robots = None
        if robots is not None:
            self.set_robots(robots)

    def set_robots(self, robots: str | os.PathLike[str] | Any) -> None:
        """Judge by other robots.txt files from now on. Compiled rules are kept."""
        if isinstance(robots, (str, os.PathLike)):
            self._native.set_path(robots)
            self._robots = os.fspath(robots)
        else:
            self._set_table(_arrow.robots_columns(robots), False)

    def _set_robots_without_bad_rows(self, robots: Any) -> None:
        """As `set_robots` by a table; nothing is known about origins with an invalid row."""
        self._set_table(_arrow.robots_columns(robots), True)

    def _set_table(self, batches: list[list[pa.Array]], forgets_bad_rows: bool) -> None:
        self._native.set_table(batches, forgets_bad_rows)
        self._robots = batches, forgets_bad_rows

    def __reduce__(self) -> tuple[Any, ...]:
        """By the arguments, and the robots.txt files."""
        robots = self._robots
        if isinstance(robots, str):
            return _restored, (self._arguments, os.path.abspath(robots))
        if robots is not None:
            batches, forgets_bad_rows = robots
            return _restored, (self._arguments, (_arrow.packed(batches), forgets_bad_rows))
        return _restored, (self._arguments, None)

    def __repr__(self) -> str:
        """The crawlers, and where the robots.txt files are."""
        crawlers, tokens, headers, dialect, _ = self._arguments
        robots = self._robots
        if isinstance(robots, tuple):
            robots = f"<{sum(len(batch[0]) for batch in robots[0])} rows>"
        elif robots is not None:
            robots = repr(robots)
        parts = {"crawlers": crawlers, "tokens": tokens, "user_agent": headers}
        named = "".join(f"{name}={value!r}, " for name, value in parts.items() if value)
        return f"Classifier({named}robots={robots}, dialect={dialect!r})"

    def __dir__(self) -> list[str]:
        """What is public."""
        return [name for name in super().__dir__() if name[:1] != "_" or name[:2] == "__"]

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
        strings: bool = False,
        threads: int = 1,
        progress: Asked = None,
    ) -> Any:
        """The rows of `data` with the answers.

        Args:
            data: n rows of a data frame of pandas or polars, or of any object with the Arrow
                interface (pyarrow, relations of DuckDB), a dataset of pyarrow, a dict of columns,
                a list of dicts, or a single column of URLs, such as a list of texts.
            url: The column of URLs: string, large_string, string_view, binary or dictionary. Null
                stays null in all answers.
            crawler_column: The column with the name of each row's crawler.
            user_agent_column: The column with the User-Agent header of each row.
            time_column: The column with the time to judge each row at: timestamp (UTC if it has no
                zone), date, seconds since 1970, or text. By default, the newest robots.txt counts.
            columns: Names of the columns to return, from the input and from the answers. Fewer
                columns take less time.
            strings: Whether answers that are texts are plain strings. Otherwise they are
                dictionaries, which pandas shows as categories; then write `observed=True` for
                `groupby` of pandas, or it makes a group for each combination of categories.
            threads: Threads that judge batches of rows; 0 is one for each core.
            progress: A function is called with the number of rows judged so far, after each batch.
                True shows a bar by tqdm.

        Returns:
            n rows for each crawler: all crawlers of the first row, then those of the second row. It
            is a data frame of pandas for a data frame or series of pandas, with its index (repeated
            for several crawlers), one of polars for those of polars, and otherwise a table of
            pyarrow. It has the columns of the input, and then the answers `origin`, `crawler`,
            `verdict`, `reason`, `rule_line` (int32, from 1), `directive`, `pattern`, `group` and
            `snapshot`. All but `rule_line` are dictionaries of strings (categories for pandas and
            polars), which hold each different text once; `strings=True` gives plain strings. A
            column of the input with the name of an answer is renamed: `input_origin`.

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
            return self._classify_frame(frame, named, columns, strings, threads, progress)
        total = getattr(data, "num_rows", None)
        reader, plan = self._plan(
            data, url, crawler_column, user_agent_column, time_column, columns
        )
        threads = _arrow.threads(threads)
        if threads == 1:
            one = _botaudit.AnswerTexts()
            texts, joined = lambda: one, _with_last_dictionary
        else:
            texts, joined = _botaudit.AnswerTexts, _with_one_dictionary
        with Progress(progress, unit=" rows", total=total) as shown:
            rows = self._rows_at_once(total, threads)
            batches = self._answered(reader, plan, threads, rows, shown, texts)
            table = pa.Table.from_batches(batches, plan.schema)
        columns_of_table = [
            joined(column) if index is None else column
            for column, (_, index) in zip(table.columns, plan.output, strict=True)
        ]
        table = pa.Table.from_arrays(columns_of_table, schema=plan.schema)
        return table.cast(_with_strings(plan)) if strings else table

    def _classify_frame(
        self,
        frame: _frames.Frame,
        named: dict[str, Any],
        columns: Sequence[str] | None,
        strings: bool,
        threads: int,
        progress: Asked,
    ) -> Any:
        """The answers for the columns that arguments name, beside the columns of `frame`."""
        self._check_crawlers(named["crawler_column"], named["user_agent_column"])
        named = {argument: name for argument, name in named.items() if name is not None}
        table = frame.table(named)
        texts = {argument: _frames.text_of(name) for argument, name in named.items()}
        output = chosen_columns(output_columns(frame.names), columns)
        wanted = {name for name, index in output if index is None}
        answers = [name for name in _botaudit.COLUMNS if name in wanted] or _botaudit.COLUMNS[:1]
        found = self.classify(
            table, **texts, columns=answers, strings=strings, threads=threads, progress=progress
        )
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
        strings: bool = False,
        threads: int = 1,
        progress: Asked = None,
    ) -> pa.RecordBatchReader:
        """As `classify`, but gives one batch after the other, for data larger than memory.

        The batches are those of pyarrow. For data of pandas they have the index as columns, so that
        `to_pandas` of each batch has the index of its rows.
        """
        data, columns = _frames.arrow_of(data, url, columns)
        total = getattr(data, "num_rows", None)
        reader, plan = self._plan(
            data, url, crawler_column, user_agent_column, time_column, columns
        )
        threads = _arrow.threads(threads)
        schema = _with_strings(plan) if strings else plan.schema

        def rows() -> Iterator[pa.RecordBatch]:
            with Progress(progress, unit=" rows", total=total) as shown:
                at_once, texts = self._rows_at_once(total, threads), _botaudit.AnswerTexts
                for batch in self._answered(reader, plan, threads, at_once, shown, texts):
                    yield batch.cast(schema) if strings else batch

        return pa.RecordBatchReader.from_batches(schema, rows())

    def _check_crawlers(self, crawler_column: str | None, user_agent_column: str | None) -> None:
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
        self._check_crawlers(crawler, user_agent)
        plan = _plan(reader.schema, url, crawler or user_agent, time, columns)
        return reader, plan._replace(is_user_agent=user_agent is not None)

    def _rows_at_once(self, total: int | None, threads: int) -> int:
        """The most rows of a batch, of so many: all threads get equally many full batches."""
        most = max(1, _arrow.ROWS // self._native.per_row)
        if threads == 1:
            return most
        if total is None:
            return -(-most // _BATCHES_OF_THREAD)
        least = max(1, _ROWS_OF_THREAD // self._native.per_row)
        share = -(-total // threads)
        batches = max(-(-share // most), min(share // least, _BATCHES_OF_THREAD), 1)
        return max(1, -(-share // batches))

    def _answered(
        self,
        reader: pa.RecordBatchReader,
        plan: _Plan,
        threads: int,
        rows: int,
        progress: Progress,
        texts: Callable[[], _botaudit.AnswerTexts],
    ) -> Iterator[pa.RecordBatch]:
        """Batches of `rows` rows with answers; `texts` gives the texts that they continue."""
        batches = _arrow.of_size(reader, rows)
        judge = lambda batch: self._judged(batch, plan, texts())  # noqa: E731
        done = 0
        for batch in map(judge, batches) if threads == 1 else _in_threads(judge, batches, threads):
            yield batch
            done += batch.num_rows // self._native.per_row
            progress.rows(done)

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


def _restored(
    arguments: tuple[list[str], list[str], list[bytes], str, int],
    robots: str | tuple[bytes, bool] | None,
) -> Classifier:
    """A classifier that was pickled."""
    crawlers, tokens, headers, dialect, memory = arguments
    found = Classifier(crawlers, tokens, user_agent=headers, dialect=dialect, memory=memory)
    if isinstance(robots, str):
        found.set_robots(robots)
    elif robots is not None:
        packed, forgets_bad_rows = robots
        found._set_table(_arrow.unpacked(packed), forgets_bad_rows)
    return found


def _in_threads(
    judge: Callable[[pa.RecordBatch], pa.RecordBatch],
    batches: Iterable[pa.RecordBatch],
    threads: int,
) -> Iterator[pa.RecordBatch]:
    """What `judge` makes of each of `batches`, in their order."""
    waiting: deque[Future[pa.RecordBatch]] = deque()
    pool = ThreadPoolExecutor(threads, "botaudit")
    try:
        for batch in batches:
            waiting.append(pool.submit(judge, batch))
            # One more, so that no thread waits for the reader.
            if len(waiting) > threads + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _with_strings(plan: _Plan) -> pa.Schema:
    """The schema of the output with plain strings for answers."""
    fields = [
        field.with_type(pa.string()) if index is None and field.type == TEXT else field
        for field, (_, index) in zip(plan.schema, plan.output, strict=True)
    ]
    return pa.schema(fields, plan.schema.metadata)


def _with_one_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same texts with one dictionary."""
    return column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column


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
    all_columns = chosen_columns(all_columns, columns)
    wanted = {name for name, index in all_columns if index is None}
    answers = [name for name in _botaudit.COLUMNS if name in wanted]
    fields = [
        answer_field(name) if index is None else schema.field(index).with_name(name)
        for name, index in all_columns
    ]
    found = pa.schema(fields, _frames.metadata(schema, renamed))
    return _Plan(url, crawler, time, answers, all_columns, found)


def chosen_columns(
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
