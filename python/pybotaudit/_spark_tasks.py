"""Functions of `pybotaudit._tasks` for the workers of Spark."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

import pybotaudit

_PARALLELISM_OF_CONNECT = 32

_WARNINGS_MAX = 100
"""The most different warnings of the tasks of one call that are given."""


def partition_count(spark: SparkSession, asked: int | None) -> int:
    """The partitions of a result; None stands for the setting of the session."""
    if asked is None:
        return int(spark.conf.get("spark.sql.shuffle.partitions") or 200)
    if asked < 1:
        raise ValueError(f"partitions is {asked}; give 1 or more, or None")
    return asked


def is_connect(spark: SparkSession) -> bool:
    """Whether it is a session of Spark Connect, which has no `sparkContext`."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at once, as far as the session says."""
    return _PARALLELISM_OF_CONNECT if is_connect(spark) else spark.sparkContext.defaultParallelism


def task(name: str, **options: Any) -> Callable[[Any], Any]:
    """A function of `pybotaudit._tasks` for `mapInArrow`.

    Spark sends local functions as code, so a worker without this package gives an error that says
    what to do.
    """
    found = _tasks_of_worker()

    def run(batches: Any) -> Any:
        yield from getattr(found(), name)(batches, **options)

    return run


def column_task(name: str) -> Callable[[pa.Array], pa.Array]:
    """A function of `pybotaudit._tasks` for `arrow_udf`: an array for an array."""
    found = _tasks_of_worker()

    # Spark reads the types.
    def run(array: pa.Array) -> pa.Array:
        return getattr(found(), name)(array)

    return run


def _tasks_of_worker() -> Callable[[], Any]:
    """A function that imports `pybotaudit._tasks` on a worker, or says why it cannot."""
    version = pybotaudit.__version__

    def tasks() -> Any:
        import platform
        import sys

        where = f"on worker {platform.node()}, by {sys.executable}"
        try:
            import pybotaudit as found
            from pybotaudit import _tasks
        except ImportError as error:
            raise RuntimeError(
                f"pybotaudit cannot be imported {where}: {error}; install the wheel in the Python "
                "of the workers, or set PYSPARK_PYTHON to one that has it"
            ) from error
        if found.__version__ != version:
            raise RuntimeError(
                f"pybotaudit {found.__version__} is installed {where}, but the driver has "
                f"{version}; install the same wheel on both"
            )
        return _tasks

    return tasks


def warn_from_tasks(spark: SparkSession) -> Callable[[list[str]], object]:
    """A function for tasks: each text that one of them gives becomes a warning of the driver, once.

    It is code that Spark sends, as in `task`.
    """
    from pyspark.accumulators import AccumulatorParam

    driver, most = os.getpid(), _WARNINGS_MAX

    class Texts(AccumulatorParam):  # type: ignore[misc]
        """The different texts; on the driver, each new one is a warning."""

        def zero(self, value: frozenset[str]) -> frozenset[str]:
            return frozenset()

        def addInPlace(self, value1: frozenset[str], value2: frozenset[str]) -> frozenset[str]:
            import os
            import sys
            import warnings

            for text in sorted(value2 - value1)[: max(0, most - len(value1))]:
                if os.getpid() != driver:
                    continue
                try:
                    warnings.warn(text, stacklevel=1)
                except Warning:
                    # An exception would end the thread of Spark that calls this.
                    print(f"warning: {text}", file=sys.stderr)
            return value1 | value2

    if is_connect(spark):
        # There are no accumulators; the warnings are in the logs of the workers.
        def warn(found: list[str]) -> None:
            import sys

            for text in found:
                print(f"warning: {text}", file=sys.stderr)

        return warn
    texts = spark.sparkContext.accumulator(frozenset(), Texts())
    return lambda found: texts.add(frozenset(found))


def group_task(name: str) -> Callable[[Any], Any]:
    """A function of `pybotaudit._tasks` for `applyInArrow`: a table for a table."""
    found = _tasks_of_worker()

    def run(table: Any) -> Any:
        return getattr(found(), name)(table)

    return run
