"""The examples of docs/python.md print what the page says.

UPDATE_DOCS=1 writes what they print to the page.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
from pathlib import Path

import pytest
from conftest import REPOSITORY

PAGE = REPOSITORY / "docs/python.md"
BLOCK = re.compile(r"```python( spark)?\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.DOTALL)


def test_the_examples_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sample-data").symlink_to(REPOSITORY / "sample-data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(os.sys.executable).parent}:{os.environ['PATH']}")
    names: dict[str, object] = {}
    has_spark = shutil.which("java") is not None

    def run(block: re.Match[str]) -> str:
        is_spark, code, printed = block.groups()
        if is_spark and not has_spark:
            return block[0]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(PAGE), "exec"), names)
        text = "".join(f"{line.rstrip()}\n" for line in out.getvalue().rstrip().splitlines())
        found = f"```python{is_spark or ''}\n{code}```\n"
        return found + (f"```text\n{text}```\n" if text or printed is not None else "")

    page = PAGE.read_text()
    found = BLOCK.sub(run, page)
    names.clear()
    if "UPDATE_DOCS" in os.environ:
        PAGE.write_text(found)
    else:
        assert found == page
