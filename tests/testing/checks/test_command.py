"""The command ``test-scheduler``: exit codes, files, bad input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import EXAMPLES, Cli

from slotwise.cli.commands import test_scheduler as command
from slotwise.testing.checks.scheduler import TIME_LIMIT_S
from slotwise.testing.checks.table import CHECKS, parse_demand

FEW = ("--examples", 15, "--seed", 0)


def test_what_holds_is_0_and_saves_nothing(cli: Cli, tmp_path: Path):
    folder = tmp_path / "none"
    answer = cli("test-scheduler", "r-storm", "--check", "complete", *FEW, "--save", folder)
    assert answer.code == 0, answer
    assert "1 of 1 checks hold" in answer.out
    assert not folder.exists()


def test_what_fails_is_1_and_the_command_stands_on_one_line(cli: Cli, tmp_path: Path):
    words = ("--check", "valid", *FEW, "--save", tmp_path)
    answer = cli("test-scheduler", "round-robin", *words)
    assert answer.code == 1
    files = list(tmp_path.glob("valid-????????.json"))
    for file in files:
        line = f"  slotwise test-scheduler round-robin --instance {file} --check valid"
        assert line in answer.out.splitlines()
    assert len(files) == answer.out.count("valid fails (")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_the_same_seed_finds_the_same(cli: Cli, tmp_path: Path):
    words = ("test-scheduler", "round-robin", "--check", "valid", *FEW, "--save", tmp_path)
    assert cli(*words, "--json").json == cli(*words, "--json").json


def test_what_cannot_be_judged_is_3(cli: Cli):
    words = ("--instance", EXAMPLES / "word-count.json", "--check", "moves<=1")
    answer = cli("test-scheduler", "r-storm", *words)
    assert answer.code == 3
    assert "nothing runs" in answer.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["r-strom"], "did you mean 'r-storm'"),
        (["r-storm", "--check", "valdi"], "did you mean 'valid'"),
        (["r-storm", "--check", "gap>=1"], "write gap<=NUMBER"),
        (["r-storm", "--check", "gap<=x"], "a threshold that is a number"),
        (["r-storm", "--check", "admits>=2"], "at most 1"),
        (["r-storm", "--check", "time<=0"], "above 0"),
        (["r-storm", "--kind", "tigt"], "did you mean 'tight'"),
        (["nothing_there:place"], "No module named 'nothing_there'"),
        (["cmd:"], "cmd"),
        (["cmd:./no/such.sh"], "command = './no/such.sh': cannot be run; install the program"),
        (["r-strom"], "cmd:COMMAND or module:callable"),
        (["r-storm", "--check", "gap<0.1"], "write gap<=NUMBER"),
        (["r-storm", "--check", "valid<=1"], "write valid"),
        (["r-storm", "--check", "valdi"], "unknown check; did you mean"),
        (["r-storm", "--kind", "tigt"], "unknown kind; did you mean"),
    ],
)
def test_bad_input_is_one_line(words: list[str], message: str, cli: Cli):
    answer = cli("test-scheduler", *words)
    assert answer.code == 2
    assert message in answer.err
    assert len(answer.err.splitlines()) == 1


def test_without_hypothesis_the_extra_is_named():
    program = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from slotwise.cli.app import run\n"
        "sys.exit(run(['test-scheduler', 'r-storm']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done
    assert len(done.stderr.splitlines()) == 1
    assert "slotwise[testing]" in done.stderr


def test_the_default_time_limit_is_that_of_the_kit():
    assert command.TIME_LIMIT_S == TIME_LIMIT_S


def test_checks_are_read_as_they_are_written():
    for name, check in CHECKS.items():
        text = f"{name}{check.sense}{'0.5' if check.sense else ''}"
        assert str(parse_demand(text)) == text
