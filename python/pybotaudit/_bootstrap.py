"""Intervals of shares by bootstrap over sites."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from pybotaudit import _arrow, _frames

SITES_MIN = 5
"""With fewer sites there is no interval: resamples of a few sites are nearly all alike."""

_ADDED = pa.schema(
    [
        pa.field("sites", pa.int64()),
        pa.field("requests", pa.int64()),
        pa.field("kept", pa.int64()),
        pa.field("share", pa.float64()),
        pa.field("share_low", pa.float64()),
        pa.field("share_high", pa.float64()),
    ]
)

_Counts = tuple[int, int]
"""Requests and those of them that count as kept."""

_Groups = dict[tuple[Any, ...], dict[Any, _Counts]]
"""The counts of each site, by group."""


def bootstrap(
    table: Any,
    by: str | Sequence[str] = ("crawler", "directive"),
    *,
    sites: str = "origin",
    kept: str = "kept",
    requests: str = "requests",
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> pa.Table:
    """The share `kept` / `requests` of each group, with an interval by bootstrap over sites.

    Requests to one site depend on each other, so an interval that takes each request as
    independent is too narrow. Here, sites are drawn instead, as many as there are, with
    replacement, `resamples` times; the share of each resample is the sum of `kept` by the sum of
    `requests` of the drawn sites. The interval is from the k-th smallest to the k-th largest of
    these shares, with k = (1 - level) / 2 * resamples rounded down, plus 1 (the percentile
    bootstrap). A site without requests of the group does not belong to the group.

    The result has the columns of `by`, then `sites`, `requests`, `kept`, `share`, `share_low` and
    `share_high`, in the order of the groups. The interval is null with fewer than 5 sites. The
    interval of a group depends on its own rows and on `seed`, not on their order or other groups.
    A group with n sites takes n * `resamples` random numbers, about 80 nanoseconds each.

    Args:
        table: The table `origin-compliance` of a report, or any other with counts by site, also
            as a data frame. Several rows for a site and group are added.
        by: Columns of the groups, one or several.
        sites: The column with the site.
        kept: The column with the number of requests that count for the share.
        requests: The column with the number of requests.
        resamples: How many resamples are drawn.
        level: The level of the interval, between 0 and 1.
        seed: With the same seed, the intervals are the same.

    Raises:
        ValueError: A column is missing, a count is null, negative or not whole, `kept` is more
            than `requests`, or an argument is not valid.
        TypeError: A column of counts or an argument has another type.
    """
    names = [by] if isinstance(by, str) else list(by)
    _check(names, sites, resamples, level, seed)
    columns = _columns(table, [*((name, "by") for name in names), (sites, "sites")])
    counts = _columns(table, [(kept, "kept"), (requests, "requests")])
    pairs = zip(*(_whole(*of) for of in zip((kept, requests), counts, strict=True)), strict=True)
    rows = zip(zip(*map(_values, columns), strict=True), pairs, strict=True)
    groups = _groups(rows, sites, kept, requests)
    shown = sorted(groups.items(), key=lambda item: _order(item[0]))
    found = [(*key, *_row(of, resamples, level, seed)) for key, of in shown]
    kinds = [_plain(column.type) for column in columns[:-1]]
    fields = [pa.field(name, kind) for name, kind in zip(names, kinds, strict=True)]
    schema = pa.schema([*fields, *_ADDED])
    cells: list[Sequence[Any]] = list(zip(*found, strict=True)) or [()] * len(schema)
    arrays = [pa.array(of, field.type) for of, field in zip(cells, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def _check(names: list[str], sites: str, resamples: int, level: float, seed: int) -> None:
    """Refuse arguments that are not valid."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"by names '{name}' twice")
        if name == sites:
            raise ValueError(
                f"by names '{name}', the column of sites; each group would be one site"
            )
        if name in _ADDED.names:
            raise ValueError(f"by names '{name}', but the result has such a column; rename it")
    for argument, value in (("resamples", resamples), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{argument} is of the type {type(value).__name__}; write an int")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; write a number between 0 and 1, such as 0.95")
    if _left_out(resamples, level) < 1:
        raise ValueError(f"{resamples} resamples are too few for the level {level}")


def _left_out(resamples: int, level: float) -> int:
    """The number of shares below the interval, which is also that above it."""
    # Without the error of 1 - 0.9.
    return int(round((1 - level) / 2 * resamples, 6))


def _columns(table: Any, named: Iterable[tuple[str, str]]) -> list[pa.ChunkedArray]:
    """Columns of `table`, each with the argument that names it."""
    frame = _frames.frame_of(table, "")
    if frame is not None:
        return [frame.table({argument: name}).column(0) for name, argument in named]
    if not isinstance(table, pa.Table):
        table = _arrow.reader(table, "").read_all()
    return [table.column(_arrow.position(table.column_names, *of)) for of in named]


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _values(column: pa.ChunkedArray) -> list[Any]:
    values: list[Any] = column.to_pylist()
    return values


def _whole(name: str, column: pa.ChunkedArray) -> list[int]:
    """A column of counts."""
    kind = column.type
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    if not any(test(kind) for test in tests):
        raise TypeError(f"column '{name}' has the type {kind}; cast it to int64")
    try:
        return _values(column.cast(pa.int64()))
    except pa.ArrowInvalid as error:
        raise ValueError(f"column '{name}' has numbers that are no counts: {error}") from error


def _groups(
    rows: Iterable[tuple[tuple[Any, ...], _Counts]], sites: str, kept: str, requests: str
) -> _Groups:
    """The counts of each site with requests, by group."""
    groups: _Groups = {}
    for number, ((*key, site), (of_kept, of_requests)) in enumerate(rows):
        for name, value in ((sites, site), (kept, of_kept), (requests, of_requests)):
            if value is None:
                raise ValueError(f"row {number}: '{name}' is null")
        if not 0 <= of_kept <= of_requests:
            raise ValueError(
                f"row {number}: '{kept}' is {of_kept} and '{requests}' is {of_requests}; "
                f"'{kept}' must be from 0 to '{requests}'"
            )
        if of_requests:
            of_sites = groups.setdefault(tuple(key), {})
            before = of_sites.get(site, (0, 0))
            of_sites[site] = (before[0] + of_kept, before[1] + of_requests)
    return groups


def _order(key: tuple[Any, ...]) -> tuple[tuple[bool, Any], ...]:
    """By name; null is last."""
    return tuple((name is None, name) for name in key)


def _row(
    of_sites: dict[Any, _Counts], resamples: int, level: float, seed: int
) -> tuple[int, int, int, float, float | None, float | None]:
    """The cells of a group after its names."""
    # The draws do not depend on the order of rows.
    counts = [of_sites[site] for site in sorted(of_sites)]
    kept, requests = (sum(column) for column in zip(*counts, strict=True))
    low, high = None, None
    if len(counts) >= SITES_MIN:
        shares = sorted(_resampled(counts, requests, resamples, seed))
        left_out = _left_out(resamples, level)
        low, high = shares[left_out], shares[-1 - left_out]
    return len(counts), requests, kept, kept / requests, low, high


def _resampled(counts: list[_Counts], requests: int, resamples: int, seed: int) -> Iterable[float]:
    """The share of each resample."""
    # Both counts in one number, so that one sum adds up both.
    bits = (requests * len(counts)).bit_length()
    mask = (1 << bits) - 1
    packed = [of_kept << bits | of_requests for of_kept, of_requests in counts]
    # Of all generators of this module, only random() is promised to stay the same.
    draw, size = random.Random(seed).random, len(packed)
    for _ in range(resamples):
        drawn = sum([packed[int(draw() * size)] for _ in range(size)])
        yield (drawn >> bits) / (drawn & mask)
