"""``slotwise new scheduler``: the package that it writes installs, passes its tests, is graded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import EXAMPLES, Cli

from slotwise.cli import new_package

NAME = "my-scheduler"
FEW_EXAMPLES = """
from hypothesis import settings

settings.register_profile("few", max_examples=5, derandomize=True, deadline=None)
settings.load_profile("few")
"""

ONLY_FOUND = """
from slotwise.testing.checks import search

search.SHRINK_S = 0.0
search._look_on = lambda *_: None
"""
"""Let the tests of the package end as soon as they fail."""


def run(words: list[object], folder: Path, packages: Path | None = None, code: int = 0) -> str:
    """Run a command with our Python, and return what it prints."""
    path = os.pathsep.join(map(str, filter(None, [packages, *sys.path])))
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == code, done.stdout
    return done.stdout


@pytest.fixture
def package(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new package in the current folder."""
    monkeypatch.chdir(tmp_path)
    assert cli("new", "scheduler", NAME).code == 0
    return tmp_path / NAME


@pytest.fixture
def installed(package: Path, tmp_path: Path) -> Path:
    """A folder of packages in which it is installed."""
    target = tmp_path / "packages"
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-build-isolation", "--no-deps", "--no-index"]
    run([*pip, *offline, "--target", target, package], tmp_path)
    return target


def test_it_writes_a_package(package: Path, cli: Cli) -> None:
    files = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    assert files == {
        "pyproject.toml",
        "README.md",
        ".gitignore",
        ".github/workflows/ci.yml",
        "src/my_scheduler/__init__.py",
        "src/my_scheduler/method.py",
        "tests/test_my_scheduler.py",
    }
    assert [path.name for path in package.parent.iterdir()] == [NAME]
    answer = cli("new", "scheduler", "other", "--out", "folder", "--json")
    assert answer.json["folder"] == "folder"
    assert set(answer.json["files"]) == {
        str(path.relative_to("folder")) for path in Path("folder").rglob("*") if path.is_file()
    }


def test_what_it_writes_is_in_good_style(package: Path) -> None:
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent))
    if ruff is None:
        pytest.skip("ruff is not installed")
    for words in (["check"], ["check", "--select", "I"], ["format", "--check"]):
        subprocess.run([ruff, *words, "--quiet", "--no-cache", "."], cwd=package, check=True)


def test_no_host_of_a_package_registry_is_in_it() -> None:
    text = "".join(new_package.rendered(NAME).values())
    assert "http" not in text
    assert "{{" not in text


@pytest.mark.slow
@pytest.mark.in_turn
def test_its_tests_pass(package: Path) -> None:
    (package / "tests" / "conftest.py").write_text(FEW_EXAMPLES, encoding="utf-8")
    printed = run(["-m", "pytest", "-q", "-p", "no:cacheprovider"], package)
    assert "5 passed" in printed


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("right", "wrong", "test"),
    [
        ("return self.load[resource] + amount <= capacity", "return True", "hard_rule"),
        ("if most is not None and", "if False and", "hard_rule"),
        ("if spot is None:", "if True:", "can_be_placed"),
    ],
)
def test_its_tests_notice_a_mistake(package: Path, right: str, wrong: str, test: str) -> None:
    """A bug in the placement, which it does not hide by refusing, and a method that refuses."""
    more = FEW_EXAMPLES.replace("max_examples=5", "max_examples=60") + ONLY_FOUND
    (package / "tests" / "conftest.py").write_text(more, encoding="utf-8")
    method = package / "src" / "my_scheduler" / "method.py"
    text = method.read_text(encoding="utf-8")
    assert right in text
    method.write_text(text.replace(right, wrong), encoding="utf-8")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", test]
    assert "1 failed" in run(words, package, code=1)


@pytest.mark.slow
def test_it_is_listed_and_places(installed: Path, tmp_path: Path) -> None:
    commands = (
        ["methods", "--json"],
        ["place", str(EXAMPLES / "word-count.json"), "--with", NAME, "--json"],
    )
    both = f"from slotwise.cli.app import run\nfor words in {commands}: assert run(words) == 0"
    listed, answer = run(["-c", both], tmp_path, installed).splitlines()
    assert NAME in {method["name"] for method in json.loads(listed)["methods"]}
    assert json.loads(answer)["status"] == "feasible"


@pytest.mark.deep
def test_it_is_graded_and_tested(installed: Path, tmp_path: Path) -> None:
    grade = ["grade", "rstorm", "--count", 1, "--methods", NAME, "--time-limit", 2]
    run(["-m", "slotwise", *grade, "--out", "graded"], tmp_path, installed)
    run(["-m", "slotwise", "report", "graded"], tmp_path, installed)
    assert NAME in (tmp_path / "graded" / "report.html").read_text(encoding="utf-8")
    checks = ["--check", "valid", "--check", "complete", "--check", "deterministic"]
    printed = run(["-m", "slotwise", "test-scheduler", NAME, *checks], tmp_path, installed)
    assert "3 of 3 checks hold" in printed


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("My", "NAME = 'My': must be lower-case letters, digits and hyphens, such as my-scheduler"),
        ("../up", "NAME = '../up': must be lower-case letters"),
        ("a--b", "NAME = 'a--b': must be lower-case letters"),
        ("x" * 61, "must be at most 60 characters long"),
        ("round-robin", "NAME = 'round-robin': is a built-in method; choose another name"),
        ("random", "NAME = 'random': is the name of another Python module"),
        ("class", "NAME = 'class': is the name of another Python module, or a word of Python"),
        ("slotwise", "NAME = 'slotwise': is the name of another Python module"),
    ],
)
def test_names_that_cannot_be_used(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = cli("new", "scheduler", name)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["folder", "file", "dangling link"])
def test_what_exists_is_never_touched(cli: Cli, tmp_path: Path, what: str) -> None:
    target = tmp_path / "mine"
    if what == "folder":
        target.mkdir()
    elif what == "file":
        target.write_text("mine")
    else:
        target.symlink_to(tmp_path / "nowhere")
    answer = cli("new", "scheduler", NAME, "--out", target)
    assert answer.code == 2
    assert "exists; name a new folder" in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_folder_around_must_exist(cli: Cli, tmp_path: Path) -> None:
    answer = cli("new", "scheduler", NAME, "--out", tmp_path / "no" / "mine")
    assert answer.code == 2
    assert answer.err.startswith("slotwise: --out = ")
    assert answer.err.endswith(": is not a folder\n")


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    files = {"a": "written", "a/b": "cannot be written: a is a file"}
    with pytest.raises(OSError, match="a"):
        new_package.write_package(files, tmp_path / "mine")
    assert list(tmp_path.iterdir()) == []
