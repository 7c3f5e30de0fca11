"""What the tests share: the command, random robots.txt files, and URLs of their origins."""

from __future__ import annotations

import datetime
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

REPOSITORY = Path(__file__).parents[2]
ANSWERS = [
    "origin", "crawler", "verdict", "reason", "rule_line", "directive", "pattern", "group",
    "snapshot",
]  # fmt: skip
EPOCH = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)

# In the background of a script SIGINT is ignored, and programs inherit that, but not a handler.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Snapshot(NamedTuple):
    """A row of a table of robots.txt files."""

    origin: str
    hour: int
    outcome: str
    max_age: int | None
    body: bytes | None

    @property
    def time(self) -> datetime.datetime:
        """When it was fetched."""
        return EPOCH + datetime.timedelta(hours=self.hour)


def command(
    *arguments: object, exit_code: int = 0, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run the command line of the wheel."""
    run = subprocess.run(
        [sys.executable, "-m", "pybotaudit", *map(str, arguments)],
        check=False,
        capture_output=True,
        **options,
    )
    assert run.returncode == exit_code, run.stderr.decode()
    return run


def interrupted(script: str, pause: float = 0.5) -> int:
    """The exit code of a script that gets Ctrl-C some time after it printed "ready"."""
    run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert run.stdout is not None and run.stdout.readline() == b"ready\n"
    time.sleep(pause)
    run.send_signal(signal.SIGINT)
    return run.wait(60)


def ticks_during(call: Callable[[], object]) -> int:
    """How often another thread of Python runs during a call."""
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.perf_counter()
    call()
    ended = time.perf_counter()
    done.set()
    thread.join()
    return sum(begun < at < ended for at in ticks)


def robots_table(snapshots: Iterable[Snapshot]) -> pa.Table:
    """The snapshots as a table."""
    rows = list(snapshots)
    return pa.table(
        {
            "origin": pa.array([row.origin for row in rows], pa.string()),
            "fetched_at": pa.array([row.time for row in rows], pa.timestamp("us", "UTC")),
            "outcome": pa.array([row.outcome for row in rows], pa.string()),
            "max_age": pa.array([row.max_age for row in rows], pa.int64()),
            "body": pa.array([row.body for row in rows], pa.binary()),
        }
    )


def write_archive(directory: Path, snapshots: Iterable[Snapshot]) -> Path:
    """The snapshots as an archive, which the command imports from a manifest."""
    lines = ["origin,fetched_at,status,path,max_age"]
    for number, row in enumerate(snapshots):
        name = ""
        if row.body is not None:
            name = f"{number}.txt"
            (directory / name).write_bytes(row.body)
        fetched = row.time.strftime("%Y-%m-%dT%H:%M:%SZ")
        age = "" if row.max_age is None else row.max_age
        lines.append(f"{row.origin},{fetched},{row.outcome},{name},{age}")
    (directory / "manifest.csv").write_text("\n".join(lines) + "\n")
    archive = directory / "robots.db"
    command("robots", "import", "-q", "-a", archive, directory / "manifest.csv")
    return archive


def by_command(directory: Path, rows: list[dict[str, str]], *arguments: object) -> list[Any]:
    """The answers of the command to rows with a member `url`, as tuples in the order of ANSWERS."""
    path = directory / "urls.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = directory / "verdicts.jsonl"
    command("classify", "-q", "--field", "url", *arguments, path, "-o", out, "--force")
    found = [json.loads(line) for line in out.read_text().splitlines()]
    return [tuple(row[name] for name in ANSWERS) for row in found]


def answers(table: pa.Table) -> list[Any]:
    """The answers in a table, as tuples."""
    return list(zip(*(table[name].to_pylist() for name in ANSWERS), strict=True))


PATHS = ["/", "/a", "/a/b.html", "/%7Eb", "/private/x?y=1", "/é", "/index.html", "/robots.txt", ""]
RULES = [
    b"Disallow: /a", b"Allow: /a/b", b"Disallow: /*.html$", b"Disallow: /%7eb", b"Allow: /",
    b"Disallow: /caf\xe9", b"Disallow: /\xc3\xa9", b"Disallow: /private", b"Disallow:",
    b"Disallow: /p*\x1b", b"Disallow: /", b"Crawl-delay: 3",
]  # fmt: skip


def random_body(rng: random.Random) -> bytes:
    """A robots.txt with a few groups."""
    groups = []
    for agent in rng.sample([b"*", b"GPTBot", b"mybot", b"Googlebot"], rng.randint(0, 3)):
        groups.append(b"User-agent: " + agent)
        groups.extend(rng.choice(RULES) for _ in range(rng.randint(0, 4)))
    return b"\n".join(groups)


def random_history(rng: random.Random, origin: str, most: int) -> Iterator[Snapshot]:
    """Up to so many snapshots of an origin."""
    for hour in sorted(rng.sample(range(24 * 60), rng.randint(1, most))):
        outcome = rng.choice(["200", "200", "200", "404", "503", "timeout", "unfollowed"])
        body = random_body(rng) if outcome == "200" else None
        yield Snapshot(origin, hour, outcome, rng.choice([None, 60, 7200]), body)


def random_snapshots(rng: random.Random, origins: int, most: int = 5) -> list[Snapshot]:
    """Histories of origins, one of them with a body of which not all bytes count."""
    rows = [
        row
        for number in range(origins)
        for row in random_history(rng, f"https://h{number}.example", most)
    ]
    rules = b"User-agent: *\n#" + b"x" * 511_970 + b"\nDisallow: /a\nDisallow: /private\n"
    rows.append(Snapshot("https://long.example", 5, "200", None, rules))
    rows.append(Snapshot("https://xn--mller-kva.example:8443", 5, "200", None, random_body(rng)))
    rng.shuffle(rows)
    return rows


def random_urls(rng: random.Random, origins: int, count: int) -> list[str]:
    """URLs of these origins and others, and some that are not valid."""
    hosts = [f"https://h{number}.example" for number in range(origins)]
    hosts += ["HTTPS://H0.Example:443", "https://long.example", "https://müller.example:8443"]
    hosts += ["https://unknown.example", "http://h0.example", "", "https://", "https://a b"]
    return [rng.choice(hosts) + rng.choice(PATHS) for _ in range(count)]


@pytest.fixture
def rng() -> random.Random:
    """Random numbers, the same in each run."""
    return random.Random(7)


@pytest.fixture(autouse=True, scope="session")
def _environment() -> None:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Most of the time of these tests would be spent on compiling what runs a few times.
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
