"""Known crawlers, who sends a header, and downloads of robots.txt files."""

from __future__ import annotations

import http.server
import json
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pybotaudit
import pytest
from conftest import command

GPTBOT = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def test_crawlers_are_those_of_the_command(tmp_path: Path) -> None:
    table = pybotaudit.crawlers()
    expected = json.loads(command("crawlers", "list", "--format", "json").stdout)
    assert table.to_pylist() == expected and len(table) > 900
    assert table.schema.field("product_tokens").type == pa.list_(pa.string())
    assert table.schema.field("honours_star").type == pa.bool_()
    assert pa.null() not in table.schema.types
    with pytest.raises(FileNotFoundError, match="nowhere"):
        pybotaudit.crawlers(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("header", "kind", "name"),
    [
        (GPTBOT, "crawler", "GPTBot"),
        (GPTBOT.encode(), "crawler", "GPTBot"),
        ("curl/8.5.0", "tool", "curl"),
        ("newbot/0.1 (+https://example.net/bot)", "automated", None),
        (FIREFOX, "browser", None),
        ("", "none", None),
        ("-", "none", None),
        (b"\xff\x00", "automated", None),
    ],
)
def test_senders_are_identified(header: str | bytes, kind: str, name: str | None) -> None:
    found = pybotaudit.identify(header)
    assert (found.kind, found.name) == (kind, name)
    assert found.is_crawler == (kind == "crawler") and found.is_tool == (kind == "tool")
    assert found.is_browser == (kind == "browser")
    assert found.is_automated == (kind in ("crawler", "tool", "automated"))


def test_an_identity_has_facts() -> None:
    found = pybotaudit.identify(GPTBOT)
    assert found.operator == "OpenAI" and found.purpose == "ai-training"
    assert found.product_tokens == ["GPTBot"] and found.bound == "bound"
    assert found.user_agent == GPTBOT and "openai.com" in (found.documentation_url or "")
    assert pybotaudit.identify(FIREFOX).product_tokens == []
    with pytest.raises(TypeError, match="user_agent is of the type list; give str or bytes"):
        pybotaudit.identify([GPTBOT])  # type: ignore[arg-type]


class Site(http.server.BaseHTTPRequestHandler):
    """Serves a robots.txt."""

    def do_GET(self) -> None:
        body = b"User-agent: *\nDisallow: /private/\n# " + self.headers["User-Agent"].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    """The origin of a server."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def test_files_are_downloaded(site: str, tmp_path: Path) -> None:
    archive = tmp_path / "robots.db"
    assert pybotaudit.fetch(site, archive=archive, user_agent="study/1.0") == {"200": 1}
    classifier = pybotaudit.Classifier(tokens=["mybot"], robots=archive)
    (verdict,) = classifier.classify([f"{site}/private/x"])["verdict"].to_pylist()
    assert verdict == "disallowed"
    shown = command("robots", "show", "-a", archive, site).stdout
    assert b"study/1.0" in shown
    # Nobody listens there.
    with pytest.warns(UserWarning, match="no usable answer from http://127.0.0.1:1 "):
        found = pybotaudit.fetch([site, "http://127.0.0.1:1"], archive=str(archive), timeout=5)
    assert found == {"200": 1, "connect": 1}


def test_hosts_of_logs_are_limited(site: str, tmp_path: Path) -> None:
    host = site.removeprefix("http://")
    line = '192.0.2.1 - - [01/Nov/2026:00:00:00 +0000] "GET /x HTTP/1.1" 200 5 "-" "GPTBot/1.2"'
    log = tmp_path / "access.log"
    log.write_text(f"{host} {line}\n")
    anywhere = {"allow_private_addresses": True, "fetch_any_port": True}
    for number, (limits, expected) in enumerate(
        [
            ({}, 0),
            ({"allow_private_addresses": True}, 0),
            ({"fetch_any_port": True}, 0),
            (anywhere, 1),
            ({**anywhere, "fetch_budget": 0}, 0),
        ]
    ):
        archive = tmp_path / f"{number}.db"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = pybotaudit.fetch(archive=archive, from_log=log, **limits)  # type: ignore[arg-type]
        assert found.get("200", 0) == expected, limits


def test_mistakes_of_downloads(tmp_path: Path) -> None:
    archive = tmp_path / "robots.db"
    with pytest.raises(ValueError, match="nothing to fetch"):
        pybotaudit.fetch(archive=archive)
    with pytest.raises(ValueError, match="'a b' is not a valid origin"):
        pybotaudit.fetch("a b", archive=archive)
    with pytest.raises(TypeError, match=r"origins, row 1 \(from 0\) is of the type NoneType"):
        pybotaudit.fetch(["a.example", None], archive=archive)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="'-' is not an origin"):
        pybotaudit.fetch("-", archive=archive)
    with pytest.raises(ValueError, match="delay is -1"):
        pybotaudit.fetch("a.example", archive=archive, delay=-1)
    with pytest.raises(ValueError, match="0 is not valid; write a number from 1"):
        pybotaudit.fetch("a.example", archive=archive, jobs=0)
    with pytest.raises(ValueError, match="fetch_budget is -1"):
        pybotaudit.fetch("a.example", archive=archive, fetch_budget=-1)
    with pytest.raises(FileNotFoundError, match="none"):
        pybotaudit.fetch("a.example", archive=archive, ca_file=tmp_path / "none.pem")
    assert not archive.exists()


def test_ctrl_c_ends_downloads(tmp_path: Path) -> None:
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        script = f"""
import pybotaudit, sys
print("ready", flush=True)
try:
    site = "http://127.0.0.1:{silent.getsockname()[1]}"
    pybotaudit.fetch(site, archive={str(tmp_path / "a.db")!r})
except KeyboardInterrupt:
    sys.exit(7)
"""
        run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        assert run.stdout is not None and run.stdout.readline() == b"ready\n"
        silent.accept()
        run.send_signal(signal.SIGINT)
        assert run.wait(25) == 7
