"""What the robots.txt files of a data frame leave to crawlers."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from pybotaudit import _arrow
from pybotaudit._restrictions import restrictions as restrictions_of_table
from pybotaudit._spark_robots import robots_rows
from pybotaudit._spark_tasks import partition_count, task
from pybotaudit._tasks import in_types_of_spark


def restrictions(
    robots: DataFrame,
    crawlers: Sequence[str] = (),
    tokens: Sequence[str] = (),
    *,
    user_agent: str | bytes | Sequence[str | bytes] = (),
    at: str | datetime.date | None = None,
    every: str | None = None,
    partitions: int | None = None,
) -> DataFrame:
    """The rows of `pybotaudit.restrictions`, in any order.

    Rows of robots.txt files are shuffled by origin, once. A task holds the files of one batch of
    rows, and all files of one origin.

    Args:
        robots: `origin` (string), `fetched_at` (timestamp), `outcome` (string), `body` (binary)
            and, if wanted, `max_age` (bigint, seconds), such as from `robots_from_warcs`. Several
            rows for an origin are its history. Any number of origins.
        crawlers: Names of known crawlers.
        tokens: Product tokens of other crawlers.
        user_agent: A whole User-Agent header, or several.
        at: The time of the rules, as for `pybotaudit.restrictions`.
        every: "week", "month" or "year", as for `pybotaudit.restrictions`.
        partitions: The number of partitions of the result, by default
            `spark.sql.shuffle.partitions`.

    Raises:
        ValueError: An argument is not valid, or `robots` lacks a column.
        TypeError: A column has a type that cannot be read.
        pyspark.errors.PythonException: When the result is computed: a row of `robots` is not valid,
            two rows for the same origin and second have different answers, or pybotaudit is not
            installed on a worker.
    """
    options: dict[str, Any] = {"crawlers": crawlers, "tokens": tokens, "user_agent": user_agent}
    options |= {"at": at, "every": every}
    # A mistake in the arguments is an error here, and not one of each task.
    no_rows = restrictions_of_table(_arrow.ROBOTS.empty_table(), **options)
    schema = from_arrow_schema(in_types_of_spark(no_rows).schema)
    given = robots_rows(robots)
    partitions = partition_count(robots.sparkSession, partitions)
    known = given.mapInArrow(task("_tasks.robots_origins", on_error=None), given.schema)
    known = known.repartition(partitions, "origin").sortWithinPartitions("origin", "fetched_at")
    return known.mapInArrow(task("_tasks.restrictions", options=options), schema)
