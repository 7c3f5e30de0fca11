"""The crawlers that are known, as a table."""

from __future__ import annotations

import json
import os

import pyarrow as pa

from pybotaudit import _botaudit

_TEXTS = pa.list_(pa.string())
_BUNDLED = pa.struct({"url": pa.string(), "of_utc": pa.string(), "networks": pa.int64()})
_TYPES = {
    "product_tokens": _TEXTS,
    "honours_star": pa.bool_(),
    "user_triggered": pa.bool_(),
    "sends_own_user_agent": pa.bool_(),
    "ip_list_urls": _TEXTS,
    "ip_list_files": _TEXTS,
    "ip_lists_bundled": pa.list_(_BUNDLED),
    "rdns_suffixes": _TEXTS,
    "reaction_hours": pa.int64(),
    "robots_cache_hours": pa.int64(),
    "rate_per_hour": pa.int64(),
}
"""The types of columns that are not texts."""


def crawlers(file: str | os.PathLike[str] | None = None) -> pa.Table:
    """The known crawlers, a row for each: name, operator, purpose, product tokens and more.

    docs/identity.md describes the columns, which are those of
    `botaudit crawlers list --format json`.

    Args:
        file: A CSV file of more crawlers, as for `--crawlers` of the command.

    Raises:
        ValueError: The file has a mistake.
        OSError: It cannot be read.
    """
    rows = json.loads(_botaudit.crawlers_json(file))
    fields = [pa.field(name, _TYPES.get(name, pa.string())) for name in rows[0]]
    return pa.Table.from_pylist(rows, pa.schema(fields))
