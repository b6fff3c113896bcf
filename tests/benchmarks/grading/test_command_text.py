"""The command of a grading, in its folder and in what a report says of it."""

from __future__ import annotations

import shlex
from pathlib import Path

from graded_rows import optimum, row, write_rows

from slotwise.benchmarks.grading.command_text import command_text, keep_command, kept_commands
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.report.graded_rows import read_graded
from slotwise.benchmarks.report.page import facts
from slotwise.benchmarks.report.paper import HOW_MADE, paper_files

HASH = "sha256:" + "0" * 64


def test_a_shell_reads_the_command_as_it_was_written() -> None:
    options = {"--seeds": 3, "--count": None, "--deterministic": True, "--crosscheck": False}
    methods = ["r-storm", "cmd:./mine -x", "ras"]
    text = command_text(["rstorm", "/somewhere/of mine/a.json", "here/b.json"], methods, options)
    assert shlex.split(text) == [
        *("slotwise", "grade", "rstorm", "a.json", "here/b.json"),
        *("--methods", "r-storm,ras", "--methods", "cmd:./mine -x", "--seeds", "3"),
        "--deterministic",
    ]


def test_a_command_is_kept_once_and_told_with_the_figures(tmp_path: Path) -> None:
    runs = [optimum("a", "0", "10"), row("a", "m", "valid", ("0", "12"))]
    folder = write_rows(tmp_path, [one | {"instance_hash": HASH} for one in runs])
    assert kept_commands(folder) == ()
    assert facts(runs, ())["command"] == "\N{EN DASH}"
    commands = ["slotwise grade rstorm --seeds 3", "slotwise grade rstorm --seeds 5"]
    for command in (*commands, commands[0]):
        keep_command(folder, command)
    graded = read_graded(Store(folder))
    assert graded.commands == tuple(commands)
    lines = paper_files(graded)[HOW_MADE].decode().splitlines()
    assert f"command: {'; '.join(commands)}" in lines
