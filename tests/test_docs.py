"""The commands and the Python of README.md and docs/ work as they stand.

A ```console block is run line by line from a copy of the examples; output lines below a command
must occur in what it prints. Blocks tagged `no-run` are counted, so that the tag cannot spread.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
NOT_RUN = {
    "README.md": 1,  # make demo and make test: minutes
    "commands.md": 1,  # a whole grading
    "engines.md": 2,  # benchmarks of minutes
    "grading.md": 3,  # a whole grading; files of Storm; a Spark cluster
    "r-storm.md": 1,  # a benchmark: nine exact proofs
    "scheduling.md": 1,  # files of Storm; minutes
    "methods.md": 3,  # a whole grading; an installation; `make storm-peer` needs Maven
}
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENTRY_POINT = ROOT / "docs" / "examples" / "entry-point"


class Step(NamedTuple):
    """A command and the lines that it must print."""

    command: str
    expected: list[str]


def blocks(page: Path, tag: str) -> list[str]:
    return [text for found, text in FENCE.findall(page.read_text("utf-8")) if found == tag]


def steps(block: str) -> list[Step]:
    found: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:], []))
        else:
            found[-1].expected.append(line)
    return found


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """An empty folder with the examples where the pages have them."""
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    return tmp_path


def run(command: list[str], folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{done.stdout}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks(page, copy):
    for block in blocks(page, "console"):
        for command, expected in steps(block):
            printed = " ".join(run(["bash", "-c", command], copy).split())
            for line in expected:
                assert " ".join(line.split()) in printed, command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks(page, copy):
    for block in blocks(page, "python"):
        run([sys.executable, "-c", block], copy)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tags(page):
    tags = [tag for tag, _ in FENCE.findall(page.read_text("utf-8"))]
    assert set(tags) <= {"console", "console no-run", "python", "json"}
    assert tags.count("console no-run") == NOT_RUN.get(page.name, 0)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_the_entry_point_example_is_found_when_installed(copy):
    """The package's modules and metadata on the path, as pip would put them."""
    packages = copy / "packages"
    metadata = packages / "slotwise_random-1.0.dist-info"
    metadata.mkdir(parents=True)
    shutil.copy(ENTRY_POINT / "slotwise_random.py", packages)
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: slotwise-random\nVersion: 1.0\n"
    )
    declared = (ENTRY_POINT / "pyproject.toml").read_text()
    group, line = re.search(r'entry-points\."(.+?)"\]\n(.+)', declared).groups()
    name, target = line.replace('"', "").split(" = ")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
    listed = run(["env", f"PYTHONPATH={packages}", "slotwise", "methods", "--json"], copy)
    assert '"random"' in listed
    answer = run(
        [
            "bash",
            "-c",
            f"PYTHONPATH={packages} slotwise place docs/examples/word-count.json "
            "--with random --seed 3 --json || true",
        ],
        copy,
    )
    assert '"method": "random"' in answer
