"""Public names of a package, loaded when they are first used and listed once."""

from __future__ import annotations

import sys
from functools import cache


@cache
def homes(package: str) -> dict[str, str]:
    """Return public name -> module that defines it, of a package that has been imported.

    The package lists them as type checkers want it: ``from MODULE import NAME as NAME`` below
    ``if TYPE_CHECKING``. Its own source is read, once, so that no second list can differ.
    """
    import ast
    import inspect

    return {
        name.name: node.module
        for node in ast.walk(ast.parse(inspect.getsource(sys.modules[package])))
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for name in node.names
        if name.asname == name.name
    }
