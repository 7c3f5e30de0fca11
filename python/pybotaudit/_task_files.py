"""What tasks of Spark get: numbers, files that Spark distributed, and files in storages."""

from __future__ import annotations

import contextlib
import os
import tarfile
import tempfile
from collections.abc import Iterator
from typing import IO

import pyarrow as pa
import pyarrow.fs

Batches = Iterator[pa.RecordBatch]

PACKED = ".botaudit-directory"
"""How the names of packed directories end; Spark would unpack others itself, for each job."""

ATTEMPTS = 3
"""How often a file is read before it counts as unreadable."""


def numbers(batches: Batches) -> Iterator[int]:
    """The numbers that a task handles."""
    for batch in batches:
        yield from batch.column("id").to_pylist()


def distributed(file: str) -> str:
    """The path of a file that Spark distributed; a directory is packed, and unpacked once."""
    from pyspark import SparkFiles

    path = str(SparkFiles.get(file))
    unpacked = path.removesuffix(PACKED)
    if unpacked != path and not os.path.exists(unpacked):
        directory = tempfile.mkdtemp(dir=os.path.dirname(path))
        with tarfile.open(path) as tar:
            # Python 3.10 and 3.11 have filters only in their later releases.
            if hasattr(tarfile, "data_filter"):
                tar.extractall(directory, filter="data")
            else:
                tar.extractall(directory)
        # Another task may have been faster.
        with contextlib.suppress(OSError):
            os.rename(directory, unpacked)
    return unpacked


@contextlib.contextmanager
def opened(location: str) -> Iterator[IO[bytes] | pa.NativeFile]:
    """The bytes of a file, or of an object in a storage that pyarrow knows."""
    if "://" not in location:
        with open(location, "rb") as file:
            yield file
    else:
        system, path = pyarrow.fs.FileSystem.from_uri(location)
        with system.open_input_stream(path, compression=None) as stream:
            yield stream
