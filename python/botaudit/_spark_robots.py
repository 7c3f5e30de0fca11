"""Data frames of robots.txt files."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from botaudit._spark_tasks import task


def robots_rows(robots: DataFrame) -> DataFrame:
    """The five columns of a data frame of robots.txt files."""
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
        task("robots_facts"),
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
