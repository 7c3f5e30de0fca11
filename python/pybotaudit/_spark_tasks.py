"""Functions of this package for the workers of Spark, named with their module: `_tasks.origins`."""

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
    """A function of this package for `mapInArrow`.

    Spark sends local functions as code, so a worker without this package gives an error that says
    what to do.
    """
    found = _of_worker(name)

    def run(batches: Any) -> Any:
        yield from found()(batches, **options)

    return run


def column_task(name: str) -> Callable[[pa.Array], pa.Array]:
    """A function of this package for `arrow_udf`: an array for an array."""
    found = _of_worker(name)

    # Spark reads the types.
    def run(array: pa.Array) -> pa.Array:
        return found()(array)

    return run


def _of_worker(name: str) -> Callable[[], Any]:
    """A function that imports a function of this package on a worker, or says why it cannot."""
    version = pybotaudit.__version__
    module, function = name.split(".")

    def imported() -> Any:
        import importlib
        import platform
        import sys

        where = f"on worker {platform.node()}, by {sys.executable}"
        try:
            import pybotaudit as found

            tasks = importlib.import_module(f"pybotaudit.{module}")
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
        return getattr(tasks, function)

    return imported


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
    """A function of this package for `applyInArrow`: a table for a table."""
    found = _of_worker(name)

    def run(table: Any) -> Any:
        return found()(table)

    return run
