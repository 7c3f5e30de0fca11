"""Data frames come back as data frames of the same library, each answer in the row of its URL."""

from __future__ import annotations

import warnings
from typing import Any

import pyarrow as pa
import pybotaudit
import pytest
from conftest import Snapshot, robots_table

pandas = pytest.importorskip("pandas")
numpy = pytest.importorskip("numpy")
polars = pytest.importorskip("polars")
pytest.importorskip("polars.testing")

RULES = Snapshot("https://a.example", 1, "200", None, b"User-agent: *\nDisallow: /x\n")
PATHS = ["x", "y", "x", None, "x/1", "z"]
URLS = [path and f"https://a.example/{path}" for path in PATHS]
EXPECTED = {None: None, "x": "disallowed", "x/1": "disallowed", "y": "allowed", "z": "allowed"}


@pytest.fixture
def classifier() -> pybotaudit.Classifier:
    return pybotaudit.Classifier(["GPTBot"], robots=robots_table([RULES]))


@pytest.fixture
def two() -> pybotaudit.Classifier:
    return pybotaudit.Classifier(["GPTBot"], ["a"], robots=robots_table([RULES]))


@pytest.fixture(autouse=True)
def _strict() -> Any:
    """Warnings of pandas, such as about a copy, are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def frame() -> Any:
    return pandas.DataFrame({"path": PATHS, "url": URLS, "n": range(len(URLS))})


def frames() -> dict[str, Any]:
    """The same rows with different indexes."""
    whole = frame()
    days = pandas.date_range("2026-03-01", periods=len(whole), freq="D", tz="UTC")
    pairs = pandas.MultiIndex.from_product([["a", "b"], [1, 2, 3]], names=["letter", None])
    return {
        "filtered": whole[whole["n"] % 2 == 0],
        "sliced": whole[2:5],
        "shuffled": whole.sample(frac=1, random_state=3),
        "duplicate": whole.set_index(pandas.Index([7, 7, 7, 1, 1, 7], name="seven")),
        "texts": whole.set_index("path", drop=False),
        "datetime": whole.set_index(days),
        "several levels": whole.set_index(pairs).iloc[::-1],
        "several levels, filtered": whole.set_index(pairs).loc[["b"]],
        "named as an answer": whole.set_index(pandas.Index(range(10, 16), name="origin")),
        "empty": whole[:0],
        "one": whole[3:4],
        "without names": whole,
    }


def expected(data: Any) -> list[str | None]:
    return [EXPECTED[path] for path in data["path"]]


def plain(series: Any) -> list[Any]:
    """The values, with None for all that is missing."""
    return [None if pandas.isna(value) else value for value in series]


@pytest.mark.parametrize("name", frames())
def test_answers_are_in_the_rows_of_their_urls(
    classifier: pybotaudit.Classifier, name: str
) -> None:
    data = frames()[name]
    before = data.copy()
    for found in (
        classifier.classify(data),
        classifier.classify(data, columns=["verdict", "path"]),
        classifier.classify(data["url"], columns=["verdict"]),
    ):
        assert isinstance(found, pandas.DataFrame)
        pandas.testing.assert_index_equal(found.index, data.index)
        assert plain(found["verdict"]) == expected(data)
        with_verdicts = data.copy()
        if data.index.is_unique:
            with_verdicts["verdict"] = found["verdict"]
            assert plain(with_verdicts["verdict"]) == expected(data)
    whole = classifier.classify(data)
    assert list(whole.columns[:4]) == ["path", "url", "n", "origin"]
    pandas.testing.assert_frame_equal(whole[["path", "url", "n"]], data)
    pandas.testing.assert_frame_equal(data, before)
    origins = pybotaudit.origins(data)
    assert isinstance(origins, pandas.Series) and origins.name == "origin"
    pandas.testing.assert_index_equal(origins.index, data.index)
    assert plain(origins) == [path and "https://a.example" for path in data["path"]]


@pytest.mark.parametrize("name", frames())
def test_the_index_is_repeated_for_each_crawler(two: pybotaudit.Classifier, name: str) -> None:
    data = frames()[name]
    found = two.classify(data)
    pandas.testing.assert_index_equal(found.index, data.index.repeat(2))
    assert plain(found["verdict"]) == [verdict for verdict in expected(data) for _ in range(2)]
    assert plain(found["path"]) == [path for path in data["path"] for _ in range(2)]
    crawlers = [name if path else None for path in data["path"] for name in ("GPTBot", "a")]
    assert plain(found["crawler"]) == crawlers


@pytest.mark.parametrize("name", frames())
def test_batches_have_the_index_of_their_rows(
    monkeypatch: pytest.MonkeyPatch,
    classifier: pybotaudit.Classifier,
    two: pybotaudit.Classifier,
    name: str,
) -> None:
    monkeypatch.setattr(pybotaudit._arrow, "ROWS", 2)
    data = frames()[name]
    for columns in (None, ["verdict"], ["n", "verdict"]):
        found = [batch.to_pandas() for batch in classifier.batches(data, columns=columns)]
        assert len(found) == (len(data) + 1) // 2 or not len(data)
        for at, part in enumerate(found):
            rows = data[2 * at : 2 * at + 2]
            # The frequency of days is that of all rows.
            pandas.testing.assert_index_equal(
                part.index, rows.index, exact="equiv", check_names=True
            )
            assert plain(part["verdict"]) == expected(rows)
            assert columns is None or list(part.columns) == columns
    whole = two.batches(data).read_all().to_pandas()
    pandas.testing.assert_index_equal(whole.index, data.index.repeat(2), exact="equiv")


def test_tables_of_pyarrow_keep_the_index_of_pandas(classifier: pybotaudit.Classifier) -> None:
    for name, data in frames().items():
        table = pa.Table.from_pandas(data)
        found = classifier.classify(table)
        assert isinstance(found, pa.Table)
        found = found.to_pandas()
        assert plain(found["verdict"]) == expected(data), name
        pandas.testing.assert_index_equal(found.index, data.index, exact="equiv")
    # What is not of pandas has no index: a table without metadata stays one.
    assert classifier.classify(pa.table({"url": URLS})).schema.metadata is None


def test_other_columns_stay_what_they_are(classifier: pybotaudit.Classifier) -> None:
    marker = object()
    data = pandas.DataFrame(
        {
            "verdict": pandas.array([1, None, 3], "Int64"),
            "url": pandas.array(URLS[:3], "string"),
            5: [marker, "text", 1],
            "when": pandas.to_datetime(["2026-03-01", None, "2026-03-02"]),
            "kind": pandas.Categorical(["a", "b", "a"]),
        },
        index=[3, 1, 2],
    )
    found = classifier.classify(data)
    assert list(found.columns[:6]) == ["input_verdict", "url", 5, "when", "kind", "origin"]
    own = found.iloc[:, :5].rename(columns={"input_verdict": "verdict"})
    pandas.testing.assert_frame_equal(own, data)
    assert found[5].iloc[0] is marker
    assert found["rule_line"].dtype == "Int32" and plain(found["rule_line"]) == [2, None, 2]
    assert found["verdict"].dtype == "category"
    levels = pandas.DataFrame(
        [["https://a.example/x", 1]],
        columns=pandas.MultiIndex.from_tuples([("a", "u"), ("b", "n")]),
    )
    judged = classifier.classify(levels, ("a", "u"))
    assert plain(judged["verdict"]) == ["disallowed"] and plain(judged["b", "n"]) == [1]


def test_columns_of_the_index_can_be_judged() -> None:
    classifier = pybotaudit.Classifier(robots=robots_table([RULES]))
    data = pandas.DataFrame(
        {"at": ["2026-01-03", "2025-12-01"], "who": ["GPTBot", "GPTBot"]},
        index=pandas.Index([URLS[0], URLS[1]], name="url"),
    )
    found = classifier.classify(data, crawler_column="who", time_column="at")
    assert list(found["verdict"]) == ["disallowed", "unknown"]
    assert list(found.columns[:3]) == ["at", "who", "origin"]
    assert list(found.index) == URLS[:2]


def test_bad_columns_of_frames_are_refused(classifier: pybotaudit.Classifier) -> None:
    data = pandas.DataFrame({"link": ["https://a.example/"], "n": [1], "mixed": [1.5]})
    with pytest.raises(ValueError, match="no column 'url'; its columns are link, n, mixed; set"):
        classifier.classify(data)
    with pytest.raises(TypeError, match="column 'n' has the type int64; cast it to string"):
        classifier.classify(data, "n")
    odd = r"row 9000 \(from 0\) is of the type int, the rows before str"
    mixed = ["a", None, *["b"] * 8998, 1, "c"]
    with pytest.raises(TypeError, match=f"column 'mixed' cannot be read: .*; {odd}; cast it"):
        classifier.classify(pandas.DataFrame({"mixed": mixed}), "mixed")
    dicts = [{"url": value} for value in mixed]
    for given in (mixed, {"url": mixed}, dicts, numpy.array(mixed, dtype=object)):
        with pytest.raises(TypeError, match=f"column 'url' cannot be read: .*; {odd}"):
            classifier.classify(given)
    broken = ["a", "\ud800"]
    dicts = [{"url": value} for value in broken]
    for given in (broken, {"url": broken}, dicts, pandas.DataFrame(dicts)):
        with pytest.raises(ValueError, match=r"'url' .* row 1 \(from 0\) is not valid Unicode"):
            classifier.classify(given)
    with pytest.raises(TypeError, match=r"data, row 1 \(from 0\) is of the type NoneType; give a"):
        classifier.classify([{"url": "a"}, None])
    with pytest.raises(ValueError, match="unknown name 'x'"):
        classifier.classify(data, "link", columns=["x"])
    twice = pandas.DataFrame([["a", "b"]], columns=["url", "url"])
    with pytest.raises(ValueError, match="2 columns 'url'"):
        classifier.classify(twice)
    for other in (data, polars.DataFrame({"link": ["https://a.example/"]})):
        with pytest.raises(ValueError, match="crawlers of its own"):
            classifier.classify(other, "link", crawler_column="link")
        with pytest.raises(ValueError, match="no column 'url'"):
            pybotaudit.origins(other)


def test_frames_of_polars_stay_frames_of_polars(
    classifier: pybotaudit.Classifier, two: pybotaudit.Classifier
) -> None:
    data = polars.DataFrame(
        {
            "url": URLS,
            "verdict": [1, 2, 3, 4, 5, None],
            "kind": polars.Series(list("abcabc"), dtype=polars.Enum(["a", "b", "c"])),
        }
    )
    for rows in (data, data.filter(polars.col("verdict") > 2), data[:0], data.sample(4, seed=1)):
        paths = [url and url.removeprefix("https://a.example/") for url in rows["url"]]
        verdicts = [EXPECTED[path] for path in paths]
        found = classifier.classify(rows)
        assert isinstance(found, polars.DataFrame)
        assert found.columns[:4] == ["url", "input_verdict", "kind", "origin"]
        assert found["verdict"].cast(polars.String).to_list() == verdicts
        polars.testing.assert_frame_equal(
            found.select("url", verdict="input_verdict", kind="kind"), rows
        )
        both = two.classify(rows, columns=["verdict", "url"])
        assert both.columns == ["verdict", "url"]
        assert both["url"].to_list() == [url for url in rows["url"] for _ in range(2)]
        assert both["verdict"].cast(polars.String).to_list() == [
            verdict for verdict in verdicts for _ in range(2)
        ]
        series = classifier.classify(rows["url"], columns=["verdict"])
        assert isinstance(series, polars.DataFrame)
        assert series["verdict"].cast(polars.String).to_list() == verdicts
        origins = pybotaudit.origins(rows)
        assert isinstance(origins, polars.Series) and origins.name == "origin"
        assert origins.to_list() == [path and "https://a.example" for path in paths]


def test_more_rows_than_a_batch_holds(
    monkeypatch: pytest.MonkeyPatch, two: pybotaudit.Classifier
) -> None:
    monkeypatch.setattr(pybotaudit._arrow, "ROWS", 7)
    names = [f"https://{'ab'[n % 2]}{n % 5}.example/{n}" for n in range(50)]
    data = pandas.DataFrame({"url": names}, index=range(1000, 1050)).sample(frac=1, random_state=1)
    seen: list[int] = []
    found = two.classify(data, progress=seen.append)
    assert seen[-1] == 50 and len(seen) > 10
    assert [url.rsplit("/", 1)[0] for url in found["url"]] == list(found["origin"])
    assert list(found.index) == [at for at in data.index for _ in range(2)]
    as_polars = two.classify(polars.from_pandas(data))
    assert as_polars["origin"].cast(polars.String).to_list() == list(found["origin"])


def test_a_version_of_pandas_whose_types_are_not_known_is_refused(
    classifier: pybotaudit.Classifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pandas, "__version__", "3.0.1")
    for data in (frame(), frame()["url"]):
        with pytest.raises(TypeError, match=r"pandas 3\.0\.1 are not supported; install"):
            classifier.classify(data)
