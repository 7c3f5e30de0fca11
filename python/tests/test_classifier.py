"""Verdicts on columns: equal to those of the command, for all kinds of data."""

from __future__ import annotations

import pickle
import random
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pybotaudit
import pytest
from conftest import (
    Snapshot,
    answers,
    by_command,
    interrupted,
    random_snapshots,
    random_urls,
    robots_table,
    ticks_during,
    write_archive,
)  # fmt: skip
from pybotaudit import _arrow

RULES = Snapshot("https://a.example", 1, "200", None, b"User-agent: *\nDisallow: /x\n")


@pytest.fixture
def classifier() -> pybotaudit.Classifier:
    return pybotaudit.Classifier(["GPTBot"], robots=robots_table([RULES]))


@pytest.mark.parametrize("dialect", ["google", "rfc9309"])
@pytest.mark.parametrize("memory", [256 << 20, 1 << 16])
def test_answers_are_those_of_the_command(
    tmp_path: Path, rng: random.Random, dialect: str, memory: int
) -> None:
    snapshots = random_snapshots(rng, 40)
    archive = write_archive(tmp_path, snapshots)
    urls = random_urls(rng, 40, 3000)
    rows = [{"url": url} for url in urls]
    flags = ["--robots", archive, "--crawler", "GPTBot", "--crawler", "Googlebot"]
    expected = by_command(tmp_path, rows, *flags, "--token", "mybot", "--dialect", dialect)
    assert len({row[2:4] for row in expected}) > 8
    for robots in (robots_table(snapshots), archive):
        classifier = pybotaudit.Classifier(
            ["gptbot", "Googlebot"], ["mybot"], robots=robots, dialect=dialect, memory=memory
        )
        table = classifier.classify(pa.table({"url": urls, "n": range(len(urls))}))
        assert answers(table) == expected
        assert table["n"].to_pylist() == [n for n in range(len(urls)) for _ in range(3)]
        assert table.column_names[:2] == ["url", "n"]


def test_times_and_crawlers_of_rows_are_those_of_the_command(
    tmp_path: Path, rng: random.Random
) -> None:
    snapshots = random_snapshots(rng, 10, 12)
    archive = write_archive(tmp_path, snapshots)
    agents = ["Mozilla/5.0 (compatible; GPTBot/1.2)", "Firefox/128", "", "newbot/1 (+http://a.b)"]
    rows = [
        {
            "url": url,
            "agent": rng.choice(agents),
            "name": rng.choice(["gptbot", "Bingbot", "nobody", ""]),
            "time": rng.choice(
                [
                    "",
                    "2026-02-01",
                    str(int(rng.choice(snapshots).time.timestamp()) + rng.randint(0, 7200)),
                ]
            ),
        }
        for url in random_urls(rng, 10, 2000)
    ]
    table = pa.Table.from_pylist(rows)
    classifier = pybotaudit.Classifier(robots=robots_table(snapshots))
    for flag, option, column in [
        ("--crawler-column", "crawler_column", "name"),
        ("--user-agent-column", "user_agent_column", "agent"),
    ]:
        flags = ["--robots", archive, flag, column, "--time-column", "time"]
        expected = by_command(tmp_path, rows, *flags)
        assert {"grace", "unreachable", "unknown"} <= {row[2] for row in expected}
        found = classifier.classify(table, time_column="time", **{option: column})
        assert answers(found) == expected


def test_directories_and_single_files(tmp_path: Path) -> None:
    (tmp_path / "a.example").write_bytes(b"User-agent: *\nDisallow: /x\n")
    urls = pa.array(["https://a.example/x", "https://b.example/x"])
    for robots, expected in [
        (tmp_path, ["disallowed", "unknown"]),
        (str(tmp_path / "a.example"), ["disallowed", "disallowed"]),
    ]:
        classifier = pybotaudit.Classifier(tokens=["a"], robots=robots)
        assert classifier.classify(urls)["verdict"].to_pylist() == expected
        assert classifier.warnings() == []
    (tmp_path / "b.example").write_text("<html>")
    classifier = pybotaudit.Classifier(tokens=["a"], robots=tmp_path)
    assert classifier.classify(urls)["verdict"].to_pylist() == ["disallowed", "allowed"]
    assert "is not" in classifier.warnings()[0] or "not a robots.txt" in classifier.warnings()[0]
    (tmp_path / "b.example").rename(tmp_path / "README")
    (warning,) = pybotaudit.Classifier(tokens=["a"], robots=tmp_path).warnings()
    assert "README: the file name is not a host, so it was not used; rename" in warning
    assert (
        pybotaudit.Classifier(tokens=["a"]).classify(urls)["reason"][0].as_py() == "nothing-known"
    )


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(),
        pa.binary_view(), pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int32(), pa.large_string()),
    ],
    ids=str,
)  # fmt: skip
def test_types_of_texts(classifier: pybotaudit.Classifier, kind: pa.DataType) -> None:
    urls = ["https://a.example/x", None, "https://a.example/y", "", None]
    column = pa.chunked_array([pa.array(urls[:2]).cast(kind), pa.array(urls[2:]).cast(kind)])
    # A slice, so that offsets do not begin at 0.
    table = pa.table({"url": column, "n": range(5)}).slice(1)
    found = classifier.classify(table)
    assert found["verdict"].to_pylist() == [None, "allowed", "invalid-url", None]
    assert found["crawler"].to_pylist() == [None, "GPTBot", "GPTBot", None]
    assert found["rule_line"].type == pa.int32()
    assert found["url"].type == kind
    both = pybotaudit.Classifier(["GPTBot"], ["a"], robots=robots_table([RULES])).classify(table)
    assert both["url"].type == kind and both["n"].to_pylist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert pybotaudit.origins(table).to_pylist() == [None, "https://a.example", None, None]


def test_types_of_times(classifier: pybotaudit.Classifier) -> None:
    snapshots = [RULES, Snapshot("https://a.example", 100, "404", None, None)]
    classifier.set_robots(robots_table(snapshots))
    times = [
        RULES.time.replace(hour=5),
        RULES.time.replace(day=20),
        None,
        RULES.time.replace(hour=0),
    ]
    expected = ["disallowed", "allowed", "unknown", "unknown"]
    seconds = [None if at is None else int(at.timestamp()) for at in times]
    utc = pa.array(times, pa.timestamp("us", "UTC"))
    for column in [
        utc, utc.cast(pa.timestamp("ns", "Europe/Berlin")), utc.cast(pa.timestamp("ms")),
        pa.array(seconds), pa.array([None if at is None else at.isoformat() for at in times]),
    ]:  # fmt: skip
        table = pa.table({"url": ["https://a.example/x"] * 4, "at": column})
        assert classifier.classify(table, time_column="at")["verdict"].to_pylist() == expected
    table = pa.table({"url": ["https://a.example/x"], "at": pa.array([20500], pa.date32())})
    assert classifier.classify(table, time_column="at")["verdict"].to_pylist() == ["allowed"]


def test_other_libraries(classifier: pybotaudit.Classifier, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    urls = ["https://a.example/x", None, "https://a.example/y"]
    expected = ["disallowed", None, "allowed"]
    table = pa.table({"url": urls})
    relation = duckdb.from_arrow(table)
    frame = polars.DataFrame({"url": urls})
    for data in [
        table, table.to_batches()[0], table.to_reader(), table["url"], table["url"].chunk(0),
        relation, frame, frame["url"], frame.with_columns(frame["url"].cast(polars.Categorical)),
        pandas.DataFrame({"url": urls}), pandas.Series(urls), table.to_struct_array(),
    ]:  # fmt: skip
        found = classifier.classify(data)["verdict"]
        if isinstance(found, polars.Series):
            found = found.to_arrow()
        elif isinstance(found, pandas.Series):
            found = pa.array(found)
        assert found.to_pylist() == expected, type(data)


def test_a_function_of_duckdb(classifier: pybotaudit.Classifier) -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()

    def verdict(urls: pa.ChunkedArray) -> pa.ChunkedArray:
        return classifier.classify(urls, columns=["verdict"])["verdict"]

    connection.create_function("verdict", verdict, ["VARCHAR"], "VARCHAR", type="arrow")
    query = "SELECT verdict('https://a.example/' || CASE i % 2 WHEN 0 THEN 'x' ELSE 'y' END) AS v, count(*) FROM range(10000) t(i) GROUP BY v ORDER BY v"  # noqa: E501
    assert connection.sql(query).fetchall() == [("allowed", 5000), ("disallowed", 5000)]


def test_columns_are_chosen_and_renamed(classifier: pybotaudit.Classifier) -> None:
    table = pa.table({"verdict": [1], "address": ["https://a.example/x"]})
    found = classifier.classify(table, "address")
    assert found.column_names[:3] == ["input_verdict", "address", "origin"]
    found = classifier.classify(table, "address", columns=["verdict", "input_verdict", "rule_line"])
    assert found.to_pylist() == [{"verdict": "disallowed", "input_verdict": 1, "rule_line": 2}]
    assert classifier.classify(table.slice(1), "address").num_rows == 0
    assert (
        classifier.classify(table.slice(1), "address").schema
        == classifier.classify(table, "address").schema
    )


def test_small_and_large_batches(classifier: pybotaudit.Classifier) -> None:
    many = [f"https://a.example/{'xy'[n % 2]}{n}" for n in range(_arrow.ROWS + 10)]
    seen: list[int] = []
    small = [pa.record_batch({"url": many[at : at + 1000]}) for at in range(0, len(many), 1000)]
    for table in (pa.table({"url": many}), pa.Table.from_batches(small)):
        found = classifier.classify(table, progress=seen.append)
        assert found["verdict"].to_pylist() == ["disallowed", "allowed"] * (len(many) // 2)
        assert found["url"].to_pylist() == many
    assert seen[1] == seen[-1] == len(many) and len(seen) == 4
    reader = classifier.batches(pa.Table.from_batches(small), columns=["verdict"])
    assert sum(batch.num_rows for batch in reader) == len(many)


def test_texts_are_stored_once(classifier: pybotaudit.Classifier) -> None:
    names = ["a", "b", None, "a", "c"]
    urls = [name and f"https://{name}.example/private" for name in names]
    # More rows than a batch holds, and other origins in the last batch.
    table = pa.table({"url": [*urls * (_arrow.ROWS // 4), "https://z.example/"]})
    found = classifier.classify(table)
    origins = found["origin"]
    assert origins.type == pa.dictionary(pa.int32(), pa.string())
    assert origins.num_chunks > 1
    expected = sorted(f"https://{name}.example" for name in "abcz")
    for chunk in origins.chunks:
        assert sorted(chunk.dictionary.to_pylist()) == expected
    counts = found.group_by("origin").aggregate([("url", "count")]).to_pydict()
    assert dict(zip(counts["origin"], counts["url_count"], strict=True)) == {
        **{origin: _arrow.ROWS // 4 * names.count(origin[8]) for origin in expected[:3]},
        "https://z.example": 1,
        None: 0,
    }
    assert origins.cast("string").type == pa.string()
    assert classifier.classify(table.slice(0, 0))["origin"].to_pylist() == []


def test_data_of_python_and_datasets(classifier: pybotaudit.Classifier, tmp_path: Path) -> None:
    dataset = pytest.importorskip("pyarrow.dataset")
    numpy = pytest.importorskip("numpy")
    polars = pytest.importorskip("polars")
    urls = ["https://a.example/x", None, "https://a.example/y"]
    expected = ["disallowed", None, "allowed"]
    pa.parquet.write_table(pa.table({"url": urls}), tmp_path / "urls.parquet")
    on_disk = dataset.dataset(tmp_path)
    for data in [
        urls, tuple(urls), {"url": urls}, [{"url": url} for url in urls], on_disk,
        on_disk.scanner(), numpy.array(urls, dtype=object),
        [url and url.encode() for url in urls],
    ]:  # fmt: skip
        for found in (classifier.classify(data), classifier.batches(data).read_all()):
            assert found["verdict"].to_pylist() == expected, type(data)
            assert found.column_names[0] == "url"
    assert classifier.classify([]).num_rows == 0
    assert pybotaudit.origins(urls).to_pylist()[1:] == [None, "https://a.example"]
    with refused(TypeError, "LazyFrame", "give data.collect()"):
        classifier.classify(polars.LazyFrame({"url": urls}))


def test_a_column_may_begin_in_a_later_row(classifier: pybotaudit.Classifier) -> None:
    table = classifier.classify([{"url": "https://a.example/x"}, {"url": None, "note": "later"}])
    assert table["note"].to_pylist() == [None, "later"]


def test_answers_can_be_plain_strings(classifier: pybotaudit.Classifier) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    urls = ["https://a.example/x", None, "https://a.example/y"]
    table = pa.table({"url": urls, "n": [1, 2, 3]})
    plain = classifier.classify(table, strings=True)
    assert plain["verdict"].type == pa.string() and plain["rule_line"].type == pa.int32()
    dictionaries = classifier.classify(table)
    assert plain.to_pylist() == dictionaries.to_pylist()
    reader = classifier.batches(table, strings=True)
    assert reader.schema == plain.schema and reader.read_all().to_pylist() == plain.to_pylist()
    frame = classifier.classify(table.to_pandas(), strings=True)
    assert frame["verdict"].dtype != "category"
    assert classifier.classify(table.to_pandas())["verdict"].dtype == "category"
    # Groups of plain strings are those that occur.
    assert len(frame.groupby(["origin", "verdict", "reason"]).size()) == 2
    of_polars = classifier.classify(polars.from_arrow(table), strings=True)
    assert of_polars["verdict"].dtype == polars.String
    assert isinstance(frame, pandas.DataFrame)


def test_several_threads_give_the_same(monkeypatch: pytest.MonkeyPatch, rng: random.Random) -> None:
    monkeypatch.setattr(pybotaudit._classifier, "_ROWS_OF_THREAD", 700)
    snapshots = random_snapshots(rng, 40)
    urls = pa.table({"url": random_urls(rng, 40, 20_000)})
    for names in (["GPTBot"], ["GPTBot", "Googlebot"]):
        classifier = pybotaudit.Classifier(names, robots=robots_table(snapshots))
        expected = classifier.classify(urls)
        told: list[int] = []
        for threads in (2, 5, 0):
            found = classifier.classify(urls, threads=threads, progress=told.append)
            assert found.to_pylist() == expected.to_pylist()
            assert told[-1] == len(urls) and told == sorted(told)
            told.clear()
            batches = classifier.batches(urls, threads=threads, columns=["verdict"])
            assert batches.read_all()["verdict"].to_pylist() == expected["verdict"].to_pylist()
        verdict = classifier.classify(urls, threads=2)["verdict"]
        assert len({tuple(chunk.dictionary.to_pylist()) for chunk in verdict.chunks}) == 1
    with pytest.raises(ZeroDivisionError):
        classifier.classify(urls, threads=2, progress=lambda _: 1 / 0)


def test_threads_get_equally_many_batches(classifier: pybotaudit.Classifier) -> None:
    for total in (1000, 70_000, 1_000_000, 2_000_000, 50_000_001):
        for threads in (2, 3, 16):
            rows = classifier._rows_at_once(total, threads)
            assert rows <= _arrow.ROWS and -(-total // rows) % threads == 0, (total, threads, rows)
    assert classifier._rows_at_once(2_000_000, 2) == 250_000
    assert classifier._rows_at_once(0, 2) == 1
    assert classifier._rows_at_once(2_000_000, 1) == _arrow.ROWS


def test_a_bar_shows_rows(
    classifier: pybotaudit.Classifier, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tqdm")
    classifier.classify(["https://a.example/x"] * 1000, progress=True)
    assert "1000 rows" in capsys.readouterr().err


def test_a_classifier_is_pickled(tmp_path: Path, rng: random.Random) -> None:
    snapshots = random_snapshots(rng, 20)
    archive = write_archive(tmp_path, snapshots)
    urls = random_urls(rng, 20, 500)
    table = robots_table(snapshots)
    in_parts = pa.concat_tables([table.slice(3), table.slice(0, 3)])
    kinds = [
        {"crawlers": ["GPTBot"]},
        {"tokens": ["mybot"], "user_agent": b"Foo/1.0"},
    ]
    for robots in (archive, table, in_parts):
        for crawlers in kinds:
            for dialect in ("google", "rfc9309"):
                classifier = pybotaudit.Classifier(robots=robots, dialect=dialect, **crawlers)
                found = pickle.loads(pickle.dumps(classifier))
                assert answers(found.classify(urls)) == answers(classifier.classify(urls))
                assert repr(found) == repr(classifier)
    nothing = pickle.loads(pickle.dumps(pybotaudit.Classifier(["GPTBot"])))
    assert set(nothing.classify(urls[:1])["verdict"].to_pylist()) <= {"unknown", "invalid-url"}
    # Of a slice, only its rows.
    few = pybotaudit.Classifier(["GPTBot"], robots=table.slice(0, 1))
    assert len(pickle.dumps(few)) < len(
        pickle.dumps(pybotaudit.Classifier(["GPTBot"], robots=table))
    )


def test_relative_paths_are_pickled_as_absolute_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /\n")
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps(pybotaudit.Classifier(["GPTBot"], robots="robots.txt"))
    monkeypatch.chdir("/")
    found = pickle.loads(pickled).classify(["https://a.example/"])
    assert found["verdict"].to_pylist() == ["disallowed"]


def test_processes_get_a_classifier(tmp_path: Path) -> None:
    """By multiprocessing with spawn, as on macOS and Windows."""
    script = """
import multiprocessing, sys
import pybotaudit, pyarrow as pa
from concurrent.futures import ProcessPoolExecutor

def verdicts(job):
    classifier, robots, urls = job
    allowed = [robots.is_allowed("GPTBot", url) for url in urls]
    return classifier.classify(urls)["verdict"].to_pylist(), allowed

if __name__ == "__main__":
    body = "User-agent: *\\nDisallow: /x\\n"
    robots = pa.table({
        "origin": ["https://a.example"], "outcome": ["200"], "body": [body.encode()],
        "fetched_at": pa.array([0], pa.timestamp("us", "UTC")),
    })
    classifier = pybotaudit.Classifier(["GPTBot"], robots=robots)
    jobs = [(classifier, pybotaudit.RobotsTxt(body), [f"https://a.example/{p}"]) for p in "xy"]
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        print(list(pool.map(verdicts, jobs)))
"""
    program = tmp_path / "program.py"
    program.write_text(script)
    run = subprocess.run([sys.executable, program], check=False, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    assert run.stdout.decode() == "[(['disallowed'], [False]), (['allowed'], [True])]\n"


def test_a_classifier_says_what_it_is(classifier: pybotaudit.Classifier) -> None:
    assert repr(classifier) == "Classifier(crawlers=['GPTBot'], robots=<1 rows>, dialect='google')"
    other = pybotaudit.Classifier(tokens=["a"], robots=".")
    assert repr(other) == "Classifier(tokens=['a'], robots='.', dialect='google')"
    public = {name for name in dir(classifier) if name[0] != "_"}
    assert public == {"batches", "classify", "set_robots", "warnings"}


def test_threads_share_a_classifier(tmp_path: Path, rng: random.Random) -> None:
    snapshots = random_snapshots(rng, 40)
    classifier = pybotaudit.Classifier(["GPTBot"], robots=robots_table(snapshots), memory=1 << 16)
    urls = pa.array(random_urls(rng, 40, 20_000))
    expected = answers(classifier.classify(urls))
    found: list[object] = []
    run = lambda: found.append(answers(classifier.classify(urls)))  # noqa: E731
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_other_threads_run_meanwhile(classifier: pybotaudit.Classifier) -> None:
    urls = pa.array([f"https://a.example/{n}" for n in range(400_000)])
    assert ticks_during(lambda: classifier.classify(urls)) > 10


def test_ctrl_c_ends_a_call() -> None:
    script = """
import pybotaudit, pyarrow as pa, sys
classifier = pybotaudit.Classifier(tokens=["a"])
def endless():
    batch = pa.record_batch({"url": [f"https://h{n}.example/" for n in range(1000)]})
    while True:
        yield batch
schema = pa.schema({"url": pa.string()})
print("ready", flush=True)
try:
    for _ in classifier.batches(pa.RecordBatchReader.from_batches(schema, endless())):
        pass
except KeyboardInterrupt:
    sys.exit(7)
"""
    assert interrupted(script) == 7


def refused(kind: type[Exception], *parts: str) -> pytest.RaisesExc[Exception]:
    return pytest.raises(kind, match="(?s)" + ".*".join(map(re.escape, parts)))


def test_bad_columns_are_refused(classifier: pybotaudit.Classifier) -> None:
    table = pa.table({"link": ["https://a.example/"], "n": [1], "f": [1.5]})
    with refused(ValueError, "no column 'url'", "link, n, f", "url="):
        classifier.classify(table)
    with refused(TypeError, "column 'n' has the type int64", "cast it to string"):
        classifier.classify(table, "n")
    with refused(TypeError, "column 'f' has the type double", "timestamp"):
        classifier.classify(table, "link", time_column="f")
    with refused(ValueError, "no column 'x'", "time_column="):
        classifier.classify(table, "link", time_column="x")
    with refused(ValueError, "unknown name 'verdicts'", "verdict"):
        classifier.classify(table, "link", columns=["verdicts"])
    with refused(TypeError, "columns=['verdict']"):
        classifier.classify(table, "link", columns="verdict")
    with refused(ValueError, "columns is empty"):
        classifier.classify(table, "link", columns=[])
    with refused(TypeError, "str", "give ['https://a.example/']"):
        classifier.classify("https://a.example/")
    with refused(TypeError, "set", "give list(data)"):
        classifier.classify({"https://a.example/"})
    with refused(TypeError, "int", "Arrow interface"):
        classifier.classify(5)
    with refused(ValueError, "threads is -1"):
        classifier.classify(table, "link", threads=-1)
    with refused(ValueError, "crawlers of its own"):
        classifier.classify(table, "link", crawler_column="link")
    with refused(ValueError, "no crawler is given"):
        pybotaudit.Classifier().classify(table, "link")
    with refused(ValueError, "exclude each other"):
        pybotaudit.Classifier().classify(table, "link", crawler_column="n", user_agent_column="n")
    with refused(ValueError, "2 columns 'url'"):
        classifier.classify(pa.table([["a"], ["b"]], names=["url", "url"]))


def test_a_crawler_is_given_by_token_or_header(tmp_path: Path) -> None:
    groups = "User-agent: FooBot\nUser-agent: GPTBot\nUser-agent: Y!J\nDisallow: /\n"
    (tmp_path / "a.example").write_text(groups)
    urls = pa.table({"url": ["https://a.example/x"]})

    def answers(**crawlers: Any) -> list[tuple[str, int | None]]:
        table = pybotaudit.Classifier(**crawlers, robots=tmp_path).classify(urls)
        names = (table[name].to_pylist() for name in ("crawler", "rule_line"))
        return list(zip(*names, strict=True))

    header = "Mozilla/5.0 (compatible; FooBot/1.0; +http://foo.example)"
    gptbot = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
    assert answers(tokens=["GPTBot/1.2", "Y!J"]) == [("GPTBot", 4), ("Y!J", 4)]
    assert answers(user_agent=header) == [("FooBot", 4)]
    assert answers(user_agent=[gptbot, b"foobot/2"]) == [("GPTBot", 4), ("foobot", 4)]
    assert answers(tokens=["b"], user_agent="+") == [("b", None), ("*", None)]
    for token in [header, "a b", "a/", "*"]:
        with refused(ValueError, f"'{token}' is not a product token"):
            pybotaudit.Classifier(tokens=["a", token])
    with refused(ValueError, "unknown crawler", "use user_agent="):
        pybotaudit.Classifier([header])


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    with refused(ValueError, "unknown crawler 'GPTBott'", "did you mean", "tokens=['GPTBott']"):
        pybotaudit.Classifier(["GPTBott"])
    with refused(TypeError, "crawlers=['GPTBot']"):
        pybotaudit.Classifier("GPTBot")
    with refused(ValueError, "'gptbot'", "twice"):
        pybotaudit.Classifier(tokens=["gptbot", "gptbot"])
    with refused(ValueError, "empty"):
        pybotaudit.Classifier(tokens=[""])
    with refused(ValueError, "dialect 'bing'", "google or rfc9309"):
        pybotaudit.Classifier(["GPTBot"], dialect="bing")
    with refused(FileNotFoundError, str(tmp_path / "nowhere")):
        pybotaudit.Classifier(["GPTBot"], robots=tmp_path / "nowhere")


def test_bad_robots_are_refused() -> None:
    def check(kind: type[Exception], change: dict[str, pa.Array] | None, *parts: str) -> None:
        rows = [RULES._replace(hour=hour, origin="https://b.example") for hour in (1, 2)]
        table = robots_table([*rows, RULES])
        for name, column in (change or {}).items():
            table = table.set_column(table.schema.get_field_index(name), name, column)
        # In two batches: rows are counted through.
        table = pa.concat_tables([table.slice(0, 2), table.slice(2)])
        with refused(kind, *parts):
            pybotaudit.Classifier(["GPTBot"], robots=table)

    texts = lambda *values: pa.array(values, pa.string())  # noqa: E731
    bad = ["row 2", "https://a.example", "outcome 'ok'", "404"]
    check(ValueError, {"outcome": texts("200", "200", "ok")}, *bad)
    check(ValueError, {"outcome": texts("200", None, "200")}, "row 1", "outcome ''")
    check(ValueError, {"origin": texts("x", "https://b", "https://c")}, "row 0", "'x'", "https://")
    check(ValueError, {"origin": texts("http://a", None, "http://b")}, "row 1", "origin is null")
    body = pa.array([b"", None, b""], pa.binary())
    check(ValueError, {"body": body}, "row 1", "body is null", "outcome 200", "b''")
    at = pa.array([RULES.time, None, RULES.time], pa.timestamp("us", "UTC"))
    check(ValueError, {"fetched_at": at}, "row 1", "fetched_at is null")
    check(ValueError, {"max_age": pa.array([1, 2, -1])}, "row 2", "max_age is negative")
    same = texts("https://b.example", "https://c.example", "https://b.example:443")
    other = pa.array([b"", b"", b"other"], pa.binary())
    check(
        ValueError, {"origin": same, "body": other}, "row 2", "https://b.example",
        "2026-01-01T01:00:00Z", "keep one",
    )  # fmt: skip
    check(TypeError, {"body": pa.array([1, 2, 3])}, "column 'body'", "int64", "binary")
    check(TypeError, {"fetched_at": texts("a", "b", "c")}, "'fetched_at'", "string", "timestamp")
    check(TypeError, {"max_age": texts("a", "b", "c")}, "'max_age'", "string", "int64")
    with refused(ValueError, "no column 'body'"):
        pybotaudit.Classifier(["GPTBot"], robots=robots_table([RULES]).drop_columns(["body"]))
    with refused(TypeError, "int", "Arrow interface"):
        pybotaudit.Classifier(["GPTBot"], robots=5)


def test_equal_rows_of_robots_count_once() -> None:
    """With the longer `max_age`, whatever the order."""
    rows = [RULES, RULES._replace(max_age=7200), RULES._replace(max_age=60)]
    later = RULES._replace(hour=100, body=b"User-agent: *\nDisallow: /\n")
    urls = pa.table({"url": ["https://a.example/y"] * 3, "at": [0, 0, 0]})
    seconds = [int(later.time.timestamp()) + after for after in (60, 7199, 7201)]
    urls = urls.set_column(1, "at", pa.array(seconds))
    for order in (rows, rows[::-1], [*rows, RULES]):
        classifier = pybotaudit.Classifier(["GPTBot"], robots=robots_table([*order, later]))
        found = classifier.classify(urls, time_column="at")["verdict"].to_pylist()
        assert found == ["grace", "grace", "disallowed"]


def test_missing_max_ages_may_be_those_of_pandas() -> None:
    table = robots_table([RULES, RULES._replace(hour=RULES.hour + 1, max_age=7200)])
    place = table.column_names.index("max_age")
    urls = pa.array(["https://a.example/x"])
    whole = pybotaudit.Classifier(["GPTBot"], robots=table)
    for ages in ([None, 7200.0], [float("nan"), 7200.0]):
        floats = table.set_column(place, "max_age", pa.array(ages, pa.float64()))
        for robots in (floats, floats.to_pandas()):
            found = pybotaudit.Classifier(["GPTBot"], robots=robots).classify(urls)
            assert found.equals(whole.classify(urls))
    broken = table.set_column(place, "max_age", pa.array([0.5, 1.0]))
    with pytest.raises(ValueError, match="'max_age' has no whole seconds"):
        pybotaudit.Classifier(["GPTBot"], robots=broken)


def test_robots_without_max_age_and_with_other_columns() -> None:
    table = robots_table([RULES]).drop_columns(["max_age"]).append_column("x", [[1]])
    classifier = pybotaudit.Classifier(["GPTBot"], robots=table)
    urls = pa.array(["https://a.example/x"])
    assert classifier.classify(urls)["verdict"].to_pylist() == ["disallowed"]
