"""What docstrings quote in single backquotes must be there: modules, classes, parameters."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from import_graph import modules

ROOT = Path(__file__).parents[1]
QUOTED = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)")


def names_in(path: Path) -> set[str]:
    """Return the names of a module: its path, what its code says, and its keys of one word."""
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    strings = {token.string[1:-1] for token in tokens if token.type == tokenize.STRING}
    found = {token.string for token in tokens if token.type == tokenize.NAME}
    return found | {*path.with_suffix("").parts} | {word for word in strings if word.isidentifier()}


def quoted_in(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and name of what the docstrings of a module quote."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str):
                yield from ((node.lineno, match[1]) for match in QUOTED.finditer(text))


def test_names_that_docstrings_quote_are_there() -> None:
    paths = list(modules(ROOT).values())
    known = set().union(*map(names_in, paths))
    missing = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in paths
        for line, name in quoted_in(path)
        if known.isdisjoint(name.split("."))
    ]
    assert missing == []


def test_a_missing_name_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text(
        '"""See `gone.away`, not ``x``."""\n\n\ndef f(x: int) -> None:\n    """Of `x`."""\n'
    )
    assert list(quoted_in(path)) == [(1, "gone.away"), (5, "x")]
    assert {"f", "x", "int", "sample"} <= names_in(path)
