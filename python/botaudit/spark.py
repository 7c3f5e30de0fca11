"""Verdicts on data frames of Apache Spark, and audits of many logs.

Every worker needs this package. Nothing here collects rows on the driver, except the tally of an
audit.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tarfile
import tempfile
import urllib.parse
import urllib.request
import uuid
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.types import StructField, StructType

import botaudit
from botaudit import _botaudit, _tasks
from botaudit._classifier import output_columns
from botaudit._redirects import answers_of_redirects
from botaudit._spark_restrictions import restrictions
from botaudit._spark_robots import bad_rows, robots_rows
from botaudit._spark_tasks import group_task, task, warn_from_tasks

__all__ = [
    "AuditProblems",
    "audit",
    "classify",
    "classify_archive",
    "restrictions",
    "robots_from_warcs",
]

_SAMPLED_ROWS = 1000
"""About how many rows of an origin with `hot_rows` rows are counted."""

_ROBOTS_ERRORS_MAX = 5
"""The most errors in robots.txt files that an audit names, as the command does."""

_FAN_IN = 32
"""How many tallies one task merges."""

_PARTS = (
    "part bigint, tally binary, path string, error string, incomplete boolean, "
    "warnings array<string>"
)
_PART_NAMES = [column.split(" ")[0] for column in _PARTS.split(", ")]


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
    on_error: str = "fail",
) -> Any:
    """The rows of `df` with the answers of `botaudit.Classifier.classify`, in any order.

    Rows of URLs and of robots.txt files are shuffled together by origin, so each body is sent once,
    and a task holds the robots.txt files of one batch of rows.

    Args:
        df: n rows with a column of URLs.
        robots: `origin` (string), `fetched_at` (timestamp), `outcome` (string), `body` (binary)
            and, if wanted, `max_age` (bigint, seconds), such as from `robots_from_warcs`. Several
            rows for an origin are its history. Any number of origins.
        url: The column of URLs.
        crawlers: Names of known crawlers.
        tokens: Product tokens of other crawlers.
        user_agent: A whole User-Agent header, or several, as in `botaudit.Classifier`.
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
            sample of `df`, which reads its URLs once more; None counts nothing.
        on_error: What to do with a row of `robots` that is not valid, or that has another answer
            for the same origin and second than another row: "fail" raises an error when the result
            is computed; "report" judges URLs of its origin as `unknown`, and also returns a table.

    Returns:
        The answers; for "report" a pair of the answers and a data frame of the bad rows, with the
        columns `origin`, `fetched_at` and `what`. It reads `robots` again when it is computed.

    Raises:
        ValueError: A column is missing, or a crawler is unknown.
        TypeError: A column has a type that cannot be read.
        pyspark.errors.PythonException: When the result is computed: a row of `robots` is not valid,
            or botaudit is not installed on a worker.
    """
    _check_on_error(on_error)
    options = _options(df, url, crawler_column, user_agent_column, time_column)
    classifier = _classifier_options(options, (crawlers, tokens, user_agent), dialect, memory)
    schema = _answer_schema(df, columns)
    partitions = partitions or int(df.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    row_type = T.StructType(df.schema.fields)
    key = T.StructField("origin", T.StringType())
    keyed = T.StructType([key, T.StructField("row", row_type)])
    urls = df.select(_row(df)).mapInArrow(task("url_origins", url=url), keyed)
    given = robots_rows(robots)
    known = given.mapInArrow(task("robots_origins", on_error=on_error), given.schema)
    urls, known = _salted(urls, known, f"row.`{url}`", partitions, hot_rows)
    urls = urls.select("origin", "salt", F.lit(1).alias("kind"), *_nulls(known.schema, 1, 5), "row")
    known = known.select(
        "origin", "salt", F.lit(0).alias("kind"), *known.columns[1:5], _null("row", row_type)
    )
    tagged = urls.unionAll(known).repartition(partitions, "origin", "salt")
    tagged = tagged.sortWithinPartitions("origin", "salt", "kind", "fetched_at")
    judge = task(
        "judge",
        classifier=classifier,
        options=options,
        columns=schema.names,
        on_error=on_error,
        warn=warn_from_tasks(df.sparkSession),
    )
    answers = tagged.mapInArrow(judge, schema)
    return answers if on_error == "fail" else (answers, bad_rows(given))


def _check_on_error(on_error: str) -> None:
    if on_error not in ("fail", "report"):
        raise ValueError(f"on_error is '{on_error}'; write 'fail' or 'report'")


def _salted(
    urls: DataFrame, known: DataFrame, url: str, partitions: int, hot_rows: int | None
) -> tuple[DataFrame, DataFrame]:
    """Both with a column `salt`, by which the rows of an origin go to several tasks.

    The salt is a function of the URL: a task that runs again must give each row the same one.
    """
    copies = _copies(urls, hot_rows)
    if copies is None:
        urls = urls.withColumn("copies", F.lit(1))
        known = known.withColumn("copies", F.lit(1))
    else:
        urls = urls.join(F.broadcast(copies), "origin", "left")
        known = known.join(F.broadcast(copies), "origin", "left")
    # URLs without an origin need no robots.txt, and go anywhere.
    of_url = F.when(F.col("origin").isNull(), partitions).otherwise(F.coalesce("copies", F.lit(1)))
    urls = urls.withColumn("salt", F.pmod(F.xxhash64(F.col(url)), of_url).cast("int"))
    last = F.coalesce("copies", F.lit(1)) - 1
    known = known.withColumn("salt", F.explode(F.sequence(F.lit(0), last.cast("int"))))
    return urls, known


def _copies(urls: DataFrame, hot_rows: int | None) -> DataFrame | None:
    """The origins with more rows than `hot_rows`, and in how many parts they are judged."""
    if hot_rows is None:
        return None
    if hot_rows < 1:
        raise ValueError(f"hot_rows is {hot_rows}; give 1 or more, or None")
    share = min(1.0, _SAMPLED_ROWS / hot_rows)
    sample = urls.where(F.col("origin").isNotNull()).select("origin")
    if share < 1:
        sample = sample.sample(fraction=share, seed=1)
    counts = sample.groupBy("origin").count().where(F.col("count") > hot_rows * share)
    hot = [(row["origin"], -int(-row["count"] // (hot_rows * share))) for row in counts.collect()]
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
    file = _distribute(df.sparkSession, path)
    judge = task(
        "judge_by_file",
        file=file,
        known_as=os.fspath(path),
        classifier=classifier,
        options=options,
        columns=schema.names,
        warn=warn_from_tasks(df.sparkSession),
    )
    return df.select(_row(df)).mapInArrow(judge, schema)


def _distribute(spark: SparkSession, path: str | os.PathLike[str]) -> str:
    """Copies a file or directory to each worker, and returns its name there."""
    path = os.path.abspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist; name a file or directory of the driver")
    if os.path.isdir(path):
        # Spark copies directories in local mode only.
        packed = os.path.join(
            tempfile.mkdtemp(prefix="botaudit-"), f"{uuid.uuid4().hex}{_tasks.PACKED}"
        )
        with tarfile.open(packed, "w", dereference=True) as tar:
            tar.add(path, ".")
        atexit.register(shutil.rmtree, os.path.dirname(packed), ignore_errors=True)
        path = packed
    spark.sparkContext.addFile(path)
    return os.path.basename(path)


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
    _check_on_error(on_error)
    files, repeated = _locations(paths)
    _warn(repeated)
    numbers = spark.range(0, len(files), 1, len(files))
    read = numbers.mapInArrow(
        task("warc_rows", paths=files, on_error=on_error),
        "origin string, fetched_at timestamp, outcome string, max_age bigint, body binary, "
        "chain string, file string, record_offset bigint, what string",
    ).persist(StorageLevel.DISK_ONLY)
    problem = ["file", "record_offset", "what"]
    rows = read.where(F.col("what").isNull()).drop(*problem)
    waits = (F.col("outcome") == "unfollowed") & F.col("chain").isNotNull()
    answers = answers_of_redirects(
        rows, task("redirect_targets"), rows.where(waits).select("origin", "fetched_at", "chain")
    )
    bodies = rows.select(
        F.col("origin").alias("target"), F.col("fetched_at").alias("target_time"), "body"
    )
    followed = answers.join(bodies, ["target", "target_time"], "left")
    followed = followed.select("origin", "fetched_at", "outcome", "max_age", "body")
    unanswered = rows.where(waits).join(answers, ["origin", "fetched_at"], "left_anti")
    others = rows.where(~waits).unionByName(unanswered).drop("chain")
    robots = others.unionByName(followed)
    if on_error == "fail":
        return robots
    return robots, read.where(F.col("what").isNotNull()).select(*problem)


class AuditProblems(dict[str, str]):
    """The logs that could not be read, or not to their end, and why; and what else there is to say.

    Empty if all logs were read.
    """

    unjudged: str | None = None
    """Why no request could be judged, or too few; None if the audit is as it should be."""

    warnings: tuple[str, ...] = ()
    """All warnings of the audit, each once."""


def audit(
    spark: SparkSession,
    paths: Iterable[str | os.PathLike[str]],
    *,
    robots: str | os.PathLike[str],
    output: str | os.PathLike[str],
    args: Sequence[str] = (),
    on_error: str = "fail",
) -> AuditProblems:
    """Audit logs, each in a task of its own, and write one report on the driver.

    The report equals that of one `botaudit audit` of all logs, byte for byte except `made_at_utc`.
    A task that runs twice counts once. A log with several names (`./a.gz`, links) counts once, with
    a warning. Each warning of the command becomes a Python warning on the driver, once.

    Args:
        spark: The session.
        paths: n logs: paths that all workers can read, or URIs that pyarrow knows. Reports name
            them as they are written here.
        robots: A robots.txt file, directory or archive of the driver, which Spark copies to the
            workers. Reports name it as it is written here, an absolute path by its last component.
        output: The report directory to write.
        args: More arguments of `botaudit audit`, such as `["--ip", "mask"]`. Files among them must
            be absolute paths that all workers can read.
        on_error: What to do where the command would end with exit code 3, and with a log that
            cannot be read after three attempts. "fail" raises an error and writes nothing. "report"
            writes the report: it names such logs as damaged inputs, and says if nothing could be
            judged. The result says the same.

    Returns:
        The logs that could not be read, or not to their end, and why; `.unjudged` says why nothing
        could be judged, and `.warnings` has all warnings. For "fail" it has no logs, and
        `.unjudged` is None.

    Raises:
        RuntimeError: A log could not be audited, or is damaged; nothing could be judged; or, also
            for "report", no log could be audited.
        ValueError: An argument is not valid.
    """
    _check_on_error(on_error)
    if isinstance(args, str):
        raise TypeError(f"args is one text; write args={args.split()!r}")
    logs, repeated = _locations(paths)
    name = os.fspath(robots)
    name = os.path.basename(os.path.normpath(name)) if os.path.isabs(name) else name
    if ".." in Path(name).parts:
        raise ValueError(f"robots '{name}' has '..'; write an absolute path")
    audits = task("audits", paths=logs, robots=(name, _distribute(spark, robots)), args=list(args))
    parts = spark.range(0, len(logs), 1, len(logs)).mapInArrow(audits, _PARTS)
    count = len(logs)
    while count > 1:
        group = F.floor(F.col("part") / _FAN_IN).cast("bigint").alias("part")
        parts = parts.select(group, *_PART_NAMES[1:])
        parts = parts.groupBy("part").applyInArrow(group_task("merge"), _PARTS)
        count = -(-count // _FAN_IN)
    rows = sorted(parts.collect(), key=lambda row: row["path"] or "")
    failures = {row["path"]: row["error"] for row in rows if row["error"] is not None}
    if (unmerged := failures.pop(None, None)) is not None:
        raise RuntimeError(f"{unmerged}; nothing was written")
    tallies = [bytes(row["tally"]) for row in rows if row["tally"] is not None]
    if failures and (on_error == "fail" or not tallies):
        path, why = min(failures.items())
        advice = "set on_error='report' to write a report that names it" if tallies else ""
        raise RuntimeError(
            f"{len(failures)} of {len(logs)} logs could not be audited, and nothing was written; "
            f"the first is {path}: {why}" + (f"; {advice}" if advice else "")
        )
    tallies += [_botaudit.tally_of_unread(tallies[0], path, why) for path, why in failures.items()]
    found = AuditProblems()
    with tempfile.TemporaryDirectory() as directory:
        names = _tasks.write_tallies(directory, tallies)
        report = os.path.abspath(output)
        # What the report says decides whether it is written.
        first = os.path.join(directory, "report") if on_error == "fail" else report
        said = _tasks.run_command(["report", *names, "-o", first], directory)
        run = json.loads((Path(first) / "run.json").read_bytes())
        damaged = {log["name"]: log["damage"] for log in run["inputs"] if log["damage"]}
        # Other reasons for exit code 3 are among the warnings about a log.
        damaged.update(
            (row["path"], " ".join(row["warnings"]))
            for row in rows
            if row["incomplete"] and row["path"] is not None and row["path"] not in damaged
        )
        found.update(damaged)
        if "--allow-unjudged" not in args:
            found.unjudged = run.get("nothing_judged") or run.get("too_little_judged")
        of_tasks = [warning for row in rows for warning in row["warnings"]]
        of_robots = _robots_errors(run["robots"], name, robots)
        found.warnings = tuple(dict.fromkeys([*repeated, *of_tasks, *said.warnings, *of_robots]))
        _warn(found.warnings)
        if on_error == "fail":
            _refuse_incomplete(found, len(logs))
            _tasks.run_command(["report", *names, "-o", report], directory)
    return found


def _robots_errors(
    used: Iterable[dict[str, Any]], name: str, robots: str | os.PathLike[str]
) -> list[str]:
    """What the command says about errors in the lines of the robots.txt files of an audit.

    Reports know `robots` as `name`. The files of an archive were not written by the user.
    """
    errors: list[tuple[str, str]] = []
    known = set()
    for robots_txt in used:
        source, digest = robots_txt["source"], robots_txt["digest"]
        path = Path(robots)
        if source != name:
            path /= os.path.relpath(source, name)
        if digest in known or not path.is_file():
            continue
        known.add(digest)
        with open(path, "rb") as file:
            body = file.read(_botaudit.KEPT_BYTES_MAX)
        errors += [
            (source, f"{source}:{line}: {message} [{code}]")
            for line, message, code in _botaudit.line_errors(body)
        ]
    said = [text for _, text in errors[:_ROBOTS_ERRORS_MAX]]
    if len(errors) > len(said):
        more = len(errors) - len(said)
        first = errors[len(said)][0]
        said.append(f"{more} more robots.txt errors; botaudit lint {first} shows all")
    return said


def _refuse_incomplete(found: AuditProblems, logs: int) -> None:
    """Raise an error for what gives the command the exit code 3."""
    reasons = []
    if found:
        path, why = min(found.items())
        reasons.append(f"{len(found)} of {logs} logs are damaged; the first is {path}: {why}")
    if found.unjudged is not None:
        reasons.append(found.unjudged)
    if reasons:
        raise RuntimeError(
            f"{'; '.join(reasons)}; nothing was written; set on_error='report' to write a report "
            "that says so"
        )


def _warn(messages: Iterable[str]) -> None:
    """Each message as a warning of Python, at the line that called a function of this module."""
    for message in messages:
        warnings.warn(message, stacklevel=3)


def _locations(
    paths: Iterable[str | os.PathLike[str]],
) -> tuple[list[tuple[str, str]], list[str]]:
    """The name of each file, where workers find it, and sentences about files with several names.

    Such a file comes once, under the name by which the command knows it: the first one.
    """
    if isinstance(paths, (str, os.PathLike)):
        raise TypeError(f"paths is one path; write [{os.fspath(paths)!r}]")
    names = [os.fspath(path) for path in paths]
    if not names:
        raise ValueError("paths is empty; name at least one file")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"paths has '{twice}' twice; name each file once")
    first: dict[object, str] = {}
    for name in sorted(names, key=_order):
        first.setdefault(_identity(name), name)
    kept = set(first.values())
    repeated = [
        f"{name} is the same file as {first[_identity(name)]}, so it was read once"
        for name in names
        if name not in kept
    ]
    found = [(name, name if "://" in name else os.path.abspath(name)) for name in names]
    return [file for file in found if file[0] in kept], repeated


def _identity(name: str) -> object:
    """Equal for names of the same file, as far as the driver can see it."""
    path = name
    if name.startswith("file://"):
        path = urllib.request.url2pathname(urllib.parse.urlsplit(name).path)
    elif "://" in name:
        return name
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    # Some file systems do not number files.
    return (found.st_dev, found.st_ino) if found.st_ino else os.path.realpath(path)


def _order(name: str) -> list[tuple[int, str]]:
    """The order of paths by their components, which is that of the command."""
    ranks = {"": 0, ".": 1, "..": 2}
    parts = name.split("/")
    return [
        (ranks.get(part, 3), part)
        for at, part in enumerate(parts)
        if at == 0 or part not in ("", ".")
    ]


def _options(
    df: DataFrame,
    url: str,
    crawler_column: str | None,
    user_agent_column: str | None,
    time_column: str | None,
) -> dict[str, Any]:
    """The columns that `Classifier.batches` reads, after a check of their types."""
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
    classifier = botaudit.Classifier(**found)
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

    by_name = dict(output_columns(df.columns))
    for name in columns or ():
        if name not in by_name:
            names = ", ".join(by_name)
            raise ValueError(f"columns has the unknown name '{name}'; the columns are {names}")
    wanted = list(by_name if columns is None else columns)
    return T.StructType([field(name, by_name[name]) for name in wanted])


def _row(df: DataFrame) -> Column:
    """All columns as one: `mapInArrow` refuses names with dots."""
    return F.struct(*(F.col(f"`{name}`") for name in df.columns)).alias("row")


def _null(name: str, kind: Any) -> Column:

    return F.lit(None).cast(kind).alias(name)


def _nulls(schema: StructType, start: int, end: int) -> list[Column]:
    return [_null(field.name, field.dataType) for field in schema.fields[start:end]]
