"""What robots.txt files leave to crawlers, as a table."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from pybotaudit import _botaudit
from pybotaudit import _name_tables as name_tables


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
    asked = name_tables.asked(robots, crawlers, tokens, user_agent)
    columns = _botaudit.restrictions_columns()
    return name_tables.table(
        columns, lambda take: _botaudit.restrictions(asked, _time(at), every, take)
    )


def _time(at: str | datetime.date | None) -> str | None:
    """The time as a text that the native half reads."""
    if isinstance(at, datetime.datetime):
        at = at if at.tzinfo is not None else at.replace(tzinfo=datetime.timezone.utc)
        return at.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return at.isoformat() if isinstance(at, datetime.date) else at
