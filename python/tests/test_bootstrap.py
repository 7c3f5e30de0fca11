"""Intervals of shares by bootstrap over sites."""

from __future__ import annotations

import decimal
import itertools
import math
import random
import statistics
from typing import Any

import pyarrow as pa
import pybotaudit
import pytest
from conftest import REPOSITORY
from pybotaudit import _bootstrap

COUNTS = [(9, 10), (3, 12), (0, 5), (40, 44), (7, 7)]
"""Kept and requests of five sites."""


def table(counts: list[tuple[int, int]], crawler: str = "GPTBot", **more: Any) -> pa.Table:
    """Counts of sites as a table of a report."""
    origins = [f"https://{number:05}.example" for number in range(len(counts))]
    return pa.table(
        {
            "origin": pa.array(origins, pa.string()),
            "crawler": pa.array([crawler] * len(counts), pa.string()),
            "directive": pa.array(["disallow"] * len(counts), pa.string()),
            "requests": pa.array([requests for _, requests in counts], pa.int64()),
            "kept": pa.array([kept for kept, _ in counts], pa.int64()),
            **more,
        }
    )


def random_counts(rng: random.Random, sites: int) -> list[tuple[int, int]]:
    """Sites of different sizes, each with a share of its own."""
    sizes = [math.ceil(rng.lognormvariate(4, 1)) for _ in range(sites)]
    return [(round(rng.betavariate(3, 1) * size), size) for size in sizes]


def slow_interval(
    counts: list[tuple[int, int]], resamples: int, beyond: int, seed: int
) -> tuple[float, float]:
    """The definition, a step after the other."""
    rng = random.Random(seed)
    shares = []
    for _ in range(resamples):
        kept = requests = 0
        for _ in counts:
            site = math.floor(rng.random() * len(counts))
            kept += counts[site][0]
            requests += counts[site][1]
        shares.append(kept / requests)
    for _ in range(beyond):
        shares.remove(min(shares))
        shares.remove(max(shares))
    return min(shares), max(shares)


def interval(found: pa.Table, row: int = 0) -> tuple[float, float]:
    """The interval of a row."""
    return found["share_low"][row].as_py(), found["share_high"][row].as_py()


def test_an_interval_is_that_of_the_definition(rng: random.Random) -> None:
    for sites in (5, 6, 17, 60):
        counts = random_counts(rng, sites)
        seed = rng.randrange(99)
        found = pybotaudit.bootstrap(table(counts), resamples=400, level=0.9, seed=seed)
        # 5 % of 400 are beyond each end.
        assert interval(found) == slow_interval(counts, 400, 20, seed)
        kept, requests = map(sum, zip(*counts, strict=True))
        assert found.drop_columns(["share_low", "share_high"]).to_pylist() == [
            {
                "crawler": "GPTBot",
                "directive": "disallow",
                "sites": sites,
                "requests": requests,
                "kept": kept,
                "share": kept / requests,
            }
        ]
    defaults = pybotaudit.bootstrap(table(counts))
    assert interval(defaults) == slow_interval(counts, 2000, 50, 0)


def test_an_interval_is_near_that_of_all_possible_resamples() -> None:
    every = sorted(
        sum(kept for kept, _ in drawn) / sum(requests for _, requests in drawn)
        for drawn in itertools.product(COUNTS, repeat=5)
    )
    assert len(every) == 3125
    found = interval(pybotaudit.bootstrap(table(COUNTS), resamples=20_000, seed=3))
    for end, share in zip(found, (0.025, 0.975), strict=True):
        # The rank of the end is off by at most 4 standard errors of a share of 20,000 draws.
        error = 4 * math.sqrt(share * (1 - share) / 20_000)
        below = sum(of < end for of in every) / len(every)
        up_to = sum(of <= end for of in every) / len(every)
        assert below - error <= share <= up_to + error


def test_an_interval_of_many_equal_sites_is_that_of_their_mean(rng: random.Random) -> None:
    counts = [(rng.randint(20, 80), 100) for _ in range(400)]
    found = pybotaudit.bootstrap(table(counts))
    shares = [kept / 100 for kept, _ in counts]
    mean, error = statistics.mean(shares), statistics.pstdev(shares) / math.sqrt(400)
    low, high = interval(found)
    assert found["share"][0].as_py() == pytest.approx(mean)
    assert low == pytest.approx(mean - 1.96 * error, abs=error / 4)
    assert high == pytest.approx(mean + 1.96 * error, abs=error / 4)
    # Requests are not independent here: their own interval would be too narrow.
    wilson = 1.96 * math.sqrt(mean * (1 - mean) / 40_000)
    assert high - low > 1.5 * 2 * wilson


def test_an_interval_depends_on_its_own_rows_and_the_seed_alone(rng: random.Random) -> None:
    counts = random_counts(rng, 30)
    one = table(counts)
    found = pybotaudit.bootstrap(one)
    assert found.equals(pybotaudit.bootstrap(one))
    assert not found.equals(pybotaudit.bootstrap(one, seed=1))
    order = rng.sample(range(30), 30)
    assert found.equals(pybotaudit.bootstrap(one.take(order)))
    # Rows of a site add up, such as those of both kinds of groups.
    parts = [(kept // 2, requests // 2) for kept, requests in counts]
    rest = [
        (kept - part[0], requests - part[1])
        for (kept, requests), part in zip(counts, parts, strict=True)
    ]
    halves = pa.concat_tables([table(parts), table(rest)])
    assert found.equals(pybotaudit.bootstrap(halves))
    others = pa.concat_tables(
        [table(random_counts(rng, 12), "AhrefsBot"), one, table([], "bingbot")]
    )
    both = pybotaudit.bootstrap(others)
    assert both["crawler"].to_pylist() == ["AhrefsBot", "GPTBot"]
    assert both.slice(1).equals(found)
    # A site without requests is none of the sites.
    assert found.equals(pybotaudit.bootstrap(table([*counts, (0, 0)])))


def test_a_few_sites_have_no_interval() -> None:
    for sites in range(1, 6):
        found = pybotaudit.bootstrap(table(COUNTS[:sites]))
        assert found["sites"].to_pylist() == [sites]
        assert found["share"][0].as_py() is not None
        assert (found["share_low"].null_count, found["share_high"].null_count) == (
            (0, 0) if sites == 5 else (1, 1)
        )
    # Sites that are all alike do not show how much others would differ.
    assert interval(pybotaudit.bootstrap(table([(3, 4)] * 9))) == (0.75, 0.75)


@pytest.mark.parametrize("empty", [table([]), table([(0, 0), (0, 0)])], ids=["rows", "requests"])
def test_nothing_gives_an_empty_table(empty: pa.Table) -> None:
    found = pybotaudit.bootstrap(empty)
    assert found.num_rows == 0
    assert found.schema == pybotaudit.bootstrap(table(COUNTS)).schema
    assert found.column_names[2:] == [
        "sites", "requests", "kept", "share", "share_low", "share_high",
    ]  # fmt: skip


def test_names_and_types_of_columns_are_free() -> None:
    expected = pybotaudit.bootstrap(table(COUNTS), "crawler")
    assert expected.column_names[:2] == ["crawler", "sites"]
    renamed = table(COUNTS).rename_columns(["host", "bot", "directive", "n", "ok"])
    found = pybotaudit.bootstrap(renamed, ["bot"], sites="host", kept="ok", requests="n")
    assert found.rename_columns(expected.column_names).equals(expected)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    rows = table(COUNTS)
    sums = "sum(kept) AS kept, sum(requests) AS requests"
    summed = duckdb.sql(f"SELECT crawler, origin, {sums} FROM rows GROUP BY ALL")
    floats = rows.to_pandas().astype({"kept": "float64"})
    strings = rows.set_column(1, "crawler", rows["crawler"].dictionary_encode())
    frames = [rows.to_pylist(), rows.to_pydict(), rows.to_pandas(), floats, summed, strings]
    for data in [*frames, rows.to_pandas().set_index("origin"), polars.from_arrow(rows)]:
        assert pybotaudit.bootstrap(data, "crawler").to_pylist() == expected.to_pylist()
    assert isinstance(floats, pandas.DataFrame)
    # All sites together, and a group without a name, which is the last one.
    assert (
        pybotaudit.bootstrap(rows, []).to_pylist() == expected.drop_columns("crawler").to_pylist()
    )
    unnamed = pa.concat_tables([table(COUNTS, crawler) for crawler in (None, "b", "a")])  # type: ignore[arg-type]
    assert pybotaudit.bootstrap(unnamed)["crawler"].to_pylist() == ["a", "b", None]
    days = table(COUNTS, day=pa.array([5] * 5, pa.date32()))
    assert pybotaudit.bootstrap(days, "day").schema.field("day").type == pa.date32()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, 1), (3, 2)], "row 1: 'kept' is 3 and 'requests' is 2; 'kept' must be from 0"),
        ([(-1, 1)], "row 0: 'kept' is -1"),
        ([(None, 1)], "row 0: 'kept' is null"),
        ([(1, 1), (0, None)], "row 1: 'requests' is null"),
        ([(1.5, 2)], "column 'kept' has numbers that are no counts"),
        ([(decimal.Decimal("1.5"), 2)], "column 'kept' has numbers that are no counts"),
    ],
)
def test_counts_that_cannot_be_are_refused(rows: list[tuple[Any, Any]], message: str) -> None:
    data = {
        "origin": list("abcdef")[: len(rows)],
        "crawler": ["a"] * len(rows),
        "kept": [kept for kept, _ in rows],
        "requests": [requests for _, requests in rows],
    }
    with pytest.raises(ValueError, match=message):
        pybotaudit.bootstrap(data, "crawler")


def test_mistakes_are_named() -> None:
    rows = table(COUNTS)

    def refused(message: str, *by: Any, **options: Any) -> None:
        with pytest.raises(ValueError, match=message):
            pybotaudit.bootstrap(rows, *by, **options)

    refused("no column 'bot'; its columns are origin, .*; set by=", "bot")
    refused("no column 'site'.*set sites=", sites="site")
    refused("no column 'ok'.*set kept=", kept="ok")
    refused("no column 'n'.*set requests=", requests="n")
    refused("by names 'crawler' twice", ["crawler", "crawler"])
    refused("by names 'origin', the column of sites", "origin")
    refused("by names 'kept', but the result", "kept")
    refused("level is 95; write a number between 0 and 1", level=95)
    refused("39 resamples are too few for the level 0.95", resamples=39)
    assert pybotaudit.bootstrap(rows, resamples=40).num_rows == 1
    assert pybotaudit.bootstrap(rows, resamples=20, level=0.9).num_rows == 1
    with pytest.raises(ValueError, match="row 0: 'origin' is null"):
        pybotaudit.bootstrap(rows.set_column(0, "origin", pa.nulls(5, pa.string())))
    with pytest.raises(TypeError, match="column 'kept' has the type string; cast it to int64"):
        pybotaudit.bootstrap(rows.set_column(4, "kept", pa.array(["1"] * 5)))
    with pytest.raises(TypeError, match="seed is of the type str; write an int"):
        pybotaudit.bootstrap(rows, seed="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="resamples is of the type float"):
        pybotaudit.bootstrap(rows, resamples=2e3)  # type: ignore[arg-type]


def test_a_report_has_the_counts() -> None:
    logs, robots = REPOSITORY / "sample-data/logs", REPOSITORY / "sample-data/robots"
    report = pybotaudit.audit(logs, robots=robots)
    of_origins = report.table("origin-compliance")
    found = pybotaudit.bootstrap(of_origins, ["crawler", "directive", "group"])
    of_crawlers = [
        row for row in report.table("compliance").to_pylist() if row["scope"] == "crawler"
    ]
    names = ["crawler", "directive", "group", "requests", "kept"]
    assert sorted(zip(*(found[name].to_pylist() for name in names), strict=True)) == sorted(
        (row["name"], *(row[name] for name in names[1:])) for row in of_crawlers
    )


def covered(sites: int, has_equal_sizes: bool, studies: int = 1000) -> int:
    """In how many of 1,000 studies the interval contains the share of all sites, 0.75."""
    rng, count = random.Random(1), 0
    for study in range(studies):
        sizes = [
            100 if has_equal_sizes else max(1, int(rng.lognormvariate(4, 1))) for _ in range(sites)
        ]
        counts = [(round(rng.betavariate(3, 1) * size), size) for size in sizes]
        cells = _bootstrap._row(dict(enumerate(counts)), 400, 0.95, study)
        assert cells[4] is not None and cells[5] is not None
        count += cells[4] <= 0.75 <= cells[5]
    return count


@pytest.mark.parametrize("sites", [5, 10, 20, 50])
def test_the_level_is_that_of_the_documentation(sites: int) -> None:
    equal, different = (covered(sites, has_equal_sizes) for has_equal_sizes in (True, False))
    page = (REPOSITORY / "docs/research.md").read_text()
    assert f"| {sites} | {equal / 10:.0f} % | {different / 10:.0f} % |\n" in page
