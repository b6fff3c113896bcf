"""The script of the pictures runs, and makes those that are checked in."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pictures
import pytest

FOLDER = Path(pictures.__file__).parents[1] / "pictures"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder that the script has filled."""
    folder = tmp_path_factory.mktemp("pictures")
    pictures.main([str(folder)])
    return folder


@pytest.mark.slow
def test_all_pictures_are_made(made):
    assert {path.name for path in made.iterdir()} == {path.name for path in FOLDER.iterdir()}
    for path in made.iterdir():
        root = ElementTree.parse(path).getroot()
        assert root.tag.endswith("svg")
        text = " ".join("".join(root.itertext()).split())
        assert "http://" not in text
    solved = (made / "command-solve.svg").read_text("utf-8").replace("&#160;", " ")
    assert "Proven optimal by" in solved


@pytest.mark.slow
def test_what_does_not_vary_is_what_is_checked_in(made):
    """No seconds in them: a change of the drawings shows here, and `pictures.py` mends it."""
    for name in ("placement-r-storm.svg", "placement-round-robin.svg"):
        assert (made / name).read_text("utf-8") == (FOLDER / name).read_text("utf-8"), name


def test_pictures_are_small_and_load_nothing_from_elsewhere():
    for path in FOLDER.iterdir():
        text = path.read_text("utf-8")
        assert len(text) < 100_000, path
        assert "@import" not in text, path
        assert "url(http" not in text.replace('"', "").replace("'", ""), path
