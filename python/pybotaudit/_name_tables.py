"""What tables about the names of crawlers in robots.txt files have in common."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

import pyarrow as pa

from pybotaudit import _arrow, _report


class Asked(TypedDict):
    """The robots.txt files and the crawlers that a table is about, for the native half."""

    path: str | os.PathLike[str] | None
    batches: list[list[pa.Array]]
    crawlers: list[str]
    tokens: list[str]
    user_agents: list[bytes]


def asked(
    robots: str | os.PathLike[str] | Any,
    crawlers: Sequence[str],
    tokens: Sequence[str],
    user_agent: str | bytes | Sequence[str | bytes],
) -> Asked:
    """What arguments ask for."""
    names, other_tokens, headers = named_crawlers(crawlers, tokens, user_agent)
    if not names and not other_tokens and not headers:
        raise ValueError("no crawler is given; set crawlers=, tokens= or user_agent=")
    is_path = isinstance(robots, (str, os.PathLike))
    return {
        "path": robots if is_path else None,
        "batches": [] if is_path else _arrow.robots_columns(robots),
        "crawlers": names,
        "tokens": other_tokens,
        "user_agents": headers,
    }


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


def table(
    columns: list[tuple[str, str]], write: Callable[[Callable[[bytes], None]], list[str]]
) -> pa.Table:
    """The table whose parts `write` gives as CSV; it returns what is worth a warning."""
    parts: list[pa.Table] = []

    def take(csv: bytes) -> None:
        parts.append(_report.table_of_csv(pa.BufferReader(csv), columns, has_header=False))

    for failure in write(take):
        warnings.warn(failure, stacklevel=3)
    if not parts:
        header = ",".join(name for name, _ in columns).encode() + b"\n"
        parts.append(_report.table_of_csv(pa.BufferReader(header), columns))
    return pa.concat_tables(parts)
