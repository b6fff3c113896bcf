"""Who imports whom in slotwise, read from the source: lazy and type-only imports count too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT_FOLDERS = ("models", "heuristics", "solver", "pipeline", "benchmarks")
INIT = "__init__"


class Import(NamedTuple):
    """One import: who, where in the file, and what, all without the leading ``slotwise.``."""

    importer: str
    file: Path
    line: int
    imported: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.importer} imports {self.imported}"


def modules(root: Path) -> dict[str, Path]:
    """Map the name of every module, without ``slotwise.``, to its file in the checkout.

    The module of a package is ``package.__init__``; that of slotwise itself is ``__init__``.
    """
    found = {}
    for folder in ("slotwise", *ROOT_FOLDERS):
        base = root if folder in ROOT_FOLDERS else root / "slotwise"
        for path in sorted((root / folder).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents if parent != root):
                found[".".join(path.relative_to(base).with_suffix("").parts)] = path
    return found


def imports(known: Mapping[str, Path]) -> list[Import]:
    """List what the modules import of slotwise, once per place; a package is its ``__init__``.

    A string that is the dotted name of a module counts: it is there to be imported or run. Names of
    packages around the module do not, for these are the place of data files.
    """
    found = []
    for importer, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in _named(tree):
            target = _module(name, known)
            if target is not None and target != importer:
                found.append(Import(importer, path, line, target))
        for line, text in _strings(tree):
            target = _module(text, known) if _is_module(text, known) else None
            if target is not None and not _is_around(target, importer):
                found.append(Import(importer, path, line, target))
    return found


def outside_imports(known: Mapping[str, Path]) -> list[Import]:
    """List what the modules import of other packages; `imported` is the top-level name."""
    found = []
    for importer, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        tops = {(line, name.split(".")[0]) for line, name in _named(tree)}
        found += [
            Import(importer, path, line, top) for line, top in sorted(tops) if top != "slotwise"
        ]
    return found


def _named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def _strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _module(name: str, known: Mapping[str, Path]) -> str | None:
    """Return the module that holds `name`, a dotted name; ``None`` where it is not ours."""
    first, *parts = name.split(".")
    if first != "slotwise":
        return None
    for end in range(len(parts), -1, -1):
        own = ".".join(parts[:end])
        for module in (own, f"{own}.{INIT}".lstrip(".")):
            if module in known:
                return module
    return None


def _is_module(name: str, known: Mapping[str, Path]) -> bool:
    own = name.removeprefix("slotwise.")
    return own != name and (own in known or f"{own}.{INIT}" in known)


def _is_around(package: str, module: str) -> bool:
    return package.endswith(INIT) and module.startswith(package.removesuffix(INIT))
