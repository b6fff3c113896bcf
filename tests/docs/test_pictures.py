"""The script of the pictures runs, and makes those that are checked in."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pictures
import pytest

FOLDER = Path(pictures.__file__).parents[1] / "pictures"


@pytest.mark.slow
def test_all_pictures_are_made(tmp_path):
    pictures.main([str(tmp_path)])
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {path.name for path in FOLDER.iterdir()}
    for path in tmp_path.iterdir():
        root = ElementTree.parse(path).getroot()
        assert root.tag.endswith("svg")
        text = " ".join("".join(root.itertext()).split())
        assert "http://" not in text
    solved = (tmp_path / "command-solve.svg").read_text("utf-8").replace("&#160;", " ")
    assert "Proven optimal by" in solved


@pytest.mark.slow
def test_what_does_not_vary_is_what_is_checked_in(tmp_path):
    """No seconds in them: a change of the drawings shows here, and `pictures.py` mends it."""
    pictures.main([str(tmp_path)])
    for name in ("placement-r-storm.svg", "placement-round-robin.svg"):
        assert (tmp_path / name).read_text("utf-8") == (FOLDER / name).read_text("utf-8"), name


def test_pictures_are_small_and_load_nothing_from_elsewhere():
    for path in FOLDER.iterdir():
        text = path.read_text("utf-8")
        assert len(text) < 100_000, path
        assert "@import" not in text, path
        assert "url(http" not in text.replace('"', "").replace("'", ""), path
