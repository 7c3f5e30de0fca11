"""The notebook for researchers runs, and is stored without outputs."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY

pandas = pytest.importorskip("pandas")

NOTEBOOK = REPOSITORY / "python/examples/research.ipynb"
CELLS: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text())["cells"]
CODE = [cell for cell in CELLS if cell["cell_type"] == "code"]
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names after all cells; `shown` has the last values of cells, by cell."""
    directory = tmp_path_factory.mktemp("notebook")
    (directory / "sample-data").symlink_to(REPOSITORY / "sample-data")
    names: dict[str, Any] = {}
    shown: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        patch.setenv("MPLBACKEND", "Agg")
        patch.setenv("TMPDIR", str(directory))
        patch.setattr("tempfile.tempdir", None)
        for cell in CODE:
            if "plt" not in "".join(cell["source"]) or HAS_MATPLOTLIB:
                shown[cell["id"]] = _run(cell, names)
    return {**names, "shown": shown}


def _run(cell: dict[str, Any], names: dict[str, Any]) -> Any:
    """The value of the last expression, which a notebook shows."""
    code = ast.parse("".join(cell["source"]), cell["id"])
    last = code.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(code, cell["id"], "exec"), names)
        return None
    exec(compile(ast.Module(code.body[:-1], []), cell["id"], "exec"), names)
    return eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)


def test_the_file_can_be_reviewed() -> None:
    text = NOTEBOOK.read_text()
    notebook = json.loads(text)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    # As Jupyter stores it, so that a change of a cell is the only difference.
    assert text == json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    for cell in CELLS:
        assert cell["metadata"] == {}, cell["id"]
        assert "".join(cell["source"]).strip(), cell["id"]
    for cell in CODE:
        assert cell["outputs"] == [] and cell["execution_count"] is None, (
            f"{cell['id']} has outputs: remove them before you commit the notebook"
        )
        assert len(cell["source"]) <= 20, cell["id"]
    names = [cell["id"] for cell in CELLS]
    assert len(set(names)) == len(names)


def test_links_lead_somewhere() -> None:
    prose = "".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown")
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]*))?\)", prose)
    assert len(links) >= 4
    for path, anchor in links:
        page = (NOTEBOOK.parent / path).read_text()
        titles = re.findall(r"(?m)^#+ (.*)$", page)
        anchors = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
        assert not anchor or anchor in anchors, (path, anchor)


def test_few_sites_give_no_interval(run: dict[str, Any]) -> None:
    sample = run["sample_intervals"]
    assert len(sample) > 10 and sample["sites"].max() < 5
    assert sample["share_low"].isna().all()
    assert len(run["shown"]["sample"]) == 8 and len(run["shown"]["few-sites"]) == 3


def test_intervals_over_sites_are_wider(run: dict[str, Any]) -> None:
    both = run["both"]
    assert list(both.index) == ["Bytespider", "CCBot", "GPTBot"]
    assert (run["over_sites"]["sites"] == 24).all()
    # CCBot breaks rules at some sites, as the text of the plot assumes.
    assert ((both["share_low"] < both["share"]) & (both["share"] < both["share_high"])).all()
    over_sites = both["share_high"] - both["share_low"]
    over_requests = both["share_high_of_requests"] - both["share_low_of_requests"]
    assert (over_sites > over_requests).all()


def test_restrictions_have_a_row_for_each_month(run: dict[str, Any]) -> None:
    closed = run["closed"]
    assert sorted(set(closed["month"])) == [f"2025-{month:02}" for month in range(1, 13)]
    assert len(closed) == 24 and (closed["sites"] == 24).all()
    history = run["robots"]
    expected = (
        history["body"].map(lambda body: b"GPTBot" in body).groupby(history["fetched_at"]).sum()
    )
    of_gptbot = closed[closed["name"] == "GPTBot"]
    assert of_gptbot["kept"].tolist() == expected.tolist()
    assert expected.is_monotonic_increasing and expected.iloc[-1] > 10
    # What the last cell says.
    assert (closed[closed["name"] == "CCBot"]["share_high"] == 0).all()


@pytest.mark.skipif(not HAS_MATPLOTLIB, reason="matplotlib is not installed")
def test_plots_show_the_tables(run: dict[str, Any]) -> None:
    (shares,) = run["shares"].axes
    assert [label.get_text() for label in shares.get_yticklabels()] == list(run["both"].index)
    points = shares.containers[0].lines[0].get_xdata()
    assert list(points) == run["both"]["share"].tolist()
    (months,) = run["months"].axes
    assert [line.get_label() for line in months.lines] == ["CCBot", "GPTBot"]
    of_gptbot = run["closed"][run["closed"]["name"] == "GPTBot"]
    assert list(months.lines[1].get_ydata()) == of_gptbot["share"].tolist()


def test_the_directory_has_nothing_else(run: dict[str, Any]) -> None:
    directory = Path(run["work"]).parent
    assert sorted(path.name for path in directory.iterdir()) == sorted(
        ["sample-data", Path(run["work"]).name]
    )
