"""Redirects of robots.txt files from one WARC file to another, by joins of Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pybotaudit import _botaudit

_HOPS_SECONDS = 86_400
"""How far the times of a redirect and of its target may be apart."""


def answers_of_redirects(
    rows: DataFrame, task: Callable[[Any], Any], waiting: DataFrame
) -> DataFrame:
    """The outcome of each chain of redirects in `waiting`, and the row that has its body.

    `task` is `redirect_targets` of `pybotaudit._tasks`.
    """
    # The columns of a row at the end of a redirect.
    found = F.struct("outcome", "max_age", "chain", "origin", "fetched_at").alias("found")
    facts = rows.select(
        F.col("origin").alias("target"), F.col("fetched_at").alias("target_time"), found
    )
    schema = (
        "origin string, fetched_at timestamp, chain string, target string, hops int, status string"
    )
    answers = [_too_long(waiting.withColumn("status", F.lit("")).limit(0))]
    for _ in range(_botaudit.HOPS_MAX + 1):
        waiting = waiting.mapInArrow(task, schema).persist(StorageLevel.DISK_ONLY)
        if waiting.isEmpty():
            break
        answers.append(_too_long(waiting.where(F.col("hops") > _botaudit.HOPS_MAX)))
        apart = F.unix_timestamp("fetched_at") - F.unix_timestamp("target_time")
        near = waiting.where(F.col("hops") <= _botaudit.HOPS_MAX).join(facts, "target")
        near = near.withColumn("apart", F.abs(apart)).where(F.col("apart") <= _HOPS_SECONDS)
        nearest = near.groupBy("origin", "fetched_at", "chain", "hops", "status").agg(
            F.min_by("found", F.struct("apart", "target_time")).alias("found")
        )
        more = F.col("found.outcome") == "unfollowed"
        is_itself = (F.col("found.origin") == F.col("origin")) & (
            F.col("found.fetched_at") == F.col("fetched_at")
        )
        answers.append(_too_long(nearest.where(more & is_itself)))
        chain = F.concat_ws("\n", "chain", "found.chain").alias("chain")
        rest = nearest.where(more & ~is_itself & F.col("found.chain").isNotNull())
        waiting = rest.select("origin", "fetched_at", chain)
        ends = nearest.where(~more)
        all_hops = ends.select("origin", "fetched_at", chain, "found")
        hops = F.size(F.split("chain", "\n"))
        answers.append(
            all_hops.where(hops <= _botaudit.HOPS_MAX).select(
                "origin",
                "fetched_at",
                "found.outcome",
                "found.max_age",
                F.col("found.origin").alias("target"),
                F.col("found.fetched_at").alias("target_time"),
            )
        )
        last = F.split(F.element_at(F.split("chain", "\n"), _botaudit.HOPS_MAX + 1), " ")
        long = all_hops.where(hops > _botaudit.HOPS_MAX)
        answers.append(_too_long(long.withColumn("status", last[0])))
    answer = answers[0]
    for other in answers[1:]:
        answer = answer.unionByName(other)
    answer = answer.persist(StorageLevel.DISK_ONLY)
    # Once they are there, Spark knows how few they are, and sends them to the bodies instead of
    # shuffling both.
    answer.count()
    return answer


def _too_long(chains: DataFrame) -> DataFrame:
    """The answers of chains with more redirects than are followed: there is no robots.txt."""
    return chains.select(
        "origin",
        "fetched_at",
        F.col("status").alias("outcome"),
        F.lit(None).cast("bigint").alias("max_age"),
        F.lit(None).cast("string").alias("target"),
        F.lit(None).cast("timestamp").alias("target_time"),
    )
