"""Commands on mutated files, and what must hold of them whatever the files hold.

Commands run one after the other in a child process, which a watchdog replaces where one hangs or
ends it. They may refuse a file (exit code 2 and one line), or do what they do with a valid one.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import shutil
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

WATCHDOG_S = 120.0
"""A command that has not ended after this many seconds is reported as a hang."""
CODES = {0, 1, 2, 3}
LIMIT = ("--time-limit", "1")
PLAN = ("--out", "out/p.json")

Words = tuple[str, ...]

COMMANDS: dict[str, tuple[Words, ...]] = {
    "instance": (
        ("judge", "{file}", "plan.json", "--json"),
        ("judge", "-", "plan.json"),
        ("place", "{file}", "--with", "r-storm", "--out", "out/plan.json", "--json"),
        ("place", "{file}", "--with", "round-robin", "--out", "out/plan.yaml"),
        ("place", "{file}", "--with", "ras-constraint-solver"),
        (
            "solve",
            "{file}",
            "--quiet",
            *LIMIT,
            "--out",
            "out/p.json",
            "--certificate",
            "out/c.json",
        ),
        (
            "solve",
            "{file}",
            "--quiet",
            *LIMIT,
            "--json",
            "--engine",
            "cp-sat",
            "--out",
            "out/p.json",
        ),
        ("solve", "{file}", "--quiet", *LIMIT, "--json", "--engine", "milp"),
        ("solve", "{file}", "--quiet", *LIMIT, "--max-moved", "1"),
        ("verify", "{file}", "certificate.json", "--json"),
        ("schedule", "{file}", "--out", "out/plan.json", "--json"),
        ("schedule", "{file}", "--exact", *LIMIT, "--priority", "fifo"),
        ("convert", "{file}", "--to", "lp", "--out", "out/model.lp", "--json"),
        ("convert", "{file}", "--to", "mps", "--out", "out/model.mps"),
    ),
    "storm": (
        ("place", "{file}", "--with", "ras-default", "--json"),
        ("place", "{file}", "--with", "r-storm", "--topology", "word-count"),
        ("schedule", "{file}", "--submitters", "--worker-min-cpu", "10"),
        ("solve", "{file}", "--quiet", *LIMIT, "--json"),
    ),
    "matrix": (
        ("solve", "{file}", "--quiet", *LIMIT, "--json"),
        ("solve", "{file}", "--quiet", *LIMIT, "--engine", "dual-ascent"),
        ("place", "{file}", "--with", "round-robin"),
    ),
    "placement": (
        ("judge", "instance.json", "{file}", "--json"),
        ("judge", "instance.json", "-"),
        ("solve", "instance.json", "--hint", "{file}", "--quiet", *LIMIT, "--json"),
    ),
    "certificate": (
        ("verify", "instance.json", "{file}", "--json"),
        ("verify", "instance.json", "-"),
        ("verify", "instance.json", "{file}", "--resolve", *LIMIT),
    ),
    "pools": (
        ("schedule", "shared.json", "--pools", "{file}", "--json"),
        ("schedule", "shared.json", "--pools", "{file}", "--exact", *LIMIT, "--out", "out/p.json"),
    ),
    "rows": (("report", "graded", "--json"), ("report", "graded")),
}
"""Kind of file -> commands; ``{file}`` is the mutated file, ``-`` reads it from stdin."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: exit code, streams, and the traceback of what it let through."""

    code: int
    out: str
    err: str
    trace: str = ""


class Shell:
    """Runs commands in a child process whose current folder is `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def run(self, words: Words, stdin: bytes) -> Ended | None:
        """Return how a command ended; ``None`` where it hung or ended its process."""
        if self._process is None:
            self._start()
        assert self._pipe is not None
        self._pipe.send((words, stdin))
        try:
            if self._pipe.poll(WATCHDOG_S):
                return Ended(*self._pipe.recv())
        except EOFError:
            pass
        self.close()
        return None

    def close(self) -> None:
        """End the child."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other, str(self._folder)), daemon=True)
        self._process.start()
        other.close()


def serve(pipe: Connection, folder: str) -> None:
    """Run commands until the pipe ends."""
    import os

    from slotwise.cli.app import run

    os.chdir(folder)
    with contextlib.suppress(EOFError):
        while True:
            words, stdin = pipe.recv()
            pipe.send(_called(run, words, stdin))


def _called(run: Any, words: Words, stdin: bytes) -> tuple[int, str, str, str]:
    out, err = io.StringIO(), io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    trace, code = "", -1
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run(list(words))
        except BaseException:  # noqa: BLE001 (a fault of the command, told with the file)
            trace = traceback.format_exc()
    return code, out.getvalue(), err.getvalue(), trace


def faults(words: Words, ended: Ended | None, out: Path) -> Iterator[str]:
    """Yield what must not be, given how a command ended and the folder that it wrote to."""
    if ended is None:
        yield "hangs, or ended its process"
        return
    if ended.trace:
        yield " | ".join(ended.trace.strip().splitlines()[-5:])
        return
    if ended.code not in CODES:
        yield f"exit code {ended.code}"
    if "Traceback" in ended.out + ended.err or "internal error" in ended.err:
        yield f"tells of a fault: {ended.err[-500:]}"
    if ended.code == 2:
        yield from _bad_refusal(ended)
    elif "--json" in words and not _is_one_object(ended.out):
        yield f"prints no JSON object: {ended.out[:200]!r}"
    for path in sorted(out.iterdir()):
        if ended.code == 2:
            yield f"leaves {path.name} though it refuses"
        elif path.name.startswith(".") or path.suffix == ".tmp":
            yield f"leaves {path.name}"
        elif path.suffix == ".json" and not _is_one_object(path.read_text("utf-8")):
            yield f"leaves {path.name} half-written"


def _bad_refusal(ended: Ended) -> Iterator[str]:
    line = ended.err
    if not (line.startswith("slotwise: ") and line.endswith("\n") and line.count("\n") == 1):
        yield f"does not say in one line what is wrong: {line[:500]!r}"
    elif not line[:-1].isprintable():
        yield f"says it unprintably: {line[:500]!r}"
    elif len(line) > 2000:
        yield f"says it in {len(line)} characters"
    if ended.out:
        yield f"prints {ended.out[:200]!r} though it refuses"


def _is_one_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def emptied(folder: Path) -> Path:
    """Return the folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
