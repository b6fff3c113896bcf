"""A new package for a user's own method, from the templates in ``slotwise/templates/``."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from keyword import iskeyword
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from slotwise.heuristics.ours import HEURISTICS
from slotwise.models.errors import InputError

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST_NAME = 60

SCHEDULER = {
    "pyproject.toml.j2": "pyproject.toml",
    "README.md.j2": "README.md",
    "gitignore.j2": ".gitignore",
    "ci.yml.j2": ".github/workflows/ci.yml",
    "init.py.j2": "src/{module}/__init__.py",
    "method.py.j2": "src/{module}/method.py",
    "test_scheduler.py.j2": "tests/test_{module}.py",
}
"""Template -> file of the package."""


def module_name(name: str) -> str:
    """Return the module of a method; ``my-method`` -> ``my_method``.

    Raises
    ------
    InputError
        Unless the name is valid for a method, a package and a module.
    """
    rule = ""
    if NAME.fullmatch(name) is None:
        rule = "must be lower-case letters, digits and hyphens, such as my-scheduler"
    elif len(name) > LONGEST_NAME:
        rule = f"must be at most {LONGEST_NAME} characters long"
    elif name in HEURISTICS:
        rule = "is a built-in method; choose another name"
    module = name.replace("-", "_")
    if iskeyword(module) or module in {*sys.stdlib_module_names, "slotwise", "tests"}:
        rule = "is the name of another Python module, or a word of Python; choose another name"
    if rule:
        raise InputError(rule, field="NAME", value=name)
    return module


def rendered(name: str) -> dict[str, str]:
    """Return the files of a new package, by their paths in it."""
    module = module_name(name)
    templates = Environment(
        loader=PackageLoader("slotwise", "templates/scheduler"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # no HTML; the name is checked
    )
    return {
        path.format(module=module): templates.get_template(template).render(
            name=name, module=module
        )
        for template, path in SCHEDULER.items()
    }


def write_package(files: dict[str, str], folder: Path) -> None:
    """Write the files into the new folder `folder`, all of them or nothing.

    Raises
    ------
    InputError
        When `folder` exists, or the folder around it does not.
    """
    if folder.exists() or folder.is_symlink():
        raise InputError("exists; name a new folder", field="--out", value=str(folder))
    around = folder.absolute().parent
    if not around.is_dir():
        raise InputError("is not a folder", field="--out", value=str(around))
    temporary = around / f".{folder.name[:100]}.{os.getpid()}.{secrets.token_hex(4)}.tmp"
    try:
        for path, text in files.items():
            target = temporary / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
