"""The plug-in in a pytest of its own: what it collects, tells and leaves alone."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from conftest import Cli

import slotwise.testing.checks.functions  # noqa: F401 (modules that a run in this process loads go)

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "slotwise.testing.pytest_plugin")
ALWAYS_FORGETS = """
from slotwise.models.instance.placement import UNPLACED, Placement

def scheduler(instance):
    with open("asked.txt", "a") as file:
        file.write(f"{instance.task_names()}\\n")
    count = len(instance.task_names())
    return Placement((UNPLACED,) * count, (UNPLACED,) * count)
"""
REFUSES = """
from slotwise.models.instance_file import instance_hash

def scheduler(instance):
    with open("asked.txt", "a") as file:
        file.write(f"{instance_hash(instance)}\\n")
    return {"refused": "not today"}
"""
PROFILE = """
from hypothesis import settings
settings.register_profile("few", max_examples=4, database=None)
"""


SIGNS_OF_CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "CIRCLECI", "TF_BUILD")
"""With these Hypothesis keeps no database and draws the same instances whatever the seed."""


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder for a pytest of its own; modules in it do not stay loaded."""
    monkeypatch.syspath_prepend(pytester.path)
    for name in SIGNS_OF_CI:
        monkeypatch.delenv(name, raising=False)
    pytester.makeini("[pytest]\n")
    return pytester


def run(inner: pytest.Pytester, *words: str) -> pytest.RunResult:
    return inner.runpytest_inprocess(*PLUGIN, *words)


def asked(inner: pytest.Pytester) -> list[str]:
    """Return what the scheduler of the inner run was asked."""
    return (inner.path / "asked.txt").read_text().splitlines()


def test_each_check_without_a_threshold_is_a_test(inner: pytest.Pytester):
    result = run(inner, "--slotwise-scheduler", "r-storm", "--collect-only", "-q")
    names = ("valid", "complete", "deterministic", "names", "order", "capacity", "node-loss")
    assert [line for line in result.outlines if line.startswith("slotwise")] == [
        f"slotwise::{name}" for name in names
    ]


@pytest.mark.slow
def test_a_check_that_holds_passes(inner: pytest.Pytester):
    result = run(inner, "--slotwise-scheduler", "r-storm", "--slotwise-check", "deterministic")
    result.assert_outcomes(passed=1)


def test_a_failure_tells_instance_and_command(inner: pytest.Pytester, cli: Cli):
    inner.makepyfile(mine=ALWAYS_FORGETS)
    options = ("--slotwise-scheduler", "mine:scheduler", "--slotwise-check", "complete")
    result = run(inner, *options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*mine:scheduler fails complete on 1 task, 1 node: topology-1: 0 of 1 tasks placed*"]
    )
    result.stdout.fnmatch_lines(['*"format": "slotwise.instance/1",*'])
    told = next(line for line in result.outlines if line.startswith("Reproduce with: "))
    again = cli(*shlex.split(told.removeprefix("Reproduce with: "))[1:])
    assert again.code == 1
    assert "0 of 1 tasks placed" in " ".join(again.out.split())


@pytest.mark.slow
def test_a_threshold_counts(inner: pytest.Pytester):
    options = ("--slotwise-scheduler", "round-robin", "--slotwise-check", "gap<=1")
    run(inner, *options).assert_outcomes(passed=1)
    options = ("--slotwise-scheduler", "round-robin", "--slotwise-check", "gap<=0")
    run(inner, *options).assert_outcomes(failed=1)


@pytest.mark.slow
def test_what_judges_nothing_does_not_pass(inner: pytest.Pytester):
    inner.makepyfile(mine=REFUSES)
    result = run(inner, "--slotwise-scheduler", "mine:scheduler", "--slotwise-check", "valid")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*not judged: the scheduler refuses*"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--slotwise-scheduler", "r-strom"), "*did you mean 'r-storm'*"),
        (("--slotwise-scheduler", "cmd:./no/such"), "*./no/such*cannot be run*"),
        (("--slotwise-check", "valid"), "*--slotwise-check needs --slotwise-scheduler*"),
        (("--slotwise-kind", "tight"), "*--slotwise-kind needs --slotwise-scheduler*"),
        (("--slotwise-scheduler", "r-storm", "--slotwise-check", "gap"), "*gap<=NUMBER*"),
        (("--slotwise-scheduler", "r-storm", "--slotwise-kind", "tigt"), "*did you mean 'tight'*"),
    ],
)
def test_bad_options_are_one_line(inner: pytest.Pytester, options: tuple[str, ...], message: str):
    result = run(inner, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_without_the_option_nothing_of_ours_is_loaded(inner: pytest.Pytester):
    inner.makepyfile(
        test_loaded="""
        import sys

        def test_loaded():
            ours = [name for name in sys.modules if name.startswith("slotwise")]
            assert sorted(ours) == [
                "slotwise", "slotwise.testing", "slotwise.testing.pytest_plugin"
            ]
            assert "hypothesis" not in sys.modules
            assert "numpy" not in sys.modules
        """
    )
    result = inner.runpytest_subprocess(*PLUGIN, "-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1)


def test_it_is_an_entry_point_of_pytest(root: Path):
    import tomllib

    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    name = "slotwise.testing.pytest_plugin"
    assert project["entry-points"]["pytest11"] == {name: name}


@pytest.mark.slow
def test_the_database_of_hypothesis_keeps_a_failure(inner: pytest.Pytester):
    """The second run asks for the failing instance before any other."""
    inner.makepyfile(
        mine="""
        import json
        from slotwise.models.instance.placement import UNPLACED, Placement

        def scheduler(instance):
            with open("asked.txt", "a") as file:
                file.write(f"{instance.task_names()}\\n")
            count = len(instance.task_names())
            if count < 4:
                return {"refused": "too few"}
            return Placement((UNPLACED,) * count, (UNPLACED,) * count)
        """,
        conftest="""
        from hypothesis import settings
        settings.register_profile("kept", max_examples=100)
        settings.load_profile("kept")
        """,
    )
    options = ("--slotwise-scheduler", "mine:scheduler", "--slotwise-check", "complete")
    first = inner.runpytest_subprocess(*PLUGIN, *options)
    first.assert_outcomes(failed=1)
    assert (inner.path / ".hypothesis" / "examples").is_dir()
    (inner.path / "asked.txt").unlink()
    inner.runpytest_subprocess(*PLUGIN, *options).assert_outcomes(failed=1)
    after_the_corners = asked(inner)[2]
    assert after_the_corners.count("(") >= 4


@pytest.mark.slow
def test_profile_and_seed_of_hypothesis_count(inner: pytest.Pytester):
    inner.makepyfile(mine=REFUSES, conftest=PROFILE)
    options = ("--slotwise-scheduler", "mine:scheduler", "--slotwise-check", "valid")
    drawn = []
    for seed in ("1", "1", "2"):
        words = (*PLUGIN, *options, "--hypothesis-profile", "few", "--hypothesis-seed", seed)
        inner.runpytest_subprocess(*words).assert_outcomes(failed=1)
        drawn.append(asked(inner))
        (inner.path / "asked.txt").unlink()
    assert all(2 < len(lines) <= 2 + 4 for lines in drawn)
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
