"""The examples of docs/python.md print what the page says.

Examples marked `python NAME` need a package of that name, or are left out.

UPDATE_DOCS=1 writes what they print to the page.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shutil
from pathlib import Path

import pytest
from conftest import REPOSITORY

PAGE = REPOSITORY / "docs/python.md"
BLOCK = re.compile(r"```python( \w+)?\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.DOTALL)
PACKAGES = ["spark", "dask", "ray", "datafusion"]


def is_missing(package: str) -> bool:
    """Whether examples with this package cannot run here."""
    if package == "spark":
        return shutil.which("java") is None or importlib.util.find_spec("pyspark") is None
    return importlib.util.find_spec(package) is None


def test_the_packages_of_examples_are_known() -> None:
    found = {block[1].strip() for block in BLOCK.finditer(PAGE.read_text()) if block[1]}
    assert found == set(PACKAGES)


@pytest.mark.parametrize("package", [None, *PACKAGES])
def test_the_examples_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str | None
) -> None:
    if package is not None and is_missing(package):
        pytest.skip(f"examples with {package} cannot run here")
    (tmp_path / "sample-data").symlink_to(REPOSITORY / "sample-data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(os.sys.executable).parent}:{os.environ['PATH']}")
    names: dict[str, object] = {}

    def run(block: re.Match[str]) -> str:
        needed, code, printed = block.groups()
        if needed is not None and needed.strip() != package:
            return block[0]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(PAGE), "exec"), names)
        text = "".join(f"{line.rstrip()}\n" for line in out.getvalue().rstrip().splitlines())
        found = f"```python{needed or ''}\n{code}```\n"
        return found + (f"```text\n{text}```\n" if text or printed is not None else "")

    page = PAGE.read_text()
    found = BLOCK.sub(run, page)
    names.clear()
    if "UPDATE_DOCS" in os.environ:
        PAGE.write_text(found)
    else:
        assert found == page
