"""The house: root folders under one import name, and what the wheel takes along."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

FOLDERS = ("models", "solver", "heuristics", "pipeline", "benchmarks")
CODE = ("slotwise", *FOLDERS, "tests", ".ci")
CHECKOUT_ONLY = "heuristics/external/storm_programs/"
"""A Java program that is built from the checkout, and no part of the package."""
LABORATORY = "slotwise.benchmarks.experiments"
"""Experiments, which are run from the checkout."""


@pytest.fixture(scope="module")
def pyproject(root: Path) -> dict[str, Any]:
    """Read pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def python_files(root: Path) -> Iterator[Path]:
    """List our Python files, each once: the links in slotwise/ are not followed."""
    for folder in CODE:
        for path in sorted((root / folder).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents):
                yield path


def packages_on_disk(root: Path) -> set[str]:
    """Name the package of every folder that holds Python files."""
    packages = {"slotwise"}
    for folder in FOLDERS:
        for path in (root / folder).rglob("*.py"):
            packages.add(".".join(("slotwise", *path.parent.relative_to(root).parts)))
    for folder in (root / "slotwise").iterdir():
        for path in () if folder.is_symlink() else folder.rglob("*.py"):
            packages.add(".".join(path.parent.relative_to(root).parts))
    return {name for name in packages if not f"{name}.".startswith(f"{LABORATORY}.")}


def test_package_list_equals_the_folders(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    listed = runpy.run_path("setup.py")["packages"]()
    assert sorted(listed) == sorted(packages_on_disk(root))


def test_every_package_has_an_init_file(root: Path) -> None:
    folders = {path.parent for folder in FOLDERS for path in (root / folder).rglob("*.py")}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_data_files_are_declared(root: Path, pyproject: dict[str, Any]) -> None:
    declared = pyproject["tool"]["setuptools"]["package-data"]
    shipped = {
        str(Path(*package.split(".")) / path.relative_to(base))
        for package, patterns in declared.items()
        for base in [root.joinpath(*package.split("."))]
        for pattern in patterns
        for path in base.glob(pattern)
    }
    templates = (root / "slotwise" / "templates").rglob("*")
    written = [str(path.relative_to(root)) for path in templates if path.is_file()]
    assert written
    forgotten = [path for path in written if path not in shipped]
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            name = str(path.relative_to(root / folder))
            ours = path.is_file() and path.suffix not in {".py", ".md"}
            ours = ours and path.parent.name != "__pycache__"
            ours = ours and not f"{folder}/{name}".startswith(CHECKOUT_ONLY)
            if ours and f"slotwise/{folder}/{name}" not in shipped:
                forgotten.append(f"{folder}/{name}")
    assert forgotten == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_link_is_relative(root: Path, folder: str) -> None:
    link = root / "slotwise" / folder
    assert link.is_symlink()
    assert str(link.readlink()) == f"../{folder}"


def test_links_are_committed(root: Path) -> None:
    if not (root / ".git").exists():
        pytest.skip("not a git checkout")
    links = [f"slotwise/{folder}" for folder in FOLDERS]
    command = ["git", "-C", str(root), "ls-files", "--stage", *links]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    modes = {line.split("\t")[1]: line.split()[0] for line in done.stdout.splitlines()}
    assert modes == dict.fromkeys(links, "120000")


def banned_imports(source: str) -> list[str]:
    """Name what a module imports past the import name slotwise, or relatively."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        else:
            continue
        found += [name for name in names if name.startswith(".") or name.split(".")[0] in FOLDERS]
    return found


@pytest.mark.slow
def test_nothing_imports_the_root_folders(root: Path) -> None:
    found = {
        str(path.relative_to(root)): banned
        for path in python_files(root)
        if (banned := banned_imports(path.read_text(encoding="utf-8")))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "banned"),
    [
        ("import models", ["models"]),
        ("import solver.solve as s", ["solver.solve"]),
        ("def f():\n    from heuristics import place", ["heuristics"]),
        ("from . import judge", ["."]),
        ("from ..models import judge", ["..models"]),
        ("from slotwise.models import judge\nimport models_of_mine", []),
    ],
)
def test_banned_imports_are_seen(source: str, banned: list[str]) -> None:
    assert banned_imports(source) == banned


def test_docs_have_what_the_documented_packages_import(pyproject: dict[str, Any]) -> None:
    extras = pyproject["project"]["optional-dependencies"]
    assert set(extras["testing"]) <= set(extras["docs"])


def test_pre_commit_and_ci_check_the_same(root: Path) -> None:
    config = yaml.safe_load((root / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = [hook["entry"] for repo in config["repos"] for hook in repo["hooks"]]
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe is not None
    commands = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe[1].splitlines()]
    assert hooks == commands
    script = (root / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"^make (.* )?check( |$)", script, re.MULTILINE)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("echo 3.9; exit 3", "python is Python 3.9; slotwise needs Python 3.11 or newer"),
        ("echo no libpython >&2; exit 1", "python does not run (exit code 1: no libpython); "),
        ("echo 3.13; echo is absent; exit 127", "not run (exit code 127: 3.13 is absent); "),
        (None, "python does not run (exit code 127: "),
    ],
)
def test_make_says_why_a_python_cannot_be_used(
    program: str | None, said: str, root: Path, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    if program is not None:
        python.write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
        python.chmod(0o755)
    words = ["make", "--file", str(root / "Makefile"), f"PYTHON={python}", "VENV=none"]
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    done = subprocess.run(
        [*words, "none/.installed"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    first = done.stderr.splitlines()[0]
    assert said in first, done
    assert first.endswith("make PYTHON=python3.12 none/.installed"), done


def test_version_is_said_once(pyproject: dict[str, Any]) -> None:
    import slotwise

    assert slotwise.__version__ == pyproject["project"]["version"]


@pytest.fixture(scope="module")
def pins(root: Path) -> dict[str, str]:
    """Read constraints.txt; a line that is not a plain pin fails."""
    pins = {}
    for line in (root / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            match = re.fullmatch(r"([A-Za-z0-9._-]+)==([0-9][A-Za-z0-9.]*)", line)
            assert match, f"not a plain pin: {line!r}"
            pins[normal(match[1])] = match[2]
    return pins


def normal(name: str) -> str:
    """Write a distribution's name as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_pins_fit_the_declared_ranges(pyproject: dict[str, Any], pins: dict[str, str]) -> None:
    project = pyproject["project"]
    extras = project["optional-dependencies"].values()
    declared = [*project["dependencies"], *(line for extra in extras for line in extra)]
    wrong = []
    for requirement in map(Requirement, declared):
        version = pins.get(normal(requirement.name))
        if version is None or not requirement.specifier.contains(version):
            wrong.append(f"{requirement} but pinned {version}")
    assert wrong == []
