"""The tutorials work from the first block to the last, each in a folder of its own.

A `pip install` goes into that folder, and this process sees it from there on, as do those that it
starts; only a grading after it is a process of its own, for Spark's workers run already.
"""

from __future__ import annotations

import os
import shutil
import sys

import pytest
from test_docs import FENCE, ROOT, printed_by, run, run_python, steps

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
INSTALL = "pip install "
GRADE = "slotwise grade "


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.in_turn
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial(page, tmp_path, cli, spark, monkeypatch):
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    monkeypatch.chdir(tmp_path)
    installed = False
    for tag, block in FENCE.findall(page.read_text("utf-8")):
        if tag == "python":
            run_python(block)
        for command, expected in steps(block) if tag == "console" else ():
            if command.startswith(INSTALL):
                installed = True
                install(command.removeprefix(INSTALL), tmp_path, monkeypatch)
                continue
            printed = (
                " ".join(run(["bash", "-c", command], tmp_path).split())
                if installed and command.startswith(GRADE)
                else printed_by(command, tmp_path, cli)
            )
            for line in expected:
                assert " ".join(line.split()) in printed, (command, printed)


def install(package, folder, monkeypatch):
    """Install into `folder`, without the network, and let this and other processes find it."""
    to = folder / "packages"
    quick = ("--quiet", "--no-deps", "--no-build-isolation", "--target", str(to))
    run([sys.executable, "-m", "pip", "install", *quick, package], folder)
    monkeypatch.syspath_prepend(to)
    paths = [str(to), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
