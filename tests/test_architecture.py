"""What holds of every package, beside the layers that import-linter checks (pyproject.toml)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import networkx as nx
import pytest
from import_graph import INIT, Import, imports, modules

MIN_STORY_LINES = 3
"""Least lines of the docstring that tells what a package is for."""

ROOT = Path(__file__).parents[1]
MODULES = modules(ROOT)


def is_in(module: str, package: str) -> bool:
    """Whether `module` is `package` or lies in it."""
    return module == package or module.startswith(f"{package}.")


def circles(found: list[Import]) -> list[list[str]]:
    """List the sets of modules that import each other, directly or not."""
    graph = nx.DiGraph([(one.importer, one.imported) for one in found])
    return [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]


def test_no_modules_import_each_other() -> None:
    assert circles(imports(MODULES)) == []


def packages() -> list[str]:
    return [name.removesuffix(INIT).rstrip(".") for name in MODULES if name.endswith(INIT)]


def story(package: str) -> str:
    path = MODULES[f"{package}.{INIT}".lstrip(".")]
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


@pytest.mark.parametrize("package", packages())
def test_package_says_what_it_is_for(package: str) -> None:
    text = story(package)
    assert len(text.splitlines()) >= MIN_STORY_LINES
    first = re.search(r"Start\s+with\s+`(\w+)`", text)
    assert first, "which file to read first"
    named = f"{package}.{first[1]}".lstrip(".")
    assert any(is_in(module, named) for module in MODULES), named


def test_the_story_of_a_package_names_the_packages_in_it() -> None:
    parents = [(name.rpartition(".")[0], name.rpartition(".")[2]) for name in packages() if name]
    named = [(parent, child) for parent, child in parents if parent]
    unnamed = [pair for pair in named if not re.search(rf"`{pair[1]}[`.]", story(pair[0]))]
    assert unnamed == []


# Control is explicit: a token that is passed on. State of a thread would tell a search to stop, or
# what memory it has, behind the back of its callers; Ctrl-C is the user's alone to raise. Nothing
# has needed either so far.
EXPLICIT = ("models", "heuristics", "solver")


def hidden_control(source: str) -> list[str]:
    """List where thread-local state is made or imported, and where Ctrl-C is raised."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = {(node.module, alias.name) for alias in node.names}
            local = bool(names & {("threading", "local"), ("_thread", "_local")})
            local |= node.module == "contextvars"
        else:
            local = isinstance(node, ast.Attribute) and ast.unparse(node) == "threading.local"
        raised = isinstance(node, ast.Raise) and node.exc is not None
        ctrl_c = raised and ast.unparse(node.exc).partition("(")[0] == "KeyboardInterrupt"
        if local or ctrl_c:
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.slow
def test_control_is_passed_as_an_argument() -> None:
    explicit = {n: path for n, path in MODULES.items() if any(is_in(n, p) for p in EXPLICIT)}
    found = {n: hidden_control(path.read_text(encoding="utf-8")) for n, path in explicit.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def caught_ctrl_c(source: str) -> bool:
    """Whether some ``except`` names `KeyboardInterrupt`."""
    handlers = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ExceptHandler)]
    return any(one.type and "KeyboardInterrupt" in ast.unparse(one.type) for one in handlers)


def test_ctrl_c_is_caught_where_the_signal_arrives_only() -> None:
    """`supervised` waits in the caller's thread; searches, in theirs, know tokens alone."""
    explicit = {n: path for n, path in MODULES.items() if any(is_in(n, p) for p in EXPLICIT)}
    catching = [n for n, p in explicit.items() if caught_ctrl_c(p.read_text(encoding="utf-8"))]
    assert catching == ["solver.core.supervision"]


@pytest.mark.parametrize(
    "source",
    [
        "import threading\nhere = threading.local()",
        "from threading import Lock, local",
        "from contextvars import ContextVar",
        "def f():\n    raise KeyboardInterrupt",
        "raise KeyboardInterrupt('stop') from None",
    ],
)
def test_hidden_control_is_seen(source: str) -> None:
    assert hidden_control(source)


def test_circles_are_seen() -> None:
    path = Path("x.py")
    found = [Import("a", path, 1, "b"), Import("b", path, 1, "c"), Import("c", path, 1, "a")]
    assert circles(found) == [["a", "b", "c"]]
