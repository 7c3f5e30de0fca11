"""Origins of URLs, and robots.txt files in WARC files."""

from __future__ import annotations

import os
import warnings
from typing import Any

import pyarrow as pa

from pybotaudit import _arrow, _botaudit, _frames


def origins(data: Any, url: str = "url") -> Any:
    """The canonical origin (`scheme://host[:port]`) of each URL, null where it has none.

    `data` is as for `Classifier.classify`: n rows with a column `url`, or a column of URLs. The
    answer has n strings: a series for data of pandas, with its index, and for data of polars,
    otherwise a chunked array of pyarrow. `.unique()` gives the origins to fetch robots.txt from.
    """
    frame = _frames.frame_of(data, url)
    if frame is not None:
        found = origins(frame.table({"url": url}), _frames.text_of(url))
        return frame.series(found, "origin")
    reader = _arrow.reader(data, url)
    _arrow.check_text(reader.schema, url, "url")
    batches = _arrow.of_size(reader, _arrow.ROWS)
    found = [_botaudit.origins(_arrow.texts(batch.column(url))) for batch in batches]
    return pa.chunked_array(found, pa.string())


def robots_from_warc(path: str | os.PathLike[str]) -> pa.Table:
    """The robots.txt files in a WARC file, such as those of Common Crawl.

    A row is a fetch: `origin`, `fetched_at`, `outcome`, `max_age` (seconds) and `body` (at most
    512,001 bytes; null if the outcome is not a success). Redirects within the file are followed;
    one whose target is in another file has the outcome `unfollowed`. Of several answers of an
    origin in one second, the one is kept that an archive takes. A record that cannot be read gives
    a warning.

    Raises:
        OSError: The file cannot be read.
    """
    table, problems = warc_table(path)
    for _, why in problems:
        warnings.warn(why, stacklevel=2)
    return table.drop_columns(["chain"])


def warc_table(path: str | os.PathLike[str]) -> tuple[pa.Table, list[tuple[int | None, str]]]:
    """The same with the column `chain`, a line `status location` per redirect; and problems.

    A problem is the offset of a record, after decompression, and a sentence.
    """
    arrays, problems = _botaudit.robots_from_warc(os.fspath(path))
    names = [*_arrow.ROBOTS.names, "chain"]
    table = pa.table(dict(zip(names, arrays, strict=True)))
    times = table["fetched_at"].cast(pa.timestamp("s", "UTC"))
    table = table.set_column(1, "fetched_at", times)
    return table.cast(_arrow.ROBOTS.append(pa.field("chain", pa.string()))), problems
