"""The pages of the API reference, written before each build from what modules declare public.

A module of `MODULES` gets a page; of a package so do the modules inside it. Public is what
``__all__`` names, without one what the module itself defines without an underscore. A name that two
modules offer is documented once, where it comes first.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast, get_type_hints

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

MODULES = (
    "slotwise",
    "slotwise.models.instance",
    "slotwise.models.judge",
    "slotwise.models.problem.problem",
    "slotwise.models.certificates",
    "slotwise.heuristics.method",
    "slotwise.heuristics.run",
    "slotwise.solver.core.progress",
    "slotwise.solver.core.result",
    "slotwise.solver.core.engine",
    "slotwise.testing",
)
ALONE = {"slotwise"}
"""Packages whose inner packages are not part of their page's interface."""
BARS = re.compile(r"(?<![`|\\])\|(\w[^|`]*)\|(?![`|])")
FOLDER = Path(__file__).parents[1] / "reference" / "generated"


def modules(name: str) -> Iterator[ModuleType]:
    """Yield a module and, of a package, those inside it, children last."""
    module = import_module(name)
    yield module
    if name not in ALONE:
        for child in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}."):
            if not child.name.rpartition(".")[2].startswith("_"):
                yield from modules(child.name)


def public_names(module: ModuleType) -> list[str]:
    """Return what a module offers: classes and functions, in alphabetical order."""
    declared = getattr(module, "__all__", None)
    names = declared if declared is not None else vars(module)
    offered = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return sorted(
        name
        for name, value in offered.items()
        if (inspect.isclass(value) or callable(value))
        and getattr(value, "__doc__", None)
        and (declared is not None or getattr(value, "__module__", None) == module.__name__)
    )


def directive(module: ModuleType, name: str) -> str:
    """Return the directive that documents a name."""
    if not inspect.isclass(getattr(module, name)):
        return f".. autofunction:: {module.__name__}.{name}\n"
    return f".. autoclass:: {module.__name__}.{name}\n   :members:\n"


def page(module: ModuleType, documented: set[int]) -> str:
    """Return a module's page: its docstring, then each public name that has no place yet."""
    title = module.__name__
    parts = [f"{title}\n{'=' * len(title)}\n", f".. automodule:: {title}\n"]
    for name in public_names(module):
        if id(value := getattr(module, name)) not in documented:
            documented.add(id(value))
            parts.append(f"{name}\n{'-' * len(name)}\n\n{directive(module, name)}")
    return "\n".join(parts)


def write_pages(_app: Sphinx) -> None:
    """Rewrite the pages that changed, and delete those of removed modules."""
    documented: set[int] = set()
    found = [module for name in MODULES for module in modules(name)]
    pages = {f"{module.__name__}.rst": page(module, documented) for module in found}
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def as_plain_text(_app: Sphinx, *about: object) -> None:
    """Docstrings have bars for absolute values, and no substitutions of reStructuredText."""
    lines = cast("list[str]", about[-1])
    lines[:] = [BARS.sub(r"\\|\1\\|", line) for line in lines]


def without_metadata(_app: Sphinx, shown: Any, _bound: bool) -> None:
    """Show types without their metadata, which say more than a signature can."""
    with suppress(NameError, TypeError):  # names for type checkers only, no function
        function = getattr(shown, "__func__", shown)  # Of a class method.
        function.__annotations__ = get_type_hints(function)


def without_link(
    _app: Sphinx, _env: BuildEnvironment, node: pending_xref, shown: nodes.TextElement
) -> nodes.TextElement | None:
    """Show a type of ours that has no page as text; one that does not exist stays a warning."""
    home, _, name = str(node.get("reftarget", "")).rpartition(".")
    if node.get("refdomain") != "py" or not home.startswith("slotwise."):
        return None
    try:
        return shown if hasattr(import_module(home), name) else None
    except ModuleNotFoundError:
        return None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("builder-inited", write_pages)
    app.connect("missing-reference", without_link)
    app.connect("autodoc-process-docstring", as_plain_text)
    app.connect("autodoc-before-process-signature", without_metadata)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
