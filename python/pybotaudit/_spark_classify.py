"""Verdicts on data frames of Apache Spark."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.types import StructField, StructType

import pybotaudit
from pybotaudit._classifier import chosen_columns, output_columns
from pybotaudit._spark_paths import distribute
from pybotaudit._spark_robots import bad_rows, check_frame, check_on_error, robots_rows
from pybotaudit._spark_tasks import column_task, partition_count, task, warn_from_tasks

_SAMPLED_ROWS = 1000
"""About how many rows of an origin with `hot_rows` rows are counted."""


def classify(
    df: DataFrame,
    robots: DataFrame,
    *,
    url: str = "url",
    crawlers: Sequence[str] = (),
    tokens: Sequence[str] = (),
    user_agent: str | bytes | Sequence[str | bytes] = (),
    crawler_column: str | None = None,
    user_agent_column: str | None = None,
    time_column: str | None = None,
    columns: Sequence[str] | None = None,
    dialect: str = "google",
    memory: int = 256 << 20,
    partitions: int | None = None,
    hot_rows: int | None = 1_000_000,
    skip_unused_origins: bool = False,
    on_error: str = "fail",
) -> Any:
    """The rows of `df` with the answers of `pybotaudit.Classifier.classify`, in any order.

    Rows of URLs and of robots.txt files are shuffled together by origin, so each body is sent once,
    and a task holds the robots.txt files of one batch of rows. Only columns that are judged or
    returned are read and sent.

    Args:
        df: n rows with a column of URLs.
        robots: `origin` (string), `fetched_at` (timestamp), `outcome` (string), `body` (binary)
            and, if wanted, `max_age` (bigint, seconds), such as from `robots_from_warcs`. Several
            rows for an origin are its history. Any number of origins.
        url: The column of URLs.
        crawlers: Names of known crawlers.
        tokens: Product tokens of other crawlers.
        user_agent: A whole User-Agent header, or several, as in `pybotaudit.Classifier`.
        crawler_column: The column with the name of each row's crawler.
        user_agent_column: The column with the User-Agent header of each row.
        time_column: The column with the time to judge each row at.
        columns: Names of the columns to return.
        dialect: "google" or "rfc9309".
        memory: The approximate bytes that a task uses for compiled rules.
        partitions: The number of partitions of the result, by default
            `spark.sql.shuffle.partitions`.
        hot_rows: The rows of an origin that one task judges. An origin with more is judged by
            several tasks, each with a copy of its robots.txt files. They are found by counting a
            sample of `df`, which reads its column of URLs once more; None counts nothing.
        skip_unused_origins: Whether rows of `robots` for origins of no URL are left out first: they
            are neither checked nor sent. This computes the origins of `df` once more, and each
            worker holds the set of them, so use it if `robots` has far more origins than `df`.
        on_error: What to do with a row of `robots` that is not valid, or that has another answer
            for the same origin and second than another row: "fail" raises an error when the result
            is computed. "null" judges URLs of its origin as `unknown`: the rules in force are not
            known, so rule, group and snapshot are null. "report" does the same, and also returns a
            table of such rows.

    Returns:
        The answers; for "report" a pair of the answers and a data frame of the bad rows, with the
        columns `origin`, `fetched_at` and `what`. It reads `robots` again when it is computed.

    Raises:
        ValueError: A column is missing, or a crawler is unknown.
        TypeError: A column has a type that cannot be read.
        pyspark.errors.PythonException: When the result is computed: a row of `robots` is not valid,
            or pybotaudit is not installed on a worker.
    """
    check_on_error(on_error, ("fail", "null", "report"))
    options = _options(df, url, crawler_column, user_agent_column, time_column)
    classifier = _classifier_options(options, (crawlers, tokens, user_agent), dialect, memory)
    schema = _answer_schema(df, columns)
    partitions = partition_count(df.sparkSession, partitions)
    needed, names = _needed(df, options, schema)
    url_column = f"c{names.index(url)}"
    given = robots_rows(robots)
    used = _used(given, needed.select(url_column)) if skip_unused_origins else given
    known = used.mapInArrow(task("_tasks.robots_origins", on_error=on_error), given.schema)
    copies = _copies(needed.select(url_column), partitions, hot_rows)
    urls = _with_origins(needed, url_column)
    urls, known = _salted(urls, known, copies, url_column, partitions)
    facts = F.struct(*known.columns[1:5]).alias("robots")
    known = known.select(
        "origin", "salt", facts, *(_null(of.name, of.dataType) for of in needed.schema)
    )
    nothing = _null("robots", known.schema["robots"].dataType)
    urls = urls.select("origin", "salt", nothing, *needed.columns)
    tagged = _by_salt(urls.unionAll(known), partitions)
    tagged = tagged.sortWithinPartitions(
        "origin", "salt", F.col("robots").isNull(), F.col("robots.fetched_at")
    )
    judge = task(
        "_tasks.judge",
        classifier=classifier,
        names=names,
        options=options,
        columns=schema.names,
        on_error=on_error,
        warn=warn_from_tasks(df.sparkSession),
    )
    answers = tagged.mapInArrow(judge, schema)
    return (answers, bad_rows(given)) if on_error == "report" else answers


def _needed(
    df: DataFrame, options: dict[str, Any], answers: StructType
) -> tuple[DataFrame, list[str]]:
    """The columns of `df` that are judged or returned, and their names; others are not read.

    They are c0, c1 and so on: functions of Spark do not tell apart names with other cases, and read
    dots as members.
    """
    all_names = df.columns
    index_of = dict(output_columns(all_names))
    wanted = {index for name in answers.names if (index := index_of[name]) is not None}
    wanted |= {all_names.index(name) for name in options.values() if name is not None}
    kept = sorted(wanted)
    numbered = df.toDF(*(f"n{index}" for index in range(len(all_names))))
    columns = (F.col(f"n{index}").alias(f"c{at}") for at, index in enumerate(kept))
    return numbered.select(*columns), [all_names[index] for index in kept]


def _used(robots: DataFrame, urls: DataFrame) -> DataFrame:
    """The rows of robots.txt files for origins of these URLs."""
    origins = _with_origins(urls, urls.columns[0]).select("origin").distinct()
    rows = _with_origins(robots.withColumnRenamed("origin", "given"), "given")
    # Without the hint, Spark might shuffle the bodies to find those that are used.
    used = rows.join(F.broadcast(origins), "origin", "left_semi")
    return used.select(*robots.columns)


def _with_origins(urls: DataFrame, column: str) -> DataFrame:
    """The rows with the origins of their URLs. Where Spark can, only URLs are sent to Python."""
    if hasattr(F, "arrow_udf"):
        return urls.withColumn(
            "origin", F.arrow_udf(column_task("_tasks.origins"), "string")(column)
        )
    schema = T.StructType([*urls.schema, T.StructField("origin", T.StringType())])
    return urls.mapInArrow(task("_tasks.url_origins", column=column), schema)


def _by_salt(rows: DataFrame, partitions: int) -> DataFrame:
    """The rows by origin and salt; where Spark can, parts of an origin are in different places."""
    if hasattr(rows, "repartitionById"):
        place = F.pmod(F.hash("origin").cast("bigint") + F.col("salt"), F.lit(partitions))
        return rows.repartitionById(partitions, place.cast("int"))
    return rows.repartition(partitions, "origin", "salt")


def _salted(
    urls: DataFrame, known: DataFrame, copies: DataFrame | None, url: str, partitions: int
) -> tuple[DataFrame, DataFrame]:
    """Both with a column `salt`, by which the rows of an origin go to several tasks.

    The salt is a function of the URL: a task that runs again must give each row the same one.
    """
    if copies is None:
        urls = urls.withColumn("copies", F.lit(1))
        known = known.withColumn("copies", F.lit(1))
    else:
        urls = urls.join(F.broadcast(copies), "origin", "left")
        known = known.join(F.broadcast(copies), "origin", "left")
    # URLs without an origin need no robots.txt, and go anywhere.
    of_url = F.when(F.col("origin").isNull(), partitions).otherwise(F.coalesce("copies", F.lit(1)))
    urls = urls.withColumn("salt", F.pmod(F.xxhash64(url), of_url).cast("int"))
    last = F.coalesce("copies", F.lit(1)) - 1
    known = known.withColumn("salt", F.explode(F.sequence(F.lit(0), last.cast("int"))))
    return urls, known


def _copies(urls: DataFrame, partitions: int, hot_rows: int | None) -> DataFrame | None:
    """The origins with more rows than `hot_rows`, and in how many parts they are judged."""
    if hot_rows is None:
        return None
    if hot_rows < 1:
        raise ValueError(f"hot_rows is {hot_rows}; give 1 or more, or None")
    share = min(1.0, _SAMPLED_ROWS / hot_rows)
    # Before Python computes the origins.
    sample = urls.sample(fraction=share, seed=1) if share < 1 else urls
    counts = _with_origins(sample, urls.columns[0]).groupBy("origin").count()
    # A condition on the origin would be moved below this, and Python would compute origins twice.
    hot = [
        (row["origin"], min(partitions, -int(-row["count"] // (hot_rows * share))))
        for row in counts.where(F.col("count") > hot_rows * share).collect()
        if row["origin"] is not None
    ]
    if not hot:
        return None
    return urls.sparkSession.createDataFrame(hot, "origin string, copies int")


def classify_archive(
    df: DataFrame,
    path: str | os.PathLike[str],
    *,
    url: str = "url",
    crawlers: Sequence[str] = (),
    tokens: Sequence[str] = (),
    user_agent: str | bytes | Sequence[str | bytes] = (),
    crawler_column: str | None = None,
    user_agent_column: str | None = None,
    time_column: str | None = None,
    columns: Sequence[str] | None = None,
    dialect: str = "google",
    memory: int = 256 << 20,
) -> DataFrame:
    """As `classify`, by an archive or a directory of robots.txt files, without a shuffle.

    Spark copies `path` to each worker, so this is for up to a few million origins. Rows keep their
    partitions and their order. A robots.txt that cannot be read, or is something else, gives a
    warning of Python on the driver when the result is computed.
    """
    options = _options(df, url, crawler_column, user_agent_column, time_column)
    classifier = _classifier_options(options, (crawlers, tokens, user_agent), dialect, memory)
    schema = _answer_schema(df, columns)
    needed, names = _needed(df, options, schema)
    file = distribute(df.sparkSession, path)
    judge = task(
        "_tasks.judge_by_file",
        file=file,
        known_as=os.fspath(path),
        classifier=classifier,
        names=names,
        options=options,
        columns=schema.names,
        warn=warn_from_tasks(df.sparkSession),
    )
    return needed.mapInArrow(judge, schema)


def _options(
    df: DataFrame,
    url: str,
    crawler_column: str | None,
    user_agent_column: str | None,
    time_column: str | None,
) -> dict[str, Any]:
    """The columns that `Classifier.batches` reads, after a check of their types."""
    check_frame("df", df)
    text = (T.StringType, T.BinaryType)
    times = (T.TimestampType, T.TimestampNTZType, T.DateType, T.IntegralType, T.StringType)
    found = {
        "url": (url, text),
        "crawler_column": (crawler_column, text),
        "user_agent_column": (user_agent_column, text),
        "time_column": (time_column, times),
    }
    for argument, (name, kinds) in found.items():
        if name is None:
            continue
        if name not in df.columns:
            names = ", ".join(df.columns)
            raise ValueError(
                f"the data has no column '{name}'; its columns are {names}; set {argument}="
            )
        kind = df.schema[name].dataType
        if not isinstance(kind, kinds):
            wanted = "timestamp" if argument == "time_column" else "string"
            raise TypeError(
                f"column '{name}' has the type {kind.simpleString()}; cast it to {wanted}"
            )
    return {argument: name for argument, (name, _) in found.items()}


def _classifier_options(
    options: dict[str, Any],
    crawlers: tuple[Sequence[str], Sequence[str], str | bytes | Sequence[str | bytes]],
    dialect: str,
    memory: int,
) -> dict[str, Any]:
    """The arguments of the classifier of each task, after a check of them here.

    `crawlers` has the names of known crawlers, product tokens, and User-Agent headers.
    """
    found: dict[str, Any] = dict(zip(("crawlers", "tokens", "user_agent"), crawlers, strict=True))
    found |= {"dialect": dialect, "memory": memory}
    classifier = pybotaudit.Classifier(**found)
    classifier._check_crawlers(options["crawler_column"], options["user_agent_column"])
    return found


def _answer_schema(df: DataFrame, columns: Sequence[str] | None) -> StructType:
    """The columns of the result."""

    def field(name: str, index: int | None) -> StructField:
        if index is not None:
            known = df.schema.fields[index]
            return T.StructField(name, known.dataType, known.nullable, known.metadata)
        kind = T.IntegerType() if name == "rule_line" else T.StringType()
        return T.StructField(name, kind)

    chosen = chosen_columns(output_columns(df.columns), columns)
    return T.StructType([field(name, index) for name, index in chosen])


def _null(name: str, kind: Any) -> Column:
    return F.lit(None).cast(kind).alias(name)
