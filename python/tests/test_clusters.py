"""On clusters of Spark, a lost executor changes no result, and an archive brings the wheel."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pybotaudit
import pytest
from conftest import by_command, command, random_snapshots, random_urls, write_archive

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)
import pyspark
from pybotaudit import _spark_audit
from pybotaudit import spark as bs
from pyspark.sql import SparkSession
from test_spark import (
    collected,
    robots_frame,
    same_report,
    session,
    sorted_rows,
    url_frame,
    workplace,
    write_logs,
)

__all__ = ["workplace"]

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="executors are found in /proc")


@pytest.fixture(scope="module")
def cluster() -> Iterator[SparkSession]:
    """Two executors, which Spark replaces when they are lost."""
    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    found = session("local-cluster[2,1,1024]")
    found.sparkContext.setLogLevel("OFF")
    yield found
    found.stop()


def kills_once(marker: Path) -> Callable[[], bool]:
    """A function for tasks: the first call kills the executor of its task."""
    path = str(marker)

    def kill() -> bool:
        import os
        import signal

        def parent(process: int) -> int:
            with open(f"/proc/{process}/stat") as file:
                return int(file.read().rsplit(")", 1)[1].split()[1])

        executor = parent(os.getpid())
        while executor > 1:
            with open(f"/proc/{executor}/cmdline", "rb") as file:
                if b"CoarseGrainedExecutorBackend" in file.read():
                    break
            executor = parent(executor)
        else:
            return False
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        os.kill(executor, signal.SIGKILL)
        return True

    return kill


def killing(run: Callable[[Any], Any], marker: Path) -> Callable[[Any], Any]:
    """A function for `mapInArrow` whose executor is killed after its first result."""
    kill = kills_once(marker)

    def then_kill(batches: Any) -> Any:
        for batch in run(batches):
            kill()
            yield batch

    return then_kill


@needs_proc
def test_an_executor_that_is_lost_changes_no_verdict(cluster: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(5)
    snapshots = random_snapshots(rng, 30, 9)
    archive = write_archive(tmp_path, snapshots)
    rows = [{"url": url, "at": "0"} for url in random_urls(rng, 30, 1500)]
    expected = by_command(
        tmp_path, rows, "--robots", archive, "--crawler", "GPTBot", "--token", "mybot"
    )
    urls = [row["url"] for row in rows for _ in range(2)]
    # One is lost while it computes origins, and one after the shuffle, with what it wrote for it.
    given = url_frame(cluster, rows).select("url", "at").repartition(6)
    given = given.mapInArrow(killing(iter, tmp_path / "before"), given.schema)
    frame = bs.classify(
        given, robots_frame(cluster, snapshots), crawlers=["GPTBot"], tokens=["mybot"],
        hot_rows=100, partitions=8,
    )  # fmt: skip
    frame = frame.mapInArrow(killing(iter, tmp_path / "after"), frame.schema)
    found = collected(frame)
    assert (tmp_path / "before").exists() and (tmp_path / "after").exists()
    assert found == sorted_rows(urls, [0] * len(urls), expected)


@needs_proc
@pytest.mark.parametrize("lost_in", ["_audit_tasks.audits", "_audit_tasks.merge"])
def test_an_executor_that_is_lost_changes_no_report(
    cluster: SparkSession, workplace: Path, monkeypatch: pytest.MonkeyPatch, lost_in: str
) -> None:
    marker = workplace / "killed"
    make_task, make_group_task = _spark_audit.task, _spark_audit.group_task

    def task(name: str, **options: Any) -> Callable[[Any], Any]:
        run = make_task(name, **options)
        return killing(run, marker) if name == lost_in else run

    def group_task(name: str) -> Callable[[Any], Any]:
        run, kill = make_group_task(name), kills_once(marker)

        def merge(table: pa.Table) -> pa.Table:
            merged = run(table)
            kill()
            return merged

        return merge if name == lost_in else run

    monkeypatch.setattr(_spark_audit, "task", task)
    monkeypatch.setattr(_spark_audit, "group_task", group_task)
    monkeypatch.setattr(_spark_audit, "_GROUP_LOGS_MAX", 1)
    monkeypatch.setattr(_spark_audit, "_FAN_IN", 3)
    names = write_logs(workplace, random.Random(4), 7)
    flags = ["--min-parse-rate", "0"]
    command("audit", "-q", *flags, "--robots", "data/robots", "-o", "whole", "logs")
    assert bs.audit(cluster, names, robots="data/robots", output="report", args=flags) == {}
    assert marker.exists()
    same_report(workplace / "whole", workplace / "report")


def packed(directory: Path) -> Path:
    """An archive of a virtual environment with pybotaudit, for workers on this machine."""
    venv.create(directory / "made", symlinks=True, with_pip=False)
    (packages,) = (directory / "made").glob("lib/python3*/site-packages")
    shutil.copytree(Path(pybotaudit.__file__).parent, packages / "pybotaudit")
    # The rest is where it is here; another machine would need it in the archive, too.
    (packages / "others.pth").write_text(f"{Path(pa.__file__).parents[1]}\n")
    # Spark unpacks it with tar; it refuses the link to the Python in other archives.
    archive = directory / "environment.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(directory / "made", ".")
    return archive


JOB = """
import sys
sys.path.insert(0, PACKAGES)
from pyspark.sql import SparkSession
from pybotaudit import spark as bs

spark = SparkSession.builder.getOrCreate()

def where(batches):
    import sys

    import pyarrow as pa
    import pybotaudit
    for _ in batches:
        yield pa.record_batch({"python": [sys.executable], "file": [pybotaudit.__file__]})

for row in spark.range(4).mapInArrow(where, "python string, file string").distinct().collect():
    print("worker", row["python"], row["file"])
robots = spark.sql("SELECT 'https://a.example' origin, timestamp'2026-01-01' fetched_at, "
    "'200' outcome, cast('User-agent: *\\nDisallow: /1' AS binary) body")
urls = spark.range(1000).selectExpr("concat('https://a.example/', id) url")
answers = bs.classify(urls, robots, tokens=["a"], partitions=2, hot_rows=None)
print("disallowed", answers.where("verdict = 'disallowed'").count())
print("problems", bs.audit(spark, sys.argv[1:], robots="data/robots", output="report"))
"""


def test_spark_submit_sends_an_archive(workplace: Path) -> None:
    # Workers leave what they unpack in the home of Spark.
    installed, home = Path(pyspark.__file__).parent, workplace / "spark"
    home.mkdir()
    for path in installed.iterdir():
        if path.name != "work":
            (home / path.name).symlink_to(path)
    archive = packed(workplace)
    packages = str(Path(pybotaudit.__file__).parents[1])
    (workplace / "job.py").write_text(JOB.replace("PACKAGES", repr(packages)))
    names = write_logs(workplace, random.Random(6), 3)
    command("audit", "-q", "--robots", "data/robots", "-o", "whole", "logs")
    python = "./environment/bin/python"
    environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": python}
    environment |= {"PYSPARK_DRIVER_PYTHON": sys.executable}
    environment.pop("PYTHONPATH", None)
    run = subprocess.run(
        [home / "bin/spark-submit", "--master", "local-cluster[1,1,1024]", "--archives",
         f"{archive}#environment", "job.py", *names],
        check=False, capture_output=True, env=environment, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-5000:]
    workers = [line for line in run.stdout.splitlines() if line.startswith("worker ")]
    assert workers and "disallowed 111\n" in run.stdout and "problems {}\n" in run.stdout
    for line in workers:
        assert all("/environment/" in path for path in line.split()[1:]), line
    same_report(workplace / "whole", workplace / "report")
