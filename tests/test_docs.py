"""The commands and the Python of README.md and docs/ work as they stand.

A ```console block is run line by line from a copy of the examples, by this process where a line is
our command alone and by the shell else; output lines below a command must occur in what it prints.
Blocks tagged `no-run` are counted, so that the tag cannot spread.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import Cli

import slotwise
from slotwise.benchmarks.experiments.catalogue import EXPERIMENTS

ROOT = Path(__file__).parents[1]
PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    ROOT / "benchmarks" / "README.md",
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if page.relative_to(ROOT).parts[1] != "_build"
    ),
)
NOT_RUN = {
    "README.md": 1,  # make demo and make test: minutes
    "CONTRIBUTING.md": 1,  # make test: minutes
    "benchmarks/README.md": 2,  # benchmarks of minutes and more
    "assignments.md": 1,
    "guide/machine-died.md": 1,  # public instances; minutes
    "benchmarks.md": 1,  # proofs of minutes
    "commands.md": 2,  # a whole grading; a running Storm
    "engines.md": 5,  # benchmarks of minutes
    "development/what-was-tried.md": 1,  # a benchmark of minutes
    "guide/clusters.md": 7,  # clusters of Spark
    "guide/following.md": 1,  # a cluster of Kafka
    "families.md": 2,  # files of Storm; proofs of minutes
    "guide/summary.md": 1,  # a whole grading
    "guide/storm.md": 3,  # a running Storm
    "tutorials/engineer.md": 1,  # a running Storm
    "guide/rebalancing.md": 2,  # experiments of minutes
    "grading.md": 5,  # a whole grading; files of Storm; lines of its progress
    "r-storm.md": 1,  # a benchmark: nine exact proofs
    "scheduling.md": 2,  # files of Storm; minutes
    "testing/checks.md": 1,  # pytest with a command that is not there
    "partitioners.md": 1,  # a grading of two minutes
    "partitions.md": 1,  # experiments of minutes and hours
    "prediction.md": 6,  # an experiment of minutes
    "methods/stromax.md": 1,  # a grading of 212 instances: minutes
    "methods/index.md": 1,  # a grading of 69 instances: minutes
    "methods.md": 4,  # a whole grading; two installations; `make storm-peer` needs Maven
}
TUTORIALS = ROOT / "docs" / "tutorials"
ONE_BY_ONE = tuple(page for page in PAGES if page.parent != TUTORIALS)
"""Pages whose blocks stand alone; `tests/test_tutorials.py` runs the others from top to bottom."""
SHELL = re.compile(r"[|<>&;$*`]")
"""What only a shell understands, beyond `TELLS_CODE`."""
TELLS_CODE = ' || echo "exit code $?"'
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENTRY_POINT = ROOT / "docs" / "examples" / "entry-point"


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT)).removeprefix("docs/")


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


def run_python(block: str) -> None:
    """Run a block in this process, with names of its own."""
    exec(compile(block, "block", "exec"), {"__name__": "block"})


def printed_by(command: str, folder: Path, cli: Cli) -> str:
    """Return what a command prints, with single spaces."""
    ours = command.removesuffix(TELLS_CODE)
    if ours.startswith("slotwise ") and not SHELL.search(ours):
        answer = cli(*shlex.split(ours)[1:])
        printed = f"{answer.out}{answer.err}\nexit code {answer.code}"
        assert answer.code == 0 or ours != command, f"{command}: {printed}"
    else:
        printed = run(["bash", "-c", command], folder)
    return " ".join(printed.split())


FAST = ("README.md", "problem.md", "python.md", "start.md")
"""Pages whose code `make test` runs, too."""


def slow_unless_fast(page: Path) -> Any:
    """Return `page` as a parameter of a test."""
    return pytest.param(page, marks=() if name_of(page) in FAST else pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.parametrize("page", [slow_unless_fast(page) for page in ONE_BY_ONE], ids=name_of)
def test_console_blocks(page, copy, cli, monkeypatch):
    monkeypatch.chdir(copy)
    for block in blocks(page, "console"):
        for command, expected in steps(block):
            printed = printed_by(command, copy, cli)
            for line in expected:
                assert " ".join(line.split()) in printed, command


@pytest.mark.slow
@pytest.mark.parametrize("page", [slow_unless_fast(page) for page in ONE_BY_ONE], ids=name_of)
def test_python_blocks(page, copy, monkeypatch):
    monkeypatch.chdir(copy)
    for block in blocks(page, "python"):
        run_python(block)


def test_python_blocks_of_the_first_page_run_in_a_new_process(copy):
    (block,) = blocks(ROOT / "README.md", "python")
    run([sys.executable, "-c", block], copy)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_tags(page):
    tags = [tag for tag, _ in FENCE.findall(page.read_text("utf-8"))]
    assert set(tags) <= {"console", "console no-run", "python", "json", "bibtex", "{toctree}"}
    assert tags.count("console no-run") == NOT_RUN.get(name_of(page), 0)


LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#{1,4} (.+?)\s*$", re.MULTILINE)


def anchor(heading: str) -> str:
    """Return what GitHub, and MyST after it, makes of a heading."""
    words = re.sub(r"\[(.+?)\]\(.*?\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    """To a file that is there, and to one of its headings."""
    for path, fragment in LINK.findall(without_code(page.read_text("utf-8"))):
        target = page.parent / path if path else page
        assert target.exists(), path
        if fragment:
            text = FENCE.sub("", target.read_text("utf-8"))
            assert fragment in map(anchor, HEADING.findall(text)), (path, fragment)


def test_a_link_to_a_heading_that_is_gone_is_seen():
    assert anchor("1. Words") == "1-words"
    assert anchor("`ras-default`, and [more](x.md)") == "ras-default-and-more"
    assert LINK.findall("[a](b.md#c) [d](#e) [f](https://g.h) [i](j.md)") == [
        ("b.md", "c"),
        ("", "e"),
        ("j.md", ""),
    ]


TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_page_is_in_the_navigation():
    """By name, or by a pattern such as ``tutorials/*``, which may match nothing."""
    listed = {ROOT / "docs" / "index.md"}
    for page in PAGES:
        for entries in TOCTREE.findall(page.read_text("utf-8")):
            for entry in (line for line in entries.splitlines() if line[:1] not in ("", ":")):
                target = entry.rpartition("<")[2].removesuffix(">")
                found = set(page.parent.glob(f"{target}.md"))
                assert found or "*" in target or target.startswith("generated/"), (page, entry)
                listed |= {path.resolve() for path in found}
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} == listed


CODE = re.compile(r"`((?:models|solver|heuristics|benchmarks|slotwise|tests|docs)/[\w./-]*)`")
CITED = re.compile(r"docs/([\w/-]+\.md)(?:,\s+(\d+(?:\.\d+)?(?:\s(?:and|to)\s\d+\.\d+)?))?")
GONE = re.compile(r"design\s+section|RAS\.md")
SOURCES = (
    "models",
    "solver",
    "heuristics",
    "pipeline",
    "benchmarks",
    "slotwise/cli",
    "slotwise/testing",
)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_of_the_code_are_where_the_page_says(page):
    named = CODE.findall(page.read_text("utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_docstrings_cite_pages_and_sections_that_exist():
    cited = []
    for path in (path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))):
        text = path.read_text("utf-8")
        assert not GONE.search(text), path
        for page, numbers in CITED.findall(text):
            headings = re.findall(r"^##+ (\d[\d.]*?)\.? ", (ROOT / "docs" / page).read_text(), re.M)
            for number in re.findall(r"\d+(?:\.\d+)?", numbers):
                assert number in headings, (path, page, number)
                cited.append(number)
    assert len(cited) >= 5


def test_the_citation_has_the_version():
    version = slotwise.__version__
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"version = {{{version}}}" in (ROOT / "docs" / "citing.md").read_text("utf-8")


def test_the_readme_of_the_benchmarks_lists_them_all():
    text = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    folder = ROOT / "benchmarks"
    parts = [f"{path.parent.name}/" for path in folder.glob("*/__init__.py")]
    parts += [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert [part for part in (*parts, *EXPERIMENTS) if f"`{part}`" not in text] == []
    listed = re.search(r"\| name \| shows \|\n\|---\|---\|\n((?:\|.*\n)+)", text)[1]
    assert re.findall(r"^\| `(\w+)`", listed, re.MULTILINE) == list(EXPERIMENTS)


@pytest.mark.slow
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
    commands = (
        ["methods", "--json"],
        ["place", "docs/examples/word-count.json", "--with", "random", "--seed", "3", "--json"],
    )
    both = f"from slotwise.cli.app import run\nfor words in {commands}: run(words)"
    path = f"PYTHONPATH={packages}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    listed, answer = run(["env", path, sys.executable, "-c", both], copy).splitlines()
    assert '"name": "random"' in listed
    assert '"method": "random"' in answer
