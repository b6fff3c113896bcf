"""The command that a grading was made with, kept in its folder for whoever makes it again.

Where it ran is not part of it (master, settings of Spark, archive, log, folder): these differ from
machine to machine, and may hold secrets.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from slotwise.heuristics.method_names import is_command

COMMANDS = "commands.txt"
"""File in the folder of a grading: the commands that made its rows, a line each, oldest first."""


def command_text(
    sources: Sequence[str], methods: Sequence[str] | None, options: Mapping[str, object]
) -> str:
    """Return ``slotwise grade`` as a shell takes it; of an absolute path the name alone.

    Parameters
    ----------
    sources, methods
        As they were written; no sources or methods = all, which the command does not name.
    options
        Option -> value; those with ``None`` and ``False`` are left out, ``True`` is a flag.
    """
    named = (Path(one).name if Path(one).is_absolute() else one for one in sources)
    words = ["slotwise", "grade", *named]
    if methods is not None:
        plain = [one for one in methods if not is_command(one)]
        words += ["--methods", ",".join(plain)] if plain else []
        for command in filter(is_command, methods):
            words += ["--methods", command]
    for option, value in options.items():
        if value is not None and value is not False:
            words += [option] if value is True else [option, str(value)]
    return shlex.join(words)


def keep_command(folder: Path, command: str) -> None:
    """Add the command to those of a folder of this machine, unless it stands there."""
    if command not in kept_commands(folder):
        with (folder / COMMANDS).open("a", encoding="utf-8") as file:
            file.write(f"{command}\n")


def kept_commands(folder: Path) -> tuple[str, ...]:
    """Return the commands that made the rows of a folder; none of older gradings."""
    path = folder / COMMANDS
    return tuple(path.read_text("utf-8", "replace").splitlines()) if path.is_file() else ()
