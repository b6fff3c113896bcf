"""What a terminal gets: bold and moving lines, and with ``NO_COLOR`` no escape code at all."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time

import pytest

from slotwise.benchmarks.grading.progress.display import Bars, PlainLines, display

pty = pytest.importorskip("pty", reason="terminals as files: POSIX only")

ESCAPE = "\x1b"
COMMANDS = [
    ["-h"],
    ["methods"],
    ["families"],
    ["solve", "word-count.json", "--engine", "exhaustive"],
    ["place", "word-count.json", "--with", "r-storm"],
    ["explain", "tight.json", "--with", "r-storm"],
    ["solve", "nowhere.json"],
]


def on_terminal(words, folder, **variables):
    """Return what a command writes to a terminal, on stdout and stderr."""
    ours, theirs = pty.openpty()
    inherited = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "slotwise", *words],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env={**inherited, "TERM": "xterm-256color", **variables},
    )
    os.close(theirs)
    parts = []
    while part := _read(ours):
        parts.append(part)
    process.wait()
    os.close(ours)
    return b"".join(parts).decode()


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so at the end
        return b""


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_color_means_no_escape_codes(words, root):
    printed = on_terminal(words, root / "docs" / "examples", NO_COLOR="1")
    assert printed.strip()
    assert ESCAPE not in printed


@pytest.mark.slow
def test_without_no_color_a_terminal_gets_bold(root):
    words = ["place", "word-count.json", "--with", "r-storm"]
    assert ESCAPE in on_terminal(words, root / "docs" / "examples")
    assert ESCAPE in on_terminal(words, root / "docs" / "examples", NO_COLOR="")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed(shell, root):
    printed = on_terminal([], root, _SLOTWISE_COMPLETE=f"source_{shell}")
    assert "slotwise" in printed
    assert "COMPLETE" in printed


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize(("value", "kind"), [("1", PlainLines), ("", Bars)])
def test_a_grading_writes_lines_with_no_color(monkeypatch, value, kind):
    monkeypatch.setenv("NO_COLOR", value)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with display(True, time.monotonic) as shown:
        assert isinstance(shown, kind)
