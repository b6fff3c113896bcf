"""The notebooks of the pages run from the first cell to the last, and show what they say."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbclient import NotebookClient

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Source of each code cell -> its output as data by type."""
    folder = tmp_path_factory.mktemp("docs")
    for name in ("examples", "notebooks"):
        shutil.copytree(DOCS / name, folder / name)
    notebook = nbformat.read(folder / "notebooks" / "placements.ipynb", as_version=4)
    place = {"metadata": {"path": str(folder / "notebooks")}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    return {
        cell.source: cell.outputs[-1].get("data", {})
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.outputs
    }


def shown(outputs, last_line):
    (found,) = [data for source, data in outputs.items() if source.endswith(last_line)]
    return found


@pytest.mark.slow
def test_a_result_is_drawn(outputs):
    page = BeautifulSoup(shown(outputs, "\nresult")["text/html"], "html.parser")
    assert len(page.select("section.pv figure")) == 1
    assert "network 23 (proven)" in page.get_text()


@pytest.mark.slow
def test_placements_are_side_by_side(outputs):
    page = BeautifulSoup(shown(outputs, "\ndrawing")["text/html"], "html.parser")
    names = [figure["aria-label"] for figure in page.select("figure")]
    assert names == ["optimum", "r-storm", "round-robin"]
    assert "network 28" in page.select("figure")[1].get_text()


@pytest.mark.slow
def test_frames_are_tables(outputs):
    assert "350" in shown(outputs, 'broken.to_frame("violations")')["text/plain"]
    runs = shown(outputs, "runs[columns].sort_values(columns[:2])")["text/html"]
    assert len(BeautifulSoup(runs, "html.parser").select("tbody tr")) == 6
    assert shown(outputs, ".name")["text/plain"] == "'report.html'"


def test_the_notebook_is_kept_without_outputs():
    """They differ from run to run, and a run makes them."""
    for path in (DOCS / "notebooks").glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert [cell for cell in notebook.cells if cell.get("outputs")] == []
