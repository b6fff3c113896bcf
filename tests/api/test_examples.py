"""Public names have docstrings in NumPy's form, and their examples run."""

from __future__ import annotations

import doctest
import inspect
import re
from importlib import import_module

import pytest

import slotwise

# Known by their names: to look at all of them would import the whole package in every process.
FUNCTIONS = [name for name in slotwise.__all__ if name[0].islower()]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*slotwise._home().values(), "slotwise"}))
def test_examples_run(name, root, tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "examples").symlink_to(root / "docs" / "examples")
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(import_module(name)).failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_tells_arguments_errors_and_an_example(name):
    function = getattr(slotwise, name)
    text = inspect.getdoc(function)
    headings = re.findall(r"^(\w[\w ]*)\n-{3,}$", text, re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert "Examples" in headings
    taken = list(inspect.signature(function).parameters)
    if taken:
        section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-{3,}$|\Z)", text, re.M | re.S)
        told = re.findall(r"^(\w[\w, ]*)$", section[1], re.MULTILINE)
        assert sorted(taken) == sorted(one for line in told for one in line.split(", "))


def test_every_public_class_says_what_it_is():
    classes = [getattr(slotwise, name) for name in slotwise.__all__]
    assert [one for one in classes if inspect.isclass(one) and not one.__doc__] == []
    assert len(FUNCTIONS) >= 20
