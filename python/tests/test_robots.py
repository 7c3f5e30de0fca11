"""robots.txt files: one at a time, of a WARC file, and their mistakes."""

from __future__ import annotations

import copy
import gzip
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pybotaudit
import pytest
from conftest import REPOSITORY
from pybotaudit import _arrow


def response(url: str, second: int, head: str, body: str = "") -> bytes:
    """A record of a WARC file."""
    block = f"HTTP/1.1 {head}\r\n\r\n{body}".encode()
    fields = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-01-01T00:00:{second:02}Z\r\n"
        f"WARC-Target-URI: {url}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return gzip.compress(fields.encode() + block + b"\r\n\r\n")


def test_rules_of_one_file() -> None:
    robots = pybotaudit.RobotsTxt("User-agent: a\nDisallow: /x\nAllow: /x/y\nSitemap: http://s/\n")
    assert robots.is_allowed("a", "https://h.example/x/y")
    assert not robots.is_allowed("a", b"/x")
    assert robots.is_allowed("b", "/x")
    matcher = robots.matcher(["a-image", "a"])
    assert matcher.decide("/x/z") == (False, 2)
    assert matcher.decide("/robots.txt") == (True, None)
    assert matcher.is_allowed("/")
    assert robots.sitemaps == ["http://s/"]
    assert repr(robots) == "<RobotsTxt: 1 groups, 2 rules, 1 sitemaps, dialect google>"
    assert "rules: 2" in repr(matcher)
    by_rfc = pybotaudit.RobotsTxt.parse(b"User-agent: *\nDisallow: /%7Ea", dialect="rfc9309")
    assert not by_rfc.is_allowed("a", "/~a")
    assert not robots.is_allowed("a/1.2", "/x")
    header = "Mozilla/5.0 (compatible; A/1.2; +http://a.example)"
    assert not robots.is_allowed(target="/x", user_agent=header)
    assert robots.is_allowed(target=b"/x", user_agent=b"b/1")
    assert robots.matcher(user_agent="a").decide("/x/z") == (False, 2)
    for token in [header, "", "a b", "a/", "https://h.example/x"]:
        with pytest.raises(ValueError, match=r"is not a product token.*use user_agent="):
            robots.is_allowed(token, "/x")
        with pytest.raises(ValueError, match="is not a product token"):
            robots.matcher(["a", token])
    with pytest.raises(TypeError, match="product_token and user_agent exclude each other"):
        robots.is_allowed("a", "/x", user_agent="a")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="give product_tokens or user_agent="):
        robots.matcher()  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="target is missing"):
        robots.is_allowed("a")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="body must be str or bytes"):
        pybotaudit.RobotsTxt(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="write google or rfc9309"):
        pybotaudit.RobotsTxt("", dialect="x")


def test_parts_of_one_file() -> None:
    body = (
        b"User-agent: a\nUser-agent: b\xff\nCrawl-delay: 2.5\nDisallow: /x\nAllow: /\xc3\xa9\n"
        b"Sitemap: /s\xff\nUser-agent: *\nDisallow:\nCrawl-delay: soon\nUser-agent: c\n"
    )
    robots = pybotaudit.RobotsTxt(body)
    first, second, third = robots.groups
    rules = [pybotaudit.Rule(4, "disallow", "/x"), pybotaudit.Rule(5, "allow", "/é")]
    assert first == pybotaudit.Group(1, ["a", "b\\xFF"], rules, "2.5")
    assert second == pybotaudit.Group(7, ["*"], [pybotaudit.Rule(8, "disallow", "")], "soon")
    assert third == pybotaudit.Group(10, ["c"], [], None)
    assert robots.rules == [*rules, *second.rules]
    assert robots.rules[0].directive == "disallow" and robots.rules[0].line == 4
    assert robots.sitemaps == ["/s\\xFF"]
    assert robots.crawl_delay("a") == 2.5 and robots.crawl_delay("A/1.0") == 2.5
    assert robots.crawl_delay("nobody") is None
    header = "Mozilla/5.0 (compatible; A/1.2; +http://a.example)"
    assert robots.crawl_delay(user_agent=header) == 2.5
    assert robots.body == body and robots.dialect == "google"
    with pytest.raises(ValueError, match="is not a product token"):
        robots.crawl_delay(header)
    with pytest.raises(TypeError, match="give product_token or user_agent="):
        robots.crawl_delay()  # type: ignore[call-overload]
    public = {name for name in dir(robots) if name[0] != "_"}
    assert public == {
        "body", "crawl_delay", "dialect", "from_file", "groups", "is_allowed", "matcher", "parse",
        "rules", "sitemaps",
    }  # fmt: skip


@pytest.mark.parametrize("dialect", ["google", "rfc9309"])
def test_a_file_is_pickled(dialect: str) -> None:
    body = b"\xef\xbb\xbfUser-agent: *\nDisallow: /%7Ea\n#" + b"x" * 600_000 + b"\nDisallow: /y\n"
    robots = pybotaudit.RobotsTxt(body, dialect)
    for protocol in (0, pickle.HIGHEST_PROTOCOL):
        found = pickle.loads(pickle.dumps(robots, protocol))
        assert found.dialect == dialect and found.body == robots.body and len(found.body) <= 512_000
        for path in ("/~a", "/%7Ea", "/y"):
            assert found.is_allowed("a", path) == robots.is_allowed("a", path)
    assert copy.deepcopy(robots).groups == robots.groups


def test_completion_shows_what_is_public() -> None:
    assert dir(pybotaudit) == sorted([*pybotaudit.__all__, "spark"])
    script = (
        "import pybotaudit; print(all(hasattr(pybotaudit, name) for name in pybotaudit.__all__))"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert run.stdout == b"True\n"


def test_mistakes_of_one_file() -> None:
    (found,) = pybotaudit.lint(b"User-agent: *\nDisallow: x\n")
    assert (found.line, found.severity, found.code) == (2, "error", "rule-never-matches")
    assert "'/x'" in found.advice and "matches nothing" in found.message
    assert pybotaudit.lint("User-agent: *\nDisallow: /x\n") == []


def test_origins() -> None:
    urls = ["HTTPS://U@A.example:443/x", None, "x", "http://müller.example:81", "ftp://a", ""]
    expected = ["https://a.example", None, None, "http://xn--mller-kva.example:81", "ftp://a", None]
    assert pybotaudit.origins(pa.table({"link": urls}), "link").to_pylist() == expected
    assert pybotaudit.origins(pa.array([], pa.string())).to_pylist() == []
    with pytest.raises(TypeError, match="cast it to string"):
        pybotaudit.origins(pa.array([1]))


def test_a_warc_file_becomes_a_table(tmp_path: Path) -> None:
    path = tmp_path / "robots.warc.gz"
    path.write_bytes(
        response("https://a.example/robots.txt", 1, "200 OK\r\nCache-Control: max-age=60", "A")
        + response("https://a.example/robots.txt", 2, "404 x", "no")
        + response("https://a.example/page", 2, "200 OK", "no")
        + response(
            "http://b.example/robots.txt", 3, "301 x\r\nLocation: https://a.example/robots.txt"
        )
        + response(
            "http://c.example/robots.txt", 3, "301 x\r\nLocation: https://c.example/robots.txt"
        )
    )
    table = pybotaudit.robots_from_warc(path)
    assert table.schema == _arrow.ROBOTS
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert [(row[0], row[1].second, *row[2:]) for row in rows] == [
        ("http://b.example", 3, "404", None, None),
        ("http://c.example", 3, "unfollowed", None, None),
        ("https://a.example", 1, "200", 60, b"A"),
        ("https://a.example", 2, "404", None, None),
    ]
    classifier = pybotaudit.Classifier(["GPTBot"], robots=table)
    assert (
        classifier.classify(pa.array(["https://a.example/"]))["reason"][0].as_py()
        == "no-robots-txt"
    )


def test_damaged_and_missing_warc_files(tmp_path: Path) -> None:
    path = tmp_path / "robots.warc.gz"
    whole = response("https://a.example/robots.txt", 1, "200 OK", "A")
    path.write_bytes(whole + response("https://b.example/robots.txt", 2, "200 OK", "B" * 99)[:-30])
    with pytest.warns(UserWarning, match="robots.warc.gz"):
        table = pybotaudit.robots_from_warc(str(path))
    assert table["origin"].to_pylist() == ["https://a.example"]
    with pytest.raises(FileNotFoundError, match="nowhere"):
        pybotaudit.robots_from_warc(tmp_path / "nowhere")


def test_of_one_second_the_last_answer_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "robots.warc"
    url = "https://a.example/robots.txt"
    path.write_bytes(response(url, 1, "503 x") + response(url, 1, "200 OK", "A"))
    table = pybotaudit.robots_from_warc(path)
    assert len(table) == 1
    pybotaudit.Classifier(["GPTBot"], robots=table)


def test_the_conformance_suite_finds_this_package() -> None:
    runner = [sys.executable, REPOSITORY / "tests/conformance/run.py", "--parser", "botaudit"]
    run = subprocess.run(runner, check=False, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert f"botaudit {pybotaudit.__version__} " in run.stdout


def test_the_name_of_a_file_is_not_a_body(tmp_path: Path) -> None:
    path = tmp_path / "rules"
    path.write_text("User-agent: *\nDisallow: /private/\n")
    for name in ("robots.txt", "sites/Robots.txt", str(path), str(tmp_path)):
        with pytest.raises(ValueError, match=r"is a name, not the text.*RobotsTxt\.from_file"):
            pybotaudit.RobotsTxt(name)
        with pytest.raises(ValueError, match=r"is a name, not the text.*read_bytes"):
            pybotaudit.lint(name)
    with pytest.raises(ValueError, match=r"use pybotaudit\.fetch"):
        pybotaudit.RobotsTxt("https://a.example/robots.txt")
    with pytest.raises(TypeError, match=r"body is a path.*RobotsTxt\.from_file"):
        pybotaudit.RobotsTxt(path)  # type: ignore[arg-type]
    for body in ("", "Sitemap: /robots.txt", "# robots.txt", b"robots.txt", "robots.txt\n"):
        assert pybotaudit.RobotsTxt(body).is_allowed("GPTBot", "/private/x")
    assert not pybotaudit.RobotsTxt.from_file(path).is_allowed("GPTBot", "/private/x")
    assert pybotaudit.RobotsTxt.from_file(str(path), "rfc9309").dialect == "rfc9309"
    with pytest.raises(FileNotFoundError, match="missing"):
        pybotaudit.RobotsTxt.from_file(tmp_path / "missing")
