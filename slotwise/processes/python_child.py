"""How a Python process of ours is started that can import what this one can, and how it answers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import IO

START = """\
import json, sys
from importlib import import_module
module, function, path = json.loads(sys.argv[1])
sys.path.extend(folder for folder in path if folder not in sys.path)
getattr(import_module(module), function)()
"""
"""What the child runs: it imports nothing from the current folder."""


def command_of(main: Callable[[], None]) -> list[str]:
    """Return the command that calls `main`, a function of a module, in a new interpreter."""
    called = json.dumps([main.__module__, main.__name__, sys.path])
    return [sys.executable, "-P", "-c", START, called]


def take_stdout() -> IO[str]:
    """Keep stdout for answers; what solvers and methods print there goes to stderr."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers
