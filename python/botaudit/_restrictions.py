"""What robots.txt files leave to crawlers, as a table."""

from __future__ import annotations

import datetime
import os
import warnings
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from botaudit import _arrow, _botaudit, _report


def restrictions(
    robots: str | os.PathLike[str] | Any,
    crawlers: Sequence[str] = (),
    tokens: Sequence[str] = (),
    *,
    user_agent: str | bytes | Sequence[str | bytes] = (),
    at: str | datetime.date | None = None,
    every: str | None = None,
) -> pa.Table:
    """What robots.txt files leave to crawlers: nothing, some paths, most of them, or all.

    A row stands for an origin, a time and a name. The rows are those of
    `botaudit robots restrictions`, and docs/research.md describes the columns.

    Args:
        robots: A robots.txt file, a directory of such files, an archive, or a table as for
            `Classifier`.
        crawlers: Names of known crawlers. What is known about them counts: for one that ignores
            groups for `*`, such a group restricts nothing, and `reason` is "ignores-star".
        tokens: Product tokens. A token follows the groups for `*` where no group names it, as
            studies of robots.txt files define it.
        user_agent: A whole User-Agent header, or several.
        at: The time of the rules: a date, a datetime (UTC if it has no zone), or a text such as
            "2026-01-31". By default that of the newest snapshot of each origin.
        every: "week", "month" or "year": the rules at the end of each such period, from the first
            snapshot of an origin to its last.

    Raises:
        ValueError: An argument is not valid, or files have no times.
        OSError: `robots` cannot be read. A single file that cannot be read gives a warning.
    """
    crawlers, tokens, headers = named_crawlers(crawlers, tokens, user_agent)
    if not crawlers and not tokens and not headers:
        raise ValueError("no crawler is given; set crawlers=, tokens= or user_agent=")
    path, batches = None, []
    if isinstance(robots, (str, os.PathLike)):
        path = robots
    else:
        batches = _arrow.robots_columns(robots)
    columns = _botaudit.restrictions_columns()
    parts: list[pa.Table] = []

    def take(csv: bytes) -> None:
        parts.append(_report.table_of_csv(pa.BufferReader(csv), columns, has_header=False))

    failures = _botaudit.restrictions(
        path, batches, crawlers, tokens, headers, _time(at), every, take
    )
    for failure in failures:
        warnings.warn(failure, stacklevel=2)
    if not parts:
        header = ",".join(name for name, _ in columns).encode() + b"\n"
        parts.append(_report.table_of_csv(pa.BufferReader(header), columns))
    return pa.concat_tables(parts)


def named_crawlers(
    crawlers: Sequence[str], tokens: Sequence[str], user_agent: str | bytes | Sequence[str | bytes]
) -> tuple[list[str], list[str], list[bytes]]:
    """The crawlers that arguments name, for the native half."""
    for name, value in (("crawlers", crawlers), ("tokens", tokens)):
        if isinstance(value, (str, bytes)):
            raise TypeError(f"{name} is one text; write {name}=[{value!r}]")
    sent = [user_agent] if isinstance(user_agent, (str, bytes)) else user_agent
    headers = [header.encode() if isinstance(header, str) else header for header in sent]
    return list(crawlers), list(tokens), headers


def _time(at: str | datetime.date | None) -> str | None:
    """The time as a text that the native half reads."""
    if isinstance(at, datetime.datetime):
        at = at if at.tzinfo is not None else at.replace(tzinfo=datetime.timezone.utc)
        return at.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return at.isoformat() if isinstance(at, datetime.date) else at
