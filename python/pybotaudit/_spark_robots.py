"""Data frames of robots.txt files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pybotaudit._redirects import answers_of_redirects
from pybotaudit._spark_paths import locations, warn
from pybotaudit._spark_tasks import task


def check_frame(name: str, data: Any) -> None:
    """Refuse data that is not of Spark."""
    if not isinstance(data, DataFrame):
        kind = type(data).__name__
        raise TypeError(f"{name} is of the type {kind}; give a data frame of Spark")


def robots_rows(robots: DataFrame) -> DataFrame:
    """The five columns of a data frame of robots.txt files."""
    check_frame("robots", robots)
    kinds: dict[str, tuple[type[T.DataType], ...]] = {
        "origin": (T.StringType,),
        "fetched_at": (T.TimestampType, T.TimestampNTZType),
        "outcome": (T.StringType,),
        "body": (T.BinaryType, T.StringType),
    }
    for name, allowed in kinds.items():
        if name not in robots.columns:
            raise ValueError(
                f"robots has no column '{name}'; it needs origin, fetched_at, outcome and body, "
                "and may have max_age"
            )
        kind = robots.schema[name].dataType
        if not isinstance(kind, allowed):
            wanted = allowed[0]().simpleString()
            raise TypeError(
                f"robots, column '{name}' has the type {kind.simpleString()}; cast it to {wanted}"
            )
    max_age: Column = F.lit(None)
    if "max_age" in robots.columns:
        kind = robots.schema["max_age"].dataType
        if not isinstance(kind, (T.IntegralType, T.NullType)):
            found = kind.simpleString()
            raise TypeError(f"robots, column 'max_age' has the type {found}; cast it to bigint")
        max_age = F.col("max_age")
    return robots.select(
        "origin",
        "fetched_at",
        "outcome",
        max_age.cast("bigint").alias("max_age"),
        F.col("body").cast("binary").alias("body"),
    )


def bad_rows(robots: DataFrame) -> DataFrame:
    """The rows of a data frame of robots.txt files that are not valid, and why."""
    facts = robots.mapInArrow(
        task("_tasks.robots_facts"),
        "given string, origin string, fetched_at timestamp, second bigint, answer string, "
        "what string",
    )
    invalid = facts.where(F.col("what").isNotNull())
    invalid = invalid.select(F.col("given").alias("origin"), "fetched_at", "what")
    seconds = facts.where(F.col("what").isNull()).groupBy("origin", "second")
    seconds = seconds.agg(
        F.min("fetched_at").alias("fetched_at"), F.count_distinct("answer").alias("answers")
    )
    different = seconds.where(F.col("answers") > 1).select(
        "origin",
        "fetched_at",
        F.concat(
            F.col("answers").cast("string"),
            F.lit(" rows for this second have different answers; keep one of them"),
        ).alias("what"),
    )
    return invalid.unionByName(different)


def check_on_error(on_error: str, allowed: tuple[str, ...] = ("fail", "report")) -> None:
    """Refuse another value."""
    if on_error not in allowed:
        names = [f"'{name}'" for name in allowed]
        raise ValueError(f"on_error is '{on_error}'; write {', '.join(names[:-1])} or {names[-1]}")


def robots_from_warcs(
    spark: SparkSession, paths: Iterable[str | os.PathLike[str]], *, on_error: str = "fail"
) -> Any:
    """The robots.txt files in WARC files, such as those of Common Crawl: the table for `classify`.

    One task reads one file: a path that all workers can read, or a URI that pyarrow knows (`s3://`,
    `gs://`, `hdfs://`). Redirects to another file are followed, by at most five hops and where both
    were fetched within a day; others stay `unfollowed`, which gives no ruling. The files are read
    at once, and rows are kept on the disks of the workers, because redirects need them twice. A
    file with several names is read once, with a warning.

    Args:
        spark: The session.
        paths: n WARC files.
        on_error: What to do with a record that cannot be read, a file that ends within a record, or
            a file that cannot be opened: "fail" raises an error; "report" goes on without it, and
            also returns a table of such problems.

    Returns:
        The robots.txt files; for "report" a pair of them and a data frame of the problems, with the
        columns `file`, `record_offset` (where the record starts, after decompression; null for a
        file that cannot be opened) and `what`.
    """
    check_on_error(on_error)
    files, repeated = locations(paths)
    warn(repeated)
    numbers = spark.range(0, len(files), 1, len(files))
    read = numbers.mapInArrow(
        task("_tasks.warc_rows", paths=files, on_error=on_error),
        "origin string, fetched_at timestamp, outcome string, max_age bigint, body binary, "
        "chain string, file string, record_offset bigint, what string",
    ).persist(StorageLevel.DISK_ONLY)
    problem = ["file", "record_offset", "what"]
    rows = read.where(F.col("what").isNull()).drop(*problem)
    waits = (F.col("outcome") == "unfollowed") & F.col("chain").isNotNull()
    answers = answers_of_redirects(
        rows,
        task("_tasks.redirect_targets"),
        rows.where(waits).select("origin", "fetched_at", "chain"),
    )
    bodies = rows.select(
        F.col("origin").alias("target"), F.col("fetched_at").alias("target_time"), "body"
    )
    # Spark can send the answers to the bodies, which an outer join would not allow.
    has_target = F.col("target").isNotNull()
    found = answers.where(has_target).join(bodies, ["target", "target_time"])
    without = answers.where(~has_target).withColumn("body", F.lit(None).cast("binary"))
    columns = ["origin", "fetched_at", "outcome", "max_age", "body"]
    followed = found.select(*columns).unionByName(without.select(*columns))
    unanswered = rows.where(waits).join(answers, ["origin", "fetched_at"], "left_anti")
    others = rows.where(~waits).unionByName(unanswered).drop("chain")
    robots = others.unionByName(followed)
    if on_error == "fail":
        return robots
    return robots, read.where(F.col("what").isNotNull()).select(*problem)
