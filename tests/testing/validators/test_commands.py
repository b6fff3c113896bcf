"""Validators that are commands, and ``slotwise test-validator``."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from conftest import Cli

from slotwise.testing import hypothesis_extra
from slotwise.testing.validators.check import check_validator
from slotwise.testing.validators.report import ValidatorReport

FEWEST_PARTS = "one_topology_per_worker"
"""The rule of fewest sub-cases: each call of a command starts two processes."""
PYTHON = shlex.quote(sys.executable)


@pytest.fixture
def validator(examples: Path) -> str:
    """The validator of the documentation, which knows no shared memory."""
    return f"cmd:{PYTHON} -S validator.py"


def command(folder: Path, code: str) -> str:
    path = folder / "validator.py"
    path.write_text(code, encoding="utf-8")
    return f"cmd:{PYTHON} -S {shlex.quote(str(path))}"


def verdicts(report: ValidatorReport) -> dict[str, str]:
    return {one.rule: one.verdict for one in report.rules}


@pytest.mark.slow
def test_the_validator_of_the_documentation(validator: str) -> None:
    report = check_validator(validator, rules=["slots", "heap"], max_examples=1)
    assert {(finding.case.rule, finding.case.sub_case) for finding in report.findings} == {
        ("slots", "ackers"),
        ("heap", "ackers"),
        ("heap", "shared on-heap memory"),
        ("heap", "shared on-heap memory for each worker"),
    }


def test_a_command_may_name_rules_or_say_valid(tmp_path: Path) -> None:
    says_valid = command(tmp_path, "print('{\"valid\": true}')")
    report = check_validator(says_valid, rules=[FEWEST_PARTS], max_examples=1)
    assert verdicts(report) == {FEWEST_PARTS: "misses violations"}
    says_invalid = command(tmp_path, 'print(\'{"valid": false, "violations": []}\')')
    report = check_validator(says_invalid, rules=[FEWEST_PARTS], max_examples=1)
    assert verdicts(report) == {FEWEST_PARTS: "rejects what is valid"}
    text = json.dumps({"violations": [{"rule": FEWEST_PARTS}]})
    names = command(tmp_path, f"print({text!r})")
    report = check_validator(names, rules=[FEWEST_PARTS], max_examples=1)
    assert verdicts(report) == {FEWEST_PARTS: "rejects what is valid"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('yes')", "its answer cannot be used: line 1 column 1 = 'yes"),
        (
            'print(\'{"valid": true, "violations": ["slots"]}\')',
            "its answer cannot be used: answer = ",
        ),
        ("print('{}')", "its answer cannot be used: answer = '{}': must be {\"valid\""),
        ("raise SystemExit('no idea')", "failed with exit code 1; stderr: no idea"),
        ("", "the command wrote no answer"),
    ],
)
def test_a_command_without_an_answer_fails(tmp_path: Path, code: str, said: str) -> None:
    report = check_validator(command(tmp_path, code), rules=[FEWEST_PARTS], max_examples=1)
    assert verdicts(report) == {FEWEST_PARTS: "fails"}
    assert said in str(report)


def test_a_command_that_hangs_is_asked_nothing_more(tmp_path: Path) -> None:
    hangs = command(tmp_path, "import time\ntime.sleep(60)")
    report = check_validator(hangs, rules=["slots", "heap"], time_limit_s=0.3)
    assert verdicts(report) == {"slots": "fails", "heap": "not tried"}
    (finding,) = report.findings
    assert "ended at its time limit of 0.3 s" in str(finding)
    assert not report.holds


def test_saved_cases_show_the_truth(cli: Cli, validator: str, tmp_path: Path) -> None:
    folder = tmp_path / "wrong cases"
    words = ["test-validator", validator, "--rule", FEWEST_PARTS, "--examples", 1]
    answer = cli(*words, "--save", folder)
    assert answer.code == 1
    assert f"{FEWEST_PARTS}  misses violations" in answer.out
    judging = [line.strip() for line in answer.out.splitlines() if "slotwise judge" in line]
    assert len(judging) == len(list(folder.glob("*.instance.json"))) == 4
    judged = cli(*shlex.split(judging[0])[1:])
    assert judged.code == 1
    assert "one_topology_per_worker: node n0 worker 0, t and u: 2 needed" in judged.out
    asked = folder / "one_topology_per_worker-two-tasks-breaks.stdin.json"
    assert set(json.loads(asked.read_text())) == {"instance", "placement"}


def test_a_run_is_the_same_each_time(cli: Cli, validator: str) -> None:
    words = ["test-validator", validator, "--rule", FEWEST_PARTS, "--examples", 1]
    assert cli(*words).out == cli(*words).out
    assert not Path(".hypothesis").exists()


def test_json(cli: Cli, validator: str) -> None:
    answer = cli("test-validator", validator, "--rule", FEWEST_PARTS, "--examples", 1, "--json")
    assert answer.json["rules"][0]["rule"] == FEWEST_PARTS
    assert answer.json["holds"] is (answer.code == 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["judge"], "VALIDATOR = 'judge': must be cmd:COMMAND"),
        (
            ["cmd:/no/such"],
            "command = '/no/such': cannot be run; install the program or give its path",
        ),
        (
            ["cmd:true", "--rule", "slot"],
            "rule = 'slot': is not a hard rule; did you mean 'slots'?",
        ),
        (["cmd:true", "--examples", "0"], "--examples = 0: must be from 1 to 100000"),
    ],
)
def test_mistakes_in_the_command_line(cli: Cli, words: list[str], message: str) -> None:
    answer = cli("test-validator", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"slotwise: {message}\n"


def test_a_file_is_no_folder_to_save_in(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    answer = cli("test-validator", "cmd:true", "--save", tmp_path / "file")
    assert answer.code == 2
    assert "--save" in answer.err
    assert "is not a folder" in answer.err


def test_without_hypothesis_it_says_what_to_install(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hypothesis_extra, "find_spec", lambda name: None)
    answer = cli("test-validator", "cmd:true")
    assert answer.code == 2
    assert "needs Hypothesis: pip install 'slotwise[testing]'" in answer.err
