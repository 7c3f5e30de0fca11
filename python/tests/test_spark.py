"""Verdicts and audits by Spark are those of the command, whatever happens to its workers."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import pickle
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pybotaudit
import pytest
from conftest import (
    ANSWERS,
    EPOCH,
    REPOSITORY,
    Snapshot,
    answers,
    by_command,
    command,
    random_snapshots,
    random_urls,
    robots_table,
    write_archive,
)  # fmt: skip
from test_robots import response

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)
from pybotaudit import _audit_tasks, _spark_audit, _spark_classify, _spark_paths
from pybotaudit import spark as bs
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def session(master: str, **settings: object) -> SparkSession:
    """A session with small batches, so that origins are split."""
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "4")
    builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "97")
    builder = builder.config("spark.sql.session.timeZone", "America/Lima")
    for name, value in settings.items():
        builder = builder.config(name.replace("_", "."), str(value))
    return builder.getOrCreate()


@pytest.fixture(scope="module", params=["local[2]", "local-cluster[2,1,1024]"])
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    found = session(request.param)
    found.sparkContext.setLogLevel("ERROR")
    yield found
    found.stop()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Snapshots, their archive, rows of URLs, and the command's answers without and with times."""
    directory = tmp_path_factory.mktemp("data")
    rng = random.Random(3)
    snapshots = random_snapshots(rng, 30, 9)
    archive = write_archive(directory, snapshots)
    rows = [
        {"url": url, "at": str(int(rng.choice(snapshots).time.timestamp()) + rng.randint(0, 7200))}
        for url in random_urls(rng, 30, 3000)
    ]
    flags = ["--robots", archive, "--crawler", "GPTBot", "--token", "mybot"]
    newest = by_command(directory, rows, *flags)
    dated = by_command(directory, rows, *flags, "--time-column", "at")
    urls = [row["url"] for row in rows for _ in range(2)]
    at = [int(row["at"]) for row in rows for _ in range(2)]
    return snapshots, archive, rows, sorted_rows(urls, at, newest), sorted_rows(urls, at, dated)


def sorted_rows(urls: list[str], at: list[int], found: list[Any]) -> list[Any]:
    """Rows in an order of their own."""
    rows = [(url, time, *answer) for url, time, answer in zip(urls, at, found, strict=True)]
    return sorted(rows, key=repr)


def collected(frame: DataFrame) -> list[Any]:
    """The same of a data frame."""
    rows = frame.select("url", "at", *ANSWERS).collect()
    return sorted((tuple(row) for row in rows), key=repr)


def url_frame(spark: SparkSession, rows: list[Any]) -> DataFrame:
    pairs = [(row["url"], int(row["at"]), {"x": "y"}) for row in rows]
    return spark.createDataFrame(pairs, "url string, at bigint, `more.of it` map<string,string>")


def robots_frame(spark: SparkSession, snapshots: list[Snapshot]) -> DataFrame:
    return spark.createDataFrame(
        [(row.origin, row.time, row.outcome, row.max_age, row.body) for row in snapshots],
        "origin string, fetched_at timestamp, outcome string, max_age bigint, body binary",
    )


@pytest.mark.parametrize(
    "options",
    [{}, {"hot_rows": 20}, {"hot_rows": 7, "partitions": 3, "memory": 1 << 16}, {"hot_rows": None}],
    ids=str,
)
def test_verdicts_are_those_of_the_command(
    spark: SparkSession, data: Any, options: dict[str, Any]
) -> None:
    snapshots, _, rows, newest, dated = data
    urls, robots = url_frame(spark, rows), robots_frame(spark, snapshots)
    who: dict[str, Any] = {"crawlers": ["GPTBot"], "tokens": ["mybot"]}
    frame = bs.classify(urls, robots, **who, **options)
    assert frame.columns == ["url", "at", "more.of it", *ANSWERS]
    assert collected(frame) == newest
    assert collected(bs.classify(urls, robots, **who, time_column="at", **options)) == dated


@pytest.mark.parametrize(
    "options",
    [{}, {"at": "2026-02-01"}, {"every": "week", "partitions": 3}, {"every": "month"}],
    ids=str,
)
def test_restrictions_are_those_of_the_module(
    spark: SparkSession, rng: random.Random, options: dict[str, Any]
) -> None:
    # Batches have 97 rows, so that they begin and end between the files of an origin.
    snapshots = random_snapshots(rng, 40, 30)
    who: dict[str, Any] = {"crawlers": ["GPTBot", "AdsBot-Google"], "tokens": ["mybot"]}
    shuffled = rng.sample(snapshots, len(snapshots))
    found = bs.restrictions(robots_frame(spark, shuffled), **who, **options)
    module = {name: value for name, value in options.items() if name != "partitions"}
    expected = pybotaudit.restrictions(robots_table(snapshots), **who, **module)
    assert found.columns == expected.column_names
    rows = found.toArrow().cast(pa.schema([_without_dictionary(of) for of in expected.schema]))
    assert sorted(rows.to_pylist(), key=repr) == sorted(expected.to_pylist(), key=repr)
    assert len(expected) >= 3 * 40


def _without_dictionary(field: pa.Field) -> pa.Field:
    return field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field


def test_restrictions_name_mistakes_before_the_first_task(
    spark: SparkSession, rng: random.Random
) -> None:
    robots = robots_frame(spark, random_snapshots(rng, 2, 1))
    assert bs.restrictions(robots.limit(0), tokens=["a"]).collect() == []
    with pytest.raises(ValueError, match="no crawler is given"):
        bs.restrictions(robots)
    with pytest.raises(ValueError, match="GPTBott"):
        bs.restrictions(robots, ["GPTBott"])
    with pytest.raises(TypeError, match="tokens is one text"):
        bs.restrictions(robots, tokens="mybot")
    with pytest.raises(ValueError, match="decade"):
        bs.restrictions(robots, tokens=["a"], every="decade")
    with pytest.raises(ValueError, match="no column 'outcome'"):
        bs.restrictions(robots.drop("outcome"), tokens=["a"])
    wrong = robots.withColumn("outcome", F.lit("perhaps"))
    with pytest.raises(PythonException, match="perhaps") as failed:
        bs.restrictions(wrong, tokens=["a"]).collect()
    assert "on_error" not in str(failed.value)


def test_an_archive_needs_no_shuffle(spark: SparkSession, data: Any) -> None:
    _, archive, rows, newest, _ = data
    urls = url_frame(spark, rows).repartition(3)
    frame = bs.classify_archive(urls, archive, crawlers=["GPTBot"], tokens=["mybot"])
    assert collected(frame) == newest
    frame = bs.classify_archive(urls, archive, tokens=["a"], columns=["verdict", "url"])
    assert frame.columns == ["verdict", "url"] and frame.count() == len(rows)


def test_a_file_is_sent_again_if_it_changed(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([("https://a.example/x",)], "url string")
    for directory in ("one", "two"):
        (tmp_path / directory).mkdir()

    def verdict(body: bytes, path: Path) -> str:
        path.write_bytes(body)
        (row,) = bs.classify_archive(frame, path, tokens=["a"], columns=["verdict"]).collect()
        return str(row["verdict"])

    one, two = (tmp_path / name / "robots.txt" for name in ("one", "two"))
    assert verdict(b"User-agent: *\nDisallow: /x\n", one) == "disallowed"
    assert verdict(b"User-agent: *\nDisallow: /yy\n", one) == "allowed"
    assert verdict(b"User-agent: *\nDisallow: /x\n#", two) == "disallowed"
    sent = {_spark_paths.distribute(spark, path) for path in (one, two, one, two)}
    assert len(sent) == 2


def test_warnings_of_tasks_reach_the_driver(spark: SparkSession, tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    (tmp_path / "robots").mkdir()
    for name, body in zip(
        names,
        [b"<html><body>Not found</body></html>", b"\xff" * 9, b"User-agent: *\n"],
        strict=True,
    ):
        (tmp_path / f"robots/{name}.example").write_bytes(body)
    urls = [f"https://{name}.example/{n}" for n in range(200) for name in names]
    frame = spark.createDataFrame([(url,) for url in urls], "url string").repartition(4)
    alone = pybotaudit.Classifier(tokens=["a"], robots=tmp_path / "robots")
    alone.classify(pa.table({"url": urls}))
    assert alone.warnings()
    answers = bs.classify_archive(frame, tmp_path / "robots", tokens=["a"], columns=["verdict"])
    with pytest.warns(UserWarning) as warned:
        answers.collect()
    assert sorted(str(warning.message) for warning in warned) == sorted(alone.warnings())


def test_an_origin_is_judged_by_several_tasks(spark: SparkSession) -> None:
    robots = robots_frame(
        spark, [Snapshot("https://a.example", 1, "200", None, b"User-agent: *\nDisallow: /1")]
    )
    urls = spark.createDataFrame([(f"https://a.example/{n}",) for n in range(1000)], "url string")
    frame = bs.classify(urls, robots, tokens=["a"], partitions=8, hot_rows=50)
    sizes = [len(part) for part in frame.rdd.glom().collect() if part]
    assert len(sizes) > 3 and sum(sizes) == 1000 and max(sizes) < 600
    assert frame.where("verdict = 'disallowed'").count() == 111


def test_unused_origins_can_be_left_out(spark: SparkSession, data: Any) -> None:
    snapshots, _, rows, newest, dated = data
    urls = url_frame(spark, rows)
    other = [
        Snapshot(f"https://o{n}.example", 1, "200", None, random.Random(n).randbytes(2000))
        for n in range(500)
    ]
    # Canonical or not, a used origin stays.
    used = [row._replace(origin=row.origin.upper() + ":443/") if row.origin.endswith("h3.example")
            else row for row in snapshots]  # fmt: skip
    who: dict[str, Any] = {"crawlers": ["GPTBot"], "tokens": ["mybot"], "skip_unused_origins": True}
    robots = robots_frame(spark, [*used, *other])
    for hot_rows in (20, None):
        frame = bs.classify(urls, robots, **who, hot_rows=hot_rows)
        assert collected(frame) == newest
    assert collected(bs.classify(urls, robots, **who, time_column="at")) == dated

    def sent(skip: bool) -> int:
        options = {**who, "skip_unused_origins": skip, "columns": ["verdict"]}
        return shuffled_bytes(spark, bs.classify(urls, robots, **options))

    assert sent(False) - sent(True) > 400 * 2000
    # Rows of other origins are not checked.
    bad = robots_frame(spark, [*snapshots, Snapshot("https://o.example", 1, "fine", None, None)])
    assert collected(bs.classify(urls, bad, **who)) == newest
    assert "'fine' is not valid" in message(bs.classify(urls, bad, tokens=["a"]))
    (_, problems) = bs.classify(urls, bad, **who, on_error="report")
    assert [row["origin"] for row in problems.collect()] == ["https://o.example"]


@pytest.mark.parametrize("partitions", [4, 9, 20])
def test_parts_of_an_origin_are_in_different_tasks(spark: SparkSession, partitions: int) -> None:
    robots = robots_frame(
        spark, [Snapshot("https://a.example", 1, "200", None, b"User-agent: *\nDisallow: /1")]
    )
    urls = [f"https://a.example/{n}" for n in range(900)] + ["no url"] * 40
    frame = spark.createDataFrame([(url,) for url in urls], "url string")
    # 900 rows are nine times 100.
    frame = bs.classify(frame, robots, tokens=["a"], partitions=partitions, hot_rows=100)
    parts = frame.rdd.glom().collect()
    sizes = [sum(row["origin"] is not None for row in part) for part in parts]
    assert len(parts) == partitions and sum(sizes) == 900
    assert sum(map(bool, sizes)) == min(9, partitions)
    assert frame.where("verdict = 'disallowed'").count() == 111
    assert frame.where("origin IS NULL").count() == 40


def test_origins_are_counted_in_a_sample(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = spark.range(100_000).selectExpr("concat('https://h', id % 2, '.example/') url")
    counted = []
    with_origins = _spark_classify._with_origins

    def spy(rows: DataFrame, column: str) -> DataFrame:
        counted.append(rows.count())
        return with_origins(rows, column)

    monkeypatch.setattr(_spark_classify, "_with_origins", spy)
    found = _spark_classify._copies(urls, 8, 20_000)
    # Python sees about one row of twenty, and each origin has 50,000.
    assert len(counted) == 1 and 4000 < counted[0] < 6000
    assert found is not None
    assert {row["origin"]: row["copies"] for row in found.collect()} == {
        "https://h0.example": 3,
        "https://h1.example": 3,
    }
    assert _spark_classify._copies(urls, 8, 1_000_000) is None


def test_names_of_columns_are_free(spark: SparkSession, data: Any) -> None:
    snapshots, archive, rows, newest, _ = data
    names = ["URL", "url", "a.b", "back`tick", "b c", "verdict", "Origin", "c0", ""]
    table = [("", row["url"], int(row["at"]), None, "x", row["url"][::-1], "o", n, "e")
             for n, row in enumerate(rows)]  # fmt: skip
    kinds = ["string", "string", "bigint", "map<string,int>", *["string"] * 3, "bigint", "string"]
    schema = ", ".join(f"k{n} {kind}" for n, kind in enumerate(kinds))
    frame = spark.createDataFrame(table, schema).toDF(*names)
    kept = [*names[:5], "input_verdict", *names[6:]]
    who: dict[str, Any] = {"crawlers": ["GPTBot"], "tokens": ["mybot"]}
    robots = robots_frame(spark, snapshots)
    for judged in (
        bs.classify(frame, robots, **who, time_column="a.b", columns=None),
        bs.classify_archive(frame, archive, **who, time_column="a.b"),
    ):
        assert judged.columns == [*kept, *ANSWERS]
        found = [tuple(row) for row in judged.collect()]
        assert {row[: len(names)] for row in found} == set(map(tuple, table))
        dated = [(row[1], row[2], *row[len(names) :]) for row in found]
        assert sorted(dated, key=repr) == data[4]
    some = ["back`tick", "snapshot", "Origin", "input_verdict"]
    for judged in (
        bs.classify(frame, robots, **who, columns=some),
        bs.classify_archive(frame, archive, **who, columns=some),
    ):
        assert judged.columns == some
        found = sorted((row[3][::-1], row[1] or "") for row in judged.collect())
        assert found == sorted((row[0], row[-1] or "") for row in newest)
    twice = spark.createDataFrame([("a", "b")], "x string, y string").toDF("url", "url")
    with pytest.raises(ValueError, match="two columns 'url'"):
        bs.classify(twice, robots, tokens=["a"])


def test_an_older_spark_has_the_same_answers(
    spark: SparkSession, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark 4.0 has neither `arrow_udf` nor `repartitionById`."""
    snapshots, _, rows, newest, _ = data
    urls, robots = url_frame(spark, rows), robots_frame(spark, snapshots)
    for of in (type(urls), DataFrame):
        monkeypatch.delattr(of, "repartitionById", raising=False)
    monkeypatch.delattr(F, "arrow_udf", raising=False)
    who: dict[str, Any] = {"crawlers": ["GPTBot"], "tokens": ["mybot"]}
    for hot_rows in (20, None):
        assert collected(bs.classify(urls, robots, **who, hot_rows=hot_rows)) == newest


def shuffled_bytes(spark: SparkSession, frame: DataFrame) -> int:
    """The bytes that the tasks of a computation write for others."""
    context = spark.sparkContext
    group = f"measured {time.monotonic()}"
    context.setJobGroup(group, group)
    frame.write.format("noop").mode("overwrite").save()
    context.setJobGroup("other", "other")
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    stages = {
        stage
        for job in tracker.getJobIdsForGroup(group)
        for stage in tracker.getJobInfo(job).stageIds
    }
    return sum(store.lastStageAttempt(stage).shuffleWriteBytes() for stage in stages)


def test_only_needed_columns_are_read_and_sent(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(1)
    words = [rng.randbytes(9).hex() for _ in range(4000)]
    table = [(f"https://h{rng.randrange(99)}.example/{word}", n, rng.randbytes(1000), n)
             for n, word in enumerate(words)]  # fmt: skip
    schema = "url string, at bigint, wide binary, `more.of it` bigint"
    spark.createDataFrame(table, schema).write.parquet(str(tmp_path / "urls"))
    urls = spark.read.parquet(str(tmp_path / "urls"))
    robots = robots_frame(spark, [Snapshot("https://h1.example", 1, "200", None, b"")])
    (tmp_path / "robots").mkdir()

    def read(frame: DataFrame) -> set[str]:
        plan = frame._jdf.queryExecution().executedPlan().toString()
        return set(re.findall(r"ReadSchema: struct<([^>]*)>", plan))

    def classified(*columns: str, **options: Any) -> DataFrame:
        return bs.classify(urls, robots, tokens=["a"], columns=columns, **options)

    assert read(classified("verdict", "origin")) == {"url:string"}
    assert read(classified("verdict", "more.of it", hot_rows=None)) == {
        "url:string,more.of it:bigint"
    }
    assert read(classified("url", time_column="at")) == {"url:string,at:bigint"}
    by_archive = bs.classify_archive(urls, tmp_path / "robots", tokens=["a"], columns=["verdict"])
    assert read(by_archive) == {"url:string"}
    origins = _spark_classify._with_origins(urls.select("url"), "url")
    needed = shuffled_bytes(spark, origins.repartition(4, "origin"))
    assert needed > 9 * 4000
    assert shuffled_bytes(spark, classified("url", "verdict")) < 1.3 * needed
    assert shuffled_bytes(spark, classified("wide", "verdict")) > 1000 * 4000
    # The columns that are returned do not pass Python on the way to the shuffle.
    plan = classified("wide", "verdict")._jdf.queryExecution().executedPlan().toString()
    assert re.search(r"ArrowEvalPython \[run\(url#\d+\)#", plan) and plan.count("MapInArrow") == 2


def warcs(directory: Path) -> list[Path]:
    """Three files; redirects lead from one to another."""
    to = "301 x\r\nLocation: https://{}/robots.txt"
    files = [
        response("https://a.example/robots.txt", 1, "200 OK\r\nCache-Control: max-age=60", "A")
        + response("http://a.example/robots.txt", 1, to.format("a.example"))
        + response("https://loop.example/robots.txt", 1, to.format("loop.example")),
        response("https://b.example/robots.txt", 2, to.format("a.example"))
        + response("https://c.example/robots.txt", 2, to.format("d.example"))
        + response("https://nowhere.example/robots.txt", 2, to.format("missing.example"))
        + response("https://page.example/robots.txt", 2, "302 x\r\nLocation: https://a.example/")
        + response("https://h0.example/robots.txt", 2, to.format("h1.example"))
        + response("https://h2.example/robots.txt", 2, to.format("h3.example"))
        + response("https://h4.example/robots.txt", 2, to.format("h5.example")),
        response("https://d.example/robots.txt", 3, to.format("b.example"))
        + response("https://e.example/robots.txt", 3, "503 x")
        + response("https://f.example/robots.txt", 3, to.format("e.example"))
        + response("https://h1.example/robots.txt", 3, to.format("h2.example"))
        + response("https://h3.example/robots.txt", 3, to.format("h4.example"))
        + response("https://h5.example/robots.txt", 3, to.format("h6.example"))
        + response("https://h6.example/robots.txt", 3, to.format("a.example")),
    ]
    paths = [directory / f"{number}.warc.gz" for number in range(len(files))]
    for path, content in zip(paths, files, strict=True):
        path.write_bytes(content)
    return paths


def test_redirects_lead_from_one_warc_file_to_another(spark: SparkSession, tmp_path: Path) -> None:
    paths = warcs(tmp_path)
    archive = tmp_path / "robots.db"
    command("robots", "import", "-q", "-a", archive, *paths)
    frame = bs.robots_from_warcs(spark, [paths[0], *map(str, paths[1:])])
    rows = frame.collect()
    found = {row["origin"]: (row["outcome"], row["max_age"]) for row in rows}
    assert len(found) == len(rows)
    urls = [f"{origin}/{path}" for origin in found for path in ("x", "robots.txt")]
    for_command = by_command(
        tmp_path, [{"url": url} for url in urls], "--robots", archive, "--token", "a"
    )
    table = spark.createDataFrame([(url, 0) for url in urls], "url string, at bigint")
    judged = collected(bs.classify(table, frame, tokens=["a"]))
    assert judged == sorted_rows(urls, [0] * len(urls), for_command)
    assert found["https://c.example"] == ("200", 60)
    assert found["https://f.example"] == ("503", None)
    assert found["https://loop.example"] == ("301", None)
    assert found["https://h0.example"] == ("301", None)
    assert found["https://nowhere.example"] == found["https://page.example"] == ("unfollowed", None)
    schema = "struct<origin:string,fetched_at:timestamp,outcome:string,max_age:bigint,body:binary>"
    assert frame.schema.simpleString() == schema
    with pytest.raises(Exception, match=r"nowhere\.warc"):
        bs.robots_from_warcs(spark, [tmp_path / "nowhere.warc"]).count()


def test_few_redirects_shuffle_no_bodies(spark: SparkSession, tmp_path: Path) -> None:
    paths = warcs(tmp_path)
    threshold = "spark.sql.autoBroadcastJoinThreshold"
    usual = spark.conf.get(threshold)
    try:
        # The answers may be sent to all, the bodies may not.
        spark.conf.set(threshold, 2000)
        frame = bs.robots_from_warcs(spark, paths)
        plan = frame._jdf.queryExecution().executedPlan().toString()
    finally:
        spark.conf.set(threshold, usual)
    assert re.search(r"BroadcastHashJoin \[target#\d+, target_time#\d+\].*BuildLeft", plan), plan


def test_damage_to_a_warc_file_is_not_lost(spark: SparkSession, tmp_path: Path) -> None:
    paths = warcs(tmp_path)
    whole = bs.robots_from_warcs(spark, paths[:1]).collect()
    url = "https://{}.example/robots.txt"
    good = [response(url.format(name), 1, "200 OK", name) for name in "uvw"]
    # A record without a length, one that ends early, and a file that ends within one.
    bad = gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
    records = {"damaged.warc.gz": [good[0], bad, good[1]], "cut.warc.gz": [*good, good[0][:-40]]}
    for name, parts in records.items():
        (tmp_path / name).write_bytes(b"".join(parts))
    logs = [paths[0], *(tmp_path / name for name in records)]
    for name in records:
        with pytest.raises(Exception, match=rf"{name}: 1 problem.*on_error='report'"):
            bs.robots_from_warcs(spark, [paths[0], tmp_path / name]).collect()
    frame, problems = bs.robots_from_warcs(spark, logs, on_error="report")
    rows = frame.collect()
    assert sorted(row["origin"] for row in rows) == sorted(
        [row["origin"] for row in whole]
        + [f"https://{name}.example" for name in "uv"]
        + [f"https://{name}.example" for name in "uvw"]
    )
    found = {Path(row["file"]).name: row for row in problems.collect()}
    assert problems.schema.simpleString() == (
        "struct<file:string,record_offset:bigint,what:string>"
    )
    assert set(found) == set(records) and found["cut.warc.gz"]["file"] == str(logs[2])
    lengths = [len(gzip.decompress(part)) for part in good]
    assert found["damaged.warc.gz"]["record_offset"] == lengths[0]
    assert "it has no Content-Length" in found["damaged.warc.gz"]["what"]
    assert found["cut.warc.gz"]["record_offset"] == sum(lengths)
    assert found["cut.warc.gz"]["what"].startswith("truncated gzip stream at byte ")
    # A file that is not there, and whole ones.
    frame, problems = bs.robots_from_warcs(
        spark, [paths[0], tmp_path / "nowhere.warc"], on_error="report"
    )
    assert sorted(frame.collect()) == sorted(whole)
    (problem,) = problems.collect()
    assert problem["record_offset"] is None and "No such file" in problem["what"]
    frame, problems = bs.robots_from_warcs(spark, paths[:1], on_error="report")
    assert sorted(frame.collect()) == sorted(whole) and problems.count() == 0
    with pytest.raises(ValueError, match="on_error is 'x'"):
        bs.robots_from_warcs(spark, paths, on_error="x")


def test_a_warc_file_with_several_names_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    path = warcs(tmp_path)[0]
    (tmp_path / "link.warc.gz").symlink_to(path)
    with pytest.warns(UserWarning, match=r"link\.warc\.gz is the same file as .*read once"):
        frame = bs.robots_from_warcs(spark, [tmp_path / "link.warc.gz", path])
    assert frame.count() == 3


def log_lines() -> list[bytes]:
    """The lines of the sample logs."""
    lines = []
    for path in sorted((REPOSITORY / "sample-data/logs").iterdir()):
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        lines += content.splitlines(keepends=True)
    return lines


def write_logs(directory: Path, rng: random.Random, parts: int) -> list[str]:
    """The lines in random order in files, some of them compressed."""
    lines = log_lines()
    rng.shuffle(lines)
    ends = [*sorted(rng.sample(range(len(lines)), parts - 1)), len(lines)]
    (directory / "logs").mkdir()
    names, start = [], 0
    for number, end in enumerate(ends):
        content = b"".join(lines[start:end])
        name = f"logs/{number:02}.log" + (".gz" if number % 2 else "")
        (directory / name).write_bytes(gzip.compress(content) if number % 2 else content)
        names.append(name)
        start = end
    return names


def same_report(left: Path, right: Path) -> None:
    names = sorted(path.name for path in left.iterdir())
    assert names == sorted(path.name for path in right.iterdir())
    for name in names:
        one, two = (side / name for side in (left, right))
        if name == "run.json":
            runs = [json.loads(path.read_text()) for path in (one, two)]
            for run in runs:
                run.pop("made_at_utc")
            assert runs[0] == runs[1]
        else:
            # The commands of the page name its directory: by a whole path where Spark wrote it.
            theirs = two.read_bytes().replace(str(right).encode(), left.name.encode())
            assert one.read_bytes() == theirs, name


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with robots.txt files of the sample, in which relative names work."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/robots").symlink_to(REPOSITORY / "sample-data/robots")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("seed", range(12))
def test_an_audit_is_that_of_the_command(
    spark: SparkSession, workplace: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    if "cluster" in spark.sparkContext.master and seed % 4:
        pytest.skip("a few splits are enough here")
    rng = random.Random(seed)
    names = write_logs(workplace, rng, rng.choice([1, 2, 3, 5, 16]))
    args = rng.choice([[], ["--ip", "mask"], ["--strip-query", "--include-unbound"]])
    flags = ["--min-parse-rate", "0", *args]
    command("audit", "-q", *flags, "--robots", "data/robots", "-o", "whole", "logs")
    rng.shuffle(names)
    monkeypatch.setattr(_spark_audit, "_FAN_IN", rng.choice([2, 3, 32]))
    monkeypatch.setattr(_spark_audit, "_GROUP_BYTES_MIN", rng.choice([1, 20_000, 1 << 20]))
    monkeypatch.setattr(_spark_audit, "_GROUP_BYTES_MAX", 40_000)
    assert bs.audit(spark, names, robots="data/robots", output="report", args=flags) == {}
    same_report(workplace / "whole", workplace / "report")


def test_a_log_that_cannot_be_read_is_named(spark: SparkSession, workplace: Path) -> None:
    names = [*write_logs(workplace, random.Random(1), 3), "logs/gone.log"]
    with pytest.raises(RuntimeError, match=r"1 of 4 logs.*nothing was written.*gone\.log.*report"):
        bs.audit(spark, names, robots="data/robots", output="report")
    assert not (workplace / "report").exists()
    failed = bs.audit(spark, names, robots="data/robots", output="report", on_error="report")
    assert list(failed) == ["logs/gone.log"] and "No such file" in failed["logs/gone.log"]
    assert failed.unjudged is None
    run = json.loads((workplace / "report/run.json").read_text())
    assert not run["complete"]
    (damaged,) = [made for made in run["inputs"] if made["damage"]]
    assert damaged["name"] == "logs/gone.log" and "No such file" in damaged["damage"]
    with pytest.raises(RuntimeError, match="1 of 1 logs"):
        bs.audit(spark, names[-1:], robots="data/robots", output="x", on_error="report")
    assert not (workplace / "x").exists()


def test_mistakes_of_an_audit_are_named_before_the_first_task(
    spark: SparkSession, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = write_logs(workplace, random.Random(1), 3)
    (workplace / "full").mkdir()
    (workplace / "full/file").touch()

    def no_task(*_: object, **__: object) -> None:
        raise AssertionError("a task was made")

    monkeypatch.setattr(_spark_audit, "task", no_task)

    def check(kind: type[Exception], match: str, **options: Any) -> None:
        given: dict[str, Any] = {"paths": names, "robots": "data/robots", "output": "report"}
        with pytest.raises(kind, match=match):
            bs.audit(spark, **given | options)
        assert not (workplace / "report").exists()

    for args, match in [
        (["--nonsense"], "^args: unexpected argument '--nonsense'"),
        (["--min-parse-rate", "many"], "^args: invalid value 'many'"),
        (["--what-if", "draft.txt"], "^args: --what-if: cannot read robots.txt draft.txt"),
        (["--ip-salt", "x"], "it has no effect without --ip"),
        (["other.log"], "^args: --name needs exactly one input"),
        (["-oreport"], "^args: .*--output"),
        (["--infer-outages"], "--infer-outages, which does not work here: it reads all logs twice"),
        (["--verify-dns"], "--verify-dns.*twice.*--collect first"),
        (["--fetch"], "--fetch.*pybotaudit.fetch"),
        (["--output=x"], "--output, which does not work here: write output="),
        (["--robots", "x"], "write robots="),
        (["--evidence=x.csv"], "would replace the file"),
        (["--fail-on", "violations > 0"], "read the tables"),
        (["-h"], "--help without Spark"),
    ]:
        check(ValueError, match, args=args)
    check(TypeError, r"args is one text; write args=\['--ip', 'mask'\]", args="--ip mask")
    check(ValueError, "^output: .*full: is not a report.*use another output,", output="full")
    check(ValueError, "^output: .*00.log/x", output=f"{names[0]}/x")
    check(ValueError, "^output: .*current directory", output=".")
    check(FileNotFoundError, "nowhere does not exist", robots="nowhere")
    check(ValueError, r"robots '../x' has '\.\.'", robots="../x")
    for path, match in [
        ("logs", r"the directory 'logs'; name its files: sorted\(Path\('logs'\).iterdir\(\)\)"),
        ((workplace / "logs").as_uri(), "the directory 'file://"),
        ("logs/*.log", r"the pattern 'logs/\*\.log'; name its files: sorted\(glob.glob\("),
        ("logs/0[01].log", "the pattern"),
        ("s3://bucket/logs/*.gz", r"the pattern 's3://bucket/logs/\*\.gz'; name each file"),
    ]:
        check(ValueError, match, paths=[*names, path])
        with pytest.raises(ValueError, match=match):
            bs.robots_from_warcs(spark, [path])
    # A name with such a sign is a file if it is there.
    (workplace / "logs/a[1].log").write_bytes(b"")
    check(AssertionError, "a task was made", paths=[*names, "logs/a[1].log"])


def test_a_first_pass_can_be_made_without_spark(spark: SparkSession, workplace: Path) -> None:
    names = write_logs(workplace, random.Random(1), 3)
    flags = ["--min-parse-rate", "0", "--infer-outages"]
    command("audit", "-q", *flags, "--robots", "data/robots", "--collect", "first", *names)
    flags += ["--collected", str(workplace / "first")]
    command("audit", "-q", *flags, "--robots", "data/robots", "-o", "whole", *names)
    bs.audit(spark, names, robots="data/robots", output="report", args=flags)
    same_report(workplace / "whole", workplace / "report")


def test_small_logs_share_tasks(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Spark."""
    names = [f"{n:03}.log" for n in range(300)]
    for name in names:
        (workplace / name).write_bytes(b"x" * 1000)
    (workplace / "large.log").write_bytes(b"x" * 3000)

    def groups(names: list[str], robots: str = "robots", parallelism: int = 2) -> list[list[str]]:
        logs = [(name, os.path.abspath(name)) for name in names]
        found = _spark_audit._groups(logs, robots, parallelism)
        return [[name for name, _ in group] for group in found]

    assert groups(names) == [names]
    monkeypatch.setattr(_spark_audit, "_GROUP_BYTES_MIN", 2500)
    assert list(map(len, groups(names, parallelism=3))) == [100] * 3
    shuffled = random.Random(1).sample(names, 300)
    assert groups(shuffled, parallelism=3) == groups(names, parallelism=3)
    assert groups(names, parallelism=1000) == [names[n : n + 2] for n in range(0, 300, 2)]
    assert groups(["large.log", *names[:3]], parallelism=10) == [
        names[:2], names[2:3], ["large.log"]
    ]  # fmt: skip
    monkeypatch.setattr(_spark_audit, "_GROUP_BYTES_MAX", 1500)
    assert groups(names) == [[name] for name in names]
    monkeypatch.setattr(_spark_audit, "_GROUP_BYTES_MAX", 1 << 20)
    monkeypatch.setattr(_spark_audit, "_GROUP_BYTES_MIN", 1 << 20)
    monkeypatch.setattr(_spark_audit, "_GROUP_LOGS_MAX", 7)
    assert list(map(len, groups(names))) == [7] * 42 + [6]
    # Sizes that are not known here, and names that cannot be links in the directory of a task.
    os.mkfifo("pipe")
    (workplace / "robots").mkdir()
    (workplace / "robots/a.log").touch()
    alone = ["-", "../a.log", "gone.log", "pipe", "robots/a.log"]
    expected = sorted([*([name] for name in alone), names[:2]])
    assert sorted(groups([*alone, *names[:2]])) == expected
    assert groups(["000.log"], robots="000.log/x") == [["000.log"]]


def test_many_small_logs_are_named_as_given(spark: SparkSession, workplace: Path) -> None:
    names = write_logs(workplace, random.Random(1), 60)
    # A name that looks like an option, a hidden file, a whole path, and a directory of its own.
    moved = ["-x.log", ".hidden.log", str(workplace / "whole.log"), "deep/er/a b'c.log", "./é.log"]
    for name, other in zip(names, moved, strict=False):
        (workplace / other).parent.mkdir(parents=True, exist_ok=True)
        (workplace / name).rename(workplace / other)
    names = [*moved, *names[len(moved) :]]
    flags = ["--min-parse-rate", "0"]
    command("audit", "-q", *flags, "--robots", "data/robots", "-o", "whole", "--", *names)
    bs.audit(spark, names, robots="data/robots", output="report", args=flags)
    same_report(workplace / "whole", workplace / "report")


def test_one_process_audits_a_group(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Spark."""
    names = write_logs(workplace, random.Random(1), 40)
    runs: list[int] = []
    run_command = _audit_tasks.run_command

    def counted(arguments: list[str], *others: Any) -> _audit_tasks.Said:
        runs.append(sum(argument.startswith("logs/") for argument in arguments))
        return run_command(arguments, *others)

    monkeypatch.setattr(_audit_tasks, "run_command", counted)
    monkeypatch.setattr(_audit_tasks, "distributed", lambda _: str(workplace / "data/robots"))

    def audited(*names: str, rate: str = "0") -> list[dict[str, Any]]:
        runs.clear()
        logs = [(name, os.path.abspath(name)) for name in names]
        found = _audit_tasks._audited(7, logs, ("data/robots", ""), ["--min-parse-rate", rate])
        return pa.Table.from_batches(found, _audit_tasks._PART).to_pylist()  # type: ignore[no-any-return]

    (row,) = audited(*names)
    assert row["part"] == 7 and row["tally"] and row["path"] is None and runs == [40]
    # Only the halves with a fault are split.
    rows = audited(*names, "logs/gone.log")
    assert {row["path"]: row["error"] is None for row in rows if row["tally"] is None} == {
        "logs/gone.log": False
    }
    assert len(runs) <= 2 * 6 + 1
    # What the command counted as not understood is not tried again; what cannot be opened is.
    (workplace / "logs/text.log").write_bytes(b"".join(b"%d is a number\n" % n for n in range(99)))
    for name, attempts in [("logs/text.log", 1), ("logs/gone.log", 0)]:
        tries: list[str] = []
        opened = _audit_tasks.opened
        monkeypatch.setattr(_audit_tasks, "opened", lambda path: tries.append(path) or opened(path))  # noqa: B023
        *tallies, row = audited(name, rate="50")
        monkeypatch.setattr(_audit_tasks, "opened", opened)
        assert row["path"] == name and len(runs) == len(tallies) == attempts
        assert (row["incomplete"] and row["warnings"]) if tallies else row["error"]
        assert len(tries) == (1 if attempts else 3)


def test_faults_in_a_group_are_those_of_their_logs(spark: SparkSession, workplace: Path) -> None:
    names = write_logs(workplace, random.Random(1), 40)
    (workplace / "logs/not-a-log").write_bytes(b"".join(b"%d is a number\n" % n for n in range(99)))
    cut = (workplace / names[7]).read_bytes()[:-50]
    (workplace / names[7]).write_bytes(cut)
    bad = [names[7], "logs/not-a-log", "logs/gone.log"]
    given = [*names, *bad[1:]]
    (workplace / names[20]).write_bytes(b"")
    with pytest.warns(UserWarning):
        found = bs.audit(
            spark, given, robots="data/robots", output="report", on_error="report",
            args=["--min-parse-rate", "50"],
        )  # fmt: skip
    assert sorted(found) == sorted(bad)
    assert "truncated gzip" in found[names[7]] and "No such file" in found["logs/gone.log"]
    assert "not-a-log" in found["logs/not-a-log"]
    run = json.loads((workplace / "report/run.json").read_text())
    assert sorted(made["name"] for made in run["inputs"]) == sorted(given)
    damaged = {made["name"] for made in run["inputs"] if made["damage"]}
    assert damaged == {names[7], "logs/gone.log"}, "the other one was read, and not understood"
    good = [name for name in given if name not in bad]
    command("audit", "-q", "--robots", "data/robots", "-o", "whole", *good, names[7], exit_code=3)
    whole = json.loads((workplace / "whole/run.json").read_text())
    assert run["requests"] == whole["requests"]


def test_copies_in_a_group_are_those_of_the_command(spark: SparkSession, workplace: Path) -> None:
    names = write_logs(workplace, random.Random(1), 4)
    copy = "logs/00.log.1.gz"
    (workplace / copy).write_bytes(gzip.compress((workplace / names[0]).read_bytes()))
    flags = ["--min-parse-rate", "0"]
    command("audit", "-q", *flags, "--robots", "data/robots", "-o", "whole", "logs")
    bs.audit(spark, [copy, *names], robots="data/robots", output="report", args=flags)
    same_report(workplace / "whole", workplace / "report")


def said_by(run: subprocess.CompletedProcess[bytes]) -> set[str]:
    """The warnings of the command."""
    lines = run.stderr.decode().splitlines()
    return {line.removeprefix("warning: ") for line in lines if line.startswith("warning: ")}


def test_damage_to_a_log_is_in_the_report(spark: SparkSession, workplace: Path) -> None:
    names = write_logs(workplace, random.Random(1), 4)
    for name in names[1::2]:
        cut = (workplace / name).read_bytes()[:-2000]
        (workplace / name).write_bytes(cut)
    flags = ["--min-parse-rate", "0"]
    arguments = ["audit", "-q", *flags, "--robots", "data/robots", "-o", "whole", "logs"]
    run = command(*arguments, exit_code=3)
    parts = r"2 of 4 logs are damaged; the first is logs/01\.log\.gz: truncated gzip.*'report'"
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match=parts):
        bs.audit(spark, names, robots="data/robots", output="report", args=flags)
    assert not (workplace / "report").exists()
    with pytest.warns(UserWarning) as warned:
        found = bs.audit(
            spark, names, robots="data/robots", output="report", args=flags, on_error="report"
        )
    same_report(workplace / "whole", workplace / "report")
    assert sorted(found) == names[1::2] and found.unjudged is None
    assert all("truncated gzip stream" in why for why in found.values())
    texts = [str(warning.message) for warning in warned]
    assert tuple(texts) == found.warnings and len(set(texts)) == len(texts)
    assert said_by(run) <= set(texts)
    assert sum("lines before it were counted" in text for text in texts) == 2


def test_an_audit_that_judges_nothing_fails(spark: SparkSession, workplace: Path) -> None:
    line = '192.0.2.1 - - [01/Mar/2026:00:00:{:02} +0000] "GET /{} HTTP/1.1" 200 5 "-" "GPTBot/1"\n'
    names = ["a.log", "b.log"]
    for name in names:
        (workplace / name).write_text("".join(line.format(n, name) for n in range(20)))
    run = command("audit", "-q", "--robots", "data/robots", "-o", "whole", *names, exit_code=3)
    expected = said_by(run)
    assert any("names no host" in text for text in expected)
    with (
        pytest.warns(UserWarning),
        pytest.raises(RuntimeError, match=r"log names no host.*nothing"),
    ):
        bs.audit(spark, names, robots="data/robots", output="report")
    assert not (workplace / "report").exists()
    with pytest.warns(UserWarning) as warned:
        found = bs.audit(spark, names, robots="data/robots", output="report", on_error="report")
    assert found == {} and found.unjudged is not None and "names no host" in found.unjudged
    assert {str(warning.message) for warning in warned} == expected == set(found.warnings)
    same_report(workplace / "whole", workplace / "report")
    with pytest.warns(UserWarning):
        found = bs.audit(
            spark, names, robots="data/robots", output="report", args=["--allow-unjudged"]
        )
    assert found == {} and found.unjudged is None


def test_errors_in_robots_txt_are_said(spark: SparkSession, workplace: Path) -> None:
    names = write_logs(workplace, random.Random(1), 2)
    (workplace / "rules").mkdir()
    rules = b"User-agent: *\n" + b"".join(b"Disallow: x%d\n" % n for n in range(7))
    (workplace / "rules/www.example.com.txt").write_bytes(rules)
    (workplace / "rules/static.example.com.txt").write_bytes(b"<html><p>Not found</p></html>")
    flags = ["--min-parse-rate", "0"]
    run = command("audit", "-q", *flags, "--robots", "rules", "-o", "whole", "logs")
    expected = said_by(run)
    assert any("rules/www.example.com.txt:2: 'x0' does not start with" in text for text in expected)
    assert any("2 more robots.txt errors" in text for text in expected)
    for robots in ("rules", workplace / "rules"):
        with pytest.warns(UserWarning):
            found = bs.audit(spark, names, robots=robots, output="report", args=flags)
        assert set(found.warnings) == expected and len(found.warnings) == len(expected)


def test_a_log_with_several_names_counts_once(spark: SparkSession, workplace: Path) -> None:
    names = write_logs(workplace, random.Random(1), 2)
    (workplace / "again").mkdir()
    (workplace / "again/link.gz").symlink_to(workplace / names[1])
    os.link(workplace / names[0], workplace / "again/hard.log")
    flags = ["--min-parse-rate", "0"]
    command("audit", "-q", *flags, "--robots", "data/robots", "-o", "whole", *names)
    several = [f"./{names[0]}", "again/link.gz", *names, (workplace / names[0]).as_uri()]
    # The command knows the first name of each.
    by_command = command(
        "audit", "-q", *flags, "--robots", "data/robots", "-o", "named", *several[:-1]
    )
    assert by_command.returncode == 0
    with pytest.warns(UserWarning) as warned:
        bs.audit(
            spark, [*several, "again/hard.log"], robots="data/robots", output="report", args=flags
        )
    texts = [str(warning.message) for warning in warned]
    assert sum("is the same file as" in text for text in texts) == 4
    run, named = (
        json.loads((workplace / name / "run.json").read_text()) for name in ("report", "named")
    )
    whole = json.loads((workplace / "whole/run.json").read_text())
    assert run["requests"] == whole["requests"]
    assert run["inputs"] == named["inputs"]


def test_what_cannot_be_merged_is_said(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Spark: a step of the tree of merges hands on why it failed."""
    names = write_logs(workplace, random.Random(1), 2)
    flags = ["--min-parse-rate", "0", "--robots", "data/robots", "--name", "the same"]
    rows = []
    for number, name in enumerate(names):
        command("audit", "-q", *flags, "--partial", "part.tally", name)
        rows.append(_audit_tasks._part_row(number, (workplace / "part.tally").read_bytes()))
    (row,) = _audit_tasks.merge(pa.Table.from_batches(rows)).to_pylist()
    assert row["tally"] is None and row["path"] is None
    assert "both contain the input 'the same'" in row["error"]
    # It stays what it is in further steps.
    other = _audit_tasks._part_row(0, path="a.log", said=_audit_tasks.Said(["watch out"], True))
    both = pa.Table.from_batches([other, _audit_tasks._part_row(0, error=row["error"])])
    found = _audit_tasks.merge(both).to_pylist()
    assert [(row["path"], row["error"], row["warnings"], row["incomplete"]) for row in found] == [
        ("a.log", None, ["watch out"], True),
        (None, row["error"], [], False),
    ]


def test_uris_are_read_by_pyarrow(spark: SparkSession, workplace: Path) -> None:
    names = write_logs(workplace, random.Random(1), 2)
    uris = [(workplace / name).as_uri() for name in names]
    bs.audit(spark, uris, robots=workplace / "data/robots", output="report")
    run = json.loads((workplace / "report/run.json").read_text())
    assert [made["name"] for made in run["inputs"]] == uris
    assert run["options"]["robots"] == "robots"


def test_crawls_are_audited(spark: SparkSession, workplace: Path) -> None:
    page = "https://a.example/{}"
    names = []
    for number in range(3):
        pages = (response(page.format(f"{kind}/{number}"), 9, "200 OK") for kind in ("x", "y"))
        names.append(f"{number}.warc.gz")
        (workplace / names[-1]).write_bytes(b"".join(pages))
    rules = response(page.format("robots.txt"), 1, "200 OK", "User-agent: *\nDisallow: /x\n")
    (workplace / "robots.warc.gz").write_bytes(rules)
    command("robots", "import", "-q", "-a", workplace / "robots.db", workplace / "robots.warc.gz")
    flags = ["--user-agent", "GPTBot/1.2"]
    bs.audit(spark, names, robots="robots.db", output="report", args=flags)
    command("audit", "-q", "--robots", "robots.db", *flags, "-o", "expected", *names)
    found = (workplace / "report/violations.csv").read_text()
    assert found == (workplace / "expected/violations.csv").read_text()
    (rule,) = pybotaudit.read_report(workplace / "report")["violations"].to_pylist()
    assert (rule["requests"], rule["pattern"]) == (3, "/x")


def message(frame: DataFrame) -> str:
    with pytest.raises(Exception) as found:
        frame.collect()
    return str(found.value)


def test_bad_rows_of_robots_are_refused(spark: SparkSession) -> None:
    urls = spark.createDataFrame([("https://a.example/",)], "url string")
    good = Snapshot("https://a.example", 1, "200", None, b"")
    for rows, parts in [
        (
            [good, good._replace(origin="HTTPS://a.example:443", body=b"x")],
            ["https://a.example: another row for 2026-01-01T01:00:00Z", "keep one"],
        ),
        (
            [good._replace(body=None)],
            ["robots, https://a.example at 2026-01-01 01:00:00 UTC: body is null, but outcome 200"],
        ),
        ([good._replace(outcome="fine")], ["https://a.example at", "outcome 'fine' is not valid"]),
        ([good._replace(origin="a.example")], ["robots, a.example at", "'a.example' is not valid"]),
    ]:  # fmt: skip
        said = message(bs.classify(urls, robots_frame(spark, rows), tokens=["a"]))
        assert all(part in said for part in parts), said


def test_bad_rows_of_robots_are_reported(spark: SparkSession) -> None:
    rules = b"User-agent: *\nDisallow: /x\n"
    good = Snapshot("https://a.example", 1, "200", None, rules)
    rows = [good]
    for name, changes in [
        ("b", [{}, {"body": b""}]),
        ("c", [{}, {"hour": 2, "outcome": "fine"}]),
        ("d", [{}, {"hour": 2, "body": None}, {"hour": 3}]),
        # The same answer twice is no contradiction, whatever else differs.
        ("e", [{}, {}, {"max_age": 60}]),
        ("f", [{"outcome": "404", "body": None}, {"outcome": "404", "body": b"page"}]),
        ("g", [{}, {"hour": 2, "max_age": -1}]),
    ]:
        changed = [good._replace(origin=f"https://{name}.example", **change) for change in changes]
        rows += changed
    robots = robots_frame(spark, rows)
    bad = spark.createDataFrame(
        [("h.example", EPOCH, "404", None, None), (None, EPOCH, "404", None, None),
         ("https://i.example", None, "404", None, None)],
        robots.schema,
    )  # fmt: skip
    urls = [f"https://{name}.example/x" for name in "abcdefghi"]
    frame = spark.createDataFrame([(url,) for url in urls], "url string")
    for hot_rows in (None, 1):
        answers, problems = bs.classify(
            frame.unionAll(frame), robots.unionAll(bad), tokens=["a"], on_error="report",
            hot_rows=hot_rows,
        )  # fmt: skip
        found = {(row["url"][8], row["verdict"], row["reason"]) for row in answers.collect()}
        disallowed = {(name, "disallowed", "rule") for name in "ae"}
        unknown = {(name, "unknown", "nothing-known") for name in "bcdghi"}
        assert found == disallowed | unknown | {("f", "allowed", "no-robots-txt")}
        assert answers.count() == 2 * len(urls)
    # The same without the table.
    answers = bs.classify(frame, robots.unionAll(bad), tokens=["a"], on_error="null")
    rows_of = ["rule_line", "pattern", "group", "snapshot"]
    known = {row["url"][8]: [row[name] for name in rows_of] for row in answers.collect()}
    assert {name for name, facts in known.items() if facts == [None] * 4} == set("bcdfghi")
    found = {(row["url"][8], row["verdict"], row["reason"]) for row in answers.collect()}
    assert {row for row in found if row[1] == "unknown"} == unknown
    assert problems.schema.simpleString() == (
        "struct<origin:string,fetched_at:timestamp,what:string>"
    )
    said = {row["origin"]: row["what"] for row in problems.collect()}
    assert set(said) == {f"https://{name}.example" for name in "bcdgi"} | {"h.example", None}
    assert "2 rows for this second have different answers" in said["https://b.example"]
    assert "outcome 'fine' is not valid" in said["https://c.example"]
    assert "body is null" in said["https://d.example"]
    assert "max_age is negative" in said["https://g.example"]
    assert "fetched_at is null" in said["https://i.example"] and "is null" in said[None]
    with pytest.raises(ValueError, match="on_error is 'x'"):
        bs.classify(frame, robots, tokens=["a"], on_error="x")
    with pytest.raises(ValueError, match="write 'fail' or 'report'"):
        bs.robots_from_warcs(spark, ["a"], on_error="null")


def test_bad_columns_are_refused_at_once(spark: SparkSession, tmp_path: Path) -> None:
    urls = spark.createDataFrame([("https://a.example/", 1, 1.5)], "link string, n int, f double")
    robots = robots_frame(spark, [])

    def check(kind: type[Exception], match: str, **options: Any) -> None:
        robots_of = options.pop("robots", robots)
        options.setdefault("tokens", ["a"])
        with pytest.raises(kind, match=match):
            bs.classify(urls, robots_of, **options)

    check(ValueError, "no column 'url'; its columns are link, n, f; set url=")
    check(TypeError, "column 'n' has the type int; cast it to string", url="n")
    check(TypeError, "column 'f' has the type double; cast", url="link", time_column="f")
    check(ValueError, "unknown name 'x'", url="link", columns=["x"])
    check(ValueError, "unknown crawler 'x'", url="link", crawlers=["x"])
    check(ValueError, "no crawler is given", url="link", tokens=[])
    check(ValueError, "crawlers of its own", url="link", crawler_column="link")
    check(ValueError, "hot_rows is 0", url="link", hot_rows=0)
    check(ValueError, "partitions is 0", url="link", partitions=0)
    check(ValueError, "partitions is -1", url="link", partitions=-1)
    check(TypeError, "columns is one text", url="link", columns="link")
    check(ValueError, "columns is empty", url="link", columns=[])
    check(ValueError, "robots has no column 'body'", url="link", robots=robots.drop("body"))
    number = robots.selectExpr("origin", "1 fetched_at", "outcome", "body")
    check(
        TypeError, "'fetched_at' has the type int; cast it to timestamp", url="link", robots=number
    )
    text = robots.selectExpr("origin", "fetched_at", "outcome", "body", "'x' max_age")
    check(TypeError, "'max_age' has the type string", url="link", robots=text)
    check(
        TypeError, "robots is of the type list; give a data frame of Spark", url="link", robots=[]
    )
    with pytest.raises(TypeError, match="robots is of the type list; give a data frame of Spark"):
        bs.restrictions([], tokens=["a"])  # type: ignore[arg-type]
    for classify in (bs.classify, bs.classify_archive):
        with pytest.raises(TypeError, match="df is of the type list; give a data frame of Spark"):
            classify([], robots, tokens=["a"])  # type: ignore[operator]
    with pytest.raises(FileNotFoundError, match="nowhere"):
        bs.classify_archive(urls, tmp_path / "nowhere", url="link", tokens=["a"])
    with pytest.raises(ValueError, match="paths is empty"):
        bs.robots_from_warcs(spark, [])
    with pytest.raises(ValueError, match="'a' twice"):
        bs.audit(spark, ["a", "a"], robots="x", output="y")
    with pytest.raises(ValueError, match="on_error is 'x'"):
        bs.audit(spark, ["a"], robots="x", output="y", on_error="x")
    with pytest.raises(TypeError, match="paths is one path"):
        bs.audit(spark, "a", robots="x", output="y")


def executors() -> list[int]:
    """The processes of executors that descend from this one."""
    parents, found = {}, []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            parents[int(entry.name)] = int(fields[1])
            if b"CoarseGrainedExecutorBackend" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except (OSError, ValueError, IndexError):
            continue

    def is_ours(process: int) -> bool:
        while process > 1 and process != os.getpid():
            process = parents.get(process, 0)
        return process == os.getpid()

    return [process for process in found if is_ours(process)]


def stop_one_executor(killed: list[int]) -> None:
    """Kill an executor once it works."""
    for _ in range(200):
        time.sleep(0.1)
        working = executors()
        if len(working) == 2:
            time.sleep(1.5)
            with contextlib.suppress(ProcessLookupError):
                os.kill(working[0], signal.SIGKILL)
                killed.append(working[0])
            return


@pytest.mark.skipif(sys.platform != "linux", reason="executors are found in /proc")
def test_a_killed_executor_changes_nothing(
    data: Any, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A task for each log.
    monkeypatch.setattr(_spark_audit, "_GROUP_LOGS_MAX", 1)
    snapshots, _, rows, _, dated = data
    spark = session("local-cluster[2,1,1024]")
    if not spark.sparkContext.master.startswith("local-cluster"):
        spark.stop()
        spark = session("local-cluster[2,1,1024]")
    try:
        spark.sparkContext.setLogLevel("OFF")
        names = write_logs(workplace, random.Random(2), 16)
        flags = ["--min-parse-rate", "0"]
        command("audit", "-q", *flags, "--robots", "data/robots", "-o", "whole", "logs")
        killed: list[int] = []
        thread = threading.Thread(target=stop_one_executor, args=[killed])
        thread.start()
        bs.audit(spark, names, robots="data/robots", output="report", args=flags)
        thread.join()
        same_report(workplace / "whole", workplace / "report")
        thread = threading.Thread(target=stop_one_executor, args=[killed])
        thread.start()
        # Enough work to be in the middle of it.
        urls = url_frame(spark, rows * 20)
        frame = bs.classify(
            urls, robots_frame(spark, snapshots), crawlers=["GPTBot"], tokens=["mybot"],
            time_column="at", hot_rows=500, partitions=40,
        )  # fmt: skip
        found = collected(frame)
        thread.join()
        assert len(killed) == 2
        assert found == sorted(dated * 20, key=repr)
    finally:
        spark.stop()


def test_a_worker_without_the_wheel_says_what_to_do(tmp_path: Path) -> None:
    # A Python that finds another module of this name first.
    (tmp_path / "pybotaudit.py").write_text("raise ImportError('No module named pybotaudit')\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    script = """
from pyspark.sql import SparkSession
from pybotaudit import _tasks
from pybotaudit import spark as bs
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
urls = spark.createDataFrame([("https://a.example/",)], "url string")
bs.classify_archive(urls, "ROBOTS", tokens=["a"]).collect()
"""
    (tmp_path / "robots.txt").touch()
    run = subprocess.run(
        [sys.executable, "-c", script.replace("ROBOTS", str(tmp_path / "robots.txt"))],
        check=False,
        capture_output=True,
        env={**os.environ, "PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": sys.executable},
    )
    said = run.stderr.decode()
    assert run.returncode != 0
    assert "pybotaudit cannot be imported on worker" in said and "install the wheel" in said
    assert "PYSPARK_PYTHON" in said


def test_spark_connect_has_the_same_results(data: Any, workplace: Path) -> None:
    pytest.importorskip("grpc_status")
    snapshots, archive, rows, newest, _ = data
    names = write_logs(workplace, random.Random(1), 5)
    flags = ["--min-parse-rate", "0"]
    command("audit", "-q", *flags, "--robots", "data/robots", "-o", "whole", "logs")
    given = {
        "robots": [(row.origin, row.time, row.outcome, row.max_age, row.body) for row in snapshots],
        "rows": [(row["url"], int(row["at"])) for row in rows],
    }
    (workplace / "given.pickle").write_bytes(pickle.dumps(given))
    script = f"""
import pickle
from pyspark.sql import SparkSession
from pybotaudit import spark as bs
spark = SparkSession.builder.remote("local[2]").getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", "3")
given = pickle.loads(open("given.pickle", "rb").read())
robots = spark.createDataFrame(given["robots"], "origin string, fetched_at timestamp, "
    "outcome string, max_age bigint, body binary")
urls = spark.createDataFrame(given["rows"], "url string, at bigint")
who = dict(crawlers=["GPTBot"], tokens=["mybot"])
found = [bs.classify(urls, robots, hot_rows=hot_rows, **who) for hot_rows in (50, None)]
found += bs.classify(urls, robots, on_error="report", **who)
found.append(bs.classify_archive(urls, {str(archive)!r}, **who))
found.append(bs.restrictions(robots, tokens=["a"]))
found.append(bs.robots_from_warcs(spark, {list(map(str, warcs(workplace)))!r}))
problems = bs.audit(spark, {names!r}, robots="data/robots", output="report", args={flags!r})
open("found.pickle", "wb").write(pickle.dumps(
    (type(spark).__module__, [[tuple(row) for row in of.collect()] for of in found], problems)))
"""
    run = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, cwd=workplace
    )
    assert run.returncode == 0, run.stderr.decode()[-5000:]
    module, found, problems = pickle.loads((workplace / "found.pickle").read_bytes())
    assert "connect" in module and problems == {}
    *judged, bad, by_archive, restrictions, of_warcs = found
    assert ("https://c.example", "200") in {(row[0], row[2]) for row in of_warcs}
    assert bad == []
    for answers_of in (*judged, by_archive):
        assert sorted(answers_of, key=repr) == newest
    assert len(restrictions) == len({row.origin for row in snapshots})
    same_report(workplace / "whole", workplace / "report")


def test_the_module_is_about_rows_of_a_table(data: Any) -> None:
    """The same rows without Spark."""
    snapshots, _, rows, newest, _ = data
    table = pa.table({"url": [row["url"] for row in rows], "at": [int(row["at"]) for row in rows]})
    classifier = pybotaudit.Classifier(["GPTBot"], ["mybot"], robots=robots_table(snapshots))
    found = classifier.classify(table)
    urls, at = found["url"].to_pylist(), found["at"].to_pylist()
    assert sorted_rows(urls, at, answers(found)) == newest
