"""Files of the driver and the workers of Spark."""

from __future__ import annotations

import atexit
import os
import shutil
import tarfile
import tempfile
import urllib.parse
import urllib.request
import uuid
import warnings
from collections.abc import Iterable

from pyspark.sql import SparkSession

from pybotaudit import _task_files
from pybotaudit._spark_tasks import is_connect

_sent: dict[tuple[object, ...], str] = {}
"""The names of files on the workers of a session."""


def distribute(spark: SparkSession, path: str | os.PathLike[str]) -> str:
    """Copies a file or directory to each worker, and returns its name there.

    The name is a new one, unless it is a file that was sent before: Spark keeps the first file of
    each name.
    """
    path = os.path.abspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist; name a file or directory of the driver")
    session = spark.session_id if is_connect(spark) else spark.sparkContext.applicationId
    facts = os.stat(path)
    key = (session, path, facts.st_ino, facts.st_size, facts.st_mtime_ns)
    if key in _sent:
        return _sent[key]
    own = tempfile.mkdtemp(prefix="botaudit-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    if os.path.isdir(path):
        # Spark copies directories in local mode only.
        found = os.path.join(own, f"{uuid.uuid4().hex}{_task_files.PACKED}")
        with tarfile.open(found, "w", dereference=True) as tar:
            tar.add(path, ".")
    else:
        found = os.path.join(own, f"{uuid.uuid4().hex}-{os.path.basename(path)}")
        # Spark would send a symbolic link under the name of its file.
        try:
            os.link(os.path.realpath(path), found)
        except OSError:
            shutil.copyfile(path, found)
        _sent[key] = os.path.basename(found)
    if is_connect(spark):
        spark.addArtifacts(found, file=True)
    else:
        spark.sparkContext.addFile(found)
    return os.path.basename(found)


def locations(
    paths: Iterable[str | os.PathLike[str]],
) -> tuple[list[tuple[str, str]], list[str]]:
    """The name of each file, where workers find it, and sentences about files with several names.

    Such a file comes once, under the name by which the command knows it: the first one.
    """
    if isinstance(paths, (str, os.PathLike)):
        raise TypeError(f"paths is one path; write [{os.fspath(paths)!r}]")
    names = [os.fspath(path) for path in paths]
    if not names:
        raise ValueError("paths is empty; name at least one file")
    for name in names:
        _refuse_several(name)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"paths has '{twice}' twice; name each file once")
    first: dict[object, str] = {}
    for name in sorted(names, key=order):
        first.setdefault(_identity(name), name)
    kept = set(first.values())
    repeated = [
        f"{name} is the same file as {first[_identity(name)]}, so it was read once"
        for name in names
        if name not in kept
    ]
    found = [(name, name if "://" in name else os.path.abspath(name)) for name in names]
    return [file for file in found if file[0] in kept], repeated


def _refuse_several(name: str) -> None:
    """Refuse names of several files."""
    path = _local(name)
    if path is None:
        if "*" in name:
            raise ValueError(
                f"paths has the pattern '{name}'; name each file: pyarrow.fs.FileSystem.from_uri "
                "gives a file system whose get_file_info lists them"
            )
    elif os.path.isdir(path):
        raise ValueError(
            f"paths has the directory '{name}'; name its files: sorted(Path({path!r}).iterdir())"
        )
    elif any(mark in path for mark in "*?[") and not os.path.exists(path):
        raise ValueError(
            f"paths has the pattern '{name}'; name its files: sorted(glob.glob({path!r}))"
        )


def _local(name: str) -> str | None:
    """The path that a name stands for; None for a URI of another storage."""
    if name.startswith("file://"):
        return urllib.request.url2pathname(urllib.parse.urlsplit(name).path)
    return None if "://" in name else name


def _identity(name: str) -> object:
    """Equal for names of the same file, as far as the driver can see it."""
    path = _local(name)
    if path is None:
        return name
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    # Some file systems do not number files.
    return (found.st_dev, found.st_ino) if found.st_ino else os.path.realpath(path)


def order(name: str) -> list[tuple[int, str]]:
    """The order of paths by their components, which is that of the command."""
    ranks = {"": 0, ".": 1, "..": 2}
    parts = name.split("/")
    return [
        (ranks.get(part, 3), part)
        for at, part in enumerate(parts)
        if at == 0 or part not in ("", ".")
    ]


def warn(messages: Iterable[str]) -> None:
    """Each message as a warning of Python, at the line that called a function of this module."""
    for message in messages:
        warnings.warn(message, stacklevel=3)
