"""Every experiment runs, with the smallest setting that it has; figures are not judged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from assignments import document
from proofs_in_process import a_row, answer_in_process
from shared_clusters import planted
from small_storm_cluster import SMALL

from slotwise.benchmarks.experiments import catalogue
from slotwise.benchmarks.experiments.__main__ import main
from slotwise.benchmarks.experiments.catalogue import EXPERIMENTS, Experiment, run_experiment
from slotwise.benchmarks.experiments.measuring.broker import JARS
from slotwise.benchmarks.experiments.speed import memory_limits
from slotwise.benchmarks.experiments.storm import evictions, ras_speed
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.models.instance_file import instance_text

LIMIT = ("--time-limit", "0.3")
TASK = ("--task", "sleep_20_ms")
LOCAL = ("--master", "local[1]", "--memory", "600m")
SMALLEST: dict[str, tuple[str, ...]] = {
    "proofs": ("--family", "rstorm", "--count", "1", "--textbook", *LIMIT),
    "storm_proofs": ("{cluster}", *LIMIT),
    "paired_proofs": ("{rows}", "{rows}"),
    "storm_like_proofs": ("--count", "1", "--tasks", "50-60", *LIMIT),
    "storm_like_fit": ("--count", "3"),
    "storm_like_tables": ("{cluster}",),
    "assignment_proofs": ("{assignment}", *LIMIT),
    "matrix_proofs": ("--count", "1", "--root-time-limit", "0.1", *LIMIT),
    "partition_proofs": ("--instances", "{partitions}", *LIMIT, "--textbook-limit", "0.3"),
    "partition_family": ("--count", "1", "--engines", "cp-sat", *LIMIT),
    "partitions_agree": ("--count", "5"),
    "throughput_price": ("--family", "rstorm", "--first", "7", "--count", "1", *LIMIT),
    "prediction_agrees": ("--count", "2", "--tuples", "200"),
    "fewest_moves": ("--count", "1", "--tiny", "2", *LIMIT),
    "fronts": ("--count", "1", "--max-moves", "2", *LIMIT),
    "machine_loss": ("--count", "1", *LIMIT),
    "stromax_rebalance": ("--small", "--count", "1", *LIMIT),
    "whole_cluster": ("{shared}", *LIMIT, "--time-limit-each", "0.3"),
    "explain_conflicts": ("--count", "2"),
    "contradictions": ("--count", "2", "--feasible", "4", "--most-tasks", "60"),
    "rstorm_window": (),
    "rstorm_table": ("--method", "round-robin", "--time-limit", "0.01"),
    "engines_agree": ("--count", "1", "--faults", "{folder}", *LIMIT),
    "storm_times": ("--random", "0"),  # Storm's scheduler: test_storm_differential
    "storm_sequence": ("{cluster}", "--methods", "round-robin", *LIMIT),
    "ras_choices": ("--count", "1", "--time-limit", "0.1"),
    "ras_speed": (),
    "measured_round_trip": ("--count", "1", "--buckets", "5", "--master", "local[1]"),
    "measure_damage": ("--mixtures", "1", "--master", "local[1]"),
    "measure_shapes": ("--shapes", "month,zstd", "--lines", "0.001", "--master", "local[1]"),
    "judge_speed": ("--parallelism", "5"),
    "predict_speed": ("--tasks", "60", "--nodes", "5", "--topologies", "2"),
    "cp_sat_work": ("--count", "1", *LIMIT),
    "grading_speed": ("--part", "heuristics", "--instances", "2", "--report-only"),
    "cli_speed": ("--runs", "1"),
    "slots": ("--part", "large", "--count", "1", "--time-limit", "1"),
    "masters_agree": ("--count", "1", "--methods", "round-robin"),
    "follow_speed": ("--lines", "0.001", "--master", "local[1]"),
    "follow_killed": ("--kills", "2", "--lines", "600", "--files", "2"),
    "profile_accuracy": (*("--seconds", "0.1", "--threads", "1", "--resolution", "0.5"), *TASK),
    "partition_speed": ("--edges", "2000", "--methods", "ldg", "--parts", "4"),
    "statistics_speed": ("{instance}", "--lines", "0.003", "--sample", "2000", *LOCAL),
    "interrupts": ("{instance}", "--moments", "1", "--least", "0.1", "--most", "0.2"),
    "planned_runs": ("--runs", "120", "--todo", "5", "--files", "2", "--master", "local[1]"),
    "summary_speed": ("--runs", "100", "--methods", "5"),
    # It declines at once: the limit is never near, however busy the machine.
    "time_limits": ("--shape", "mid", "--engine", "exhaustive", "--time-limit", "20"),
    "memory_limits": ("--limits", "900", *LIMIT),
}


@pytest.fixture
def files(tmp_path: Path, root: Path) -> dict[str, str]:
    """What stands for the names in braces."""
    cluster, assignment = tmp_path / "cluster.json", tmp_path / "assignment.json"
    cluster.write_text(json.dumps(SMALL))
    assignment.write_text(json.dumps(document(np.random.default_rng(1), 5, 3, 0.6)))
    partitions = tmp_path / "partitions"
    partitions.mkdir()
    (partitions / "1.json").write_text(assignment.read_text())
    instance = root / "docs" / "examples" / "word-count.json"
    named = {"cluster": cluster, "assignment": assignment, "instance": instance, "folder": tmp_path}
    shared = tmp_path / "shared.json"
    shared.write_text(instance_text(planted(np.random.default_rng(1), 2)))
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(a_row().to_document()) + "\n")
    named |= {"partitions": partitions, "shared": shared, "rows": rows}
    return {name: str(path) for name, path in named.items()}


SLOW = {
    *("follow_killed", "masters_agree", "measure_damage", "measured_round_trip", "planned_runs"),
    *("measure_shapes", "follow_speed"),
    "statistics_speed",
}
"""They start Spark again and again, for minutes; `following` and `statistics` test the parts."""

PROOFS_IN_PROCESSES = {"proofs", "memory_limits"}
"""Experiments that measure proofs in a process each here, too; of the others this one proves."""

ELSEWHERE = {"storm_throughput"}
"""It needs root: `test_throughput`."""

RUNS = [
    pytest.param(name, marks=[pytest.mark.deep] * (name in SLOW))
    for name in EXPERIMENTS
    if name not in ELSEWHERE
]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_every_experiment_runs(
    name: str,
    files: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if name == "follow_speed" and not JARS.is_dir():
        pytest.skip("make kafka has not been run")
    if name not in PROOFS_IN_PROCESSES:
        answer_in_process(monkeypatch)
    monkeypatch.setattr(ras_speed, "EXECUTORS", (20,))
    monkeypatch.setattr(evictions, "LAST", 6)
    monkeypatch.setattr(memory_limits, "SHAPES", memory_limits.SHAPES[-1:])
    code = main([name, *(word.format(**files) for word in SMALLEST[name])])
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    assert said.out.strip()


MEASURING_PROOFS = (
    *("proofs", "storm_proofs", "storm_like_proofs", "assignment_proofs", "matrix_proofs"),
    *("partition_proofs", "memory_limits"),
)


@pytest.mark.parametrize("name", MEASURING_PROOFS)
@pytest.mark.parametrize("wrong", [("--time-limit", "-1"), ("--engine", "nope")], ids=" ".join)
def test_wrong_options_of_proofs_are_one_line_before_the_table(
    name: str, wrong: tuple[str, str], files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, *(word.format(**files) for word in SMALLEST[name]), *wrong]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"{name}: {wrong[0]} = ")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("proofs", "--textbook-limit"),
        ("partition_proofs", "--textbook-limit"),
        ("matrix_proofs", "--root-time-limit"),
        ("matrix_proofs", "--seed"),
        ("assignment_proofs", "--seed"),
        ("memory_limits", "--limits"),
        ("whole_cluster", "--time-limit"),
        ("whole_cluster", "--time-limit-each"),
    ],
)
def test_other_limits_and_seeds_are_checked_before_anything_runs(
    name: str, option: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.format(**files) for word in SMALLEST[name]]
    assert main([name, *words, option, "-1"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"{name}: {option} = -1")


def test_a_whole_cluster_has_two_topologies(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["whole_cluster", files["instance"]]) == 2
    rule = "must have at least two topologies with tasks, and distances given by level"
    assert capsys.readouterr().err == f"whole_cluster: {files['instance']}: {rule}\n"
    assert main(["whole_cluster", files["shared"], "--method", "nope"]) == 2
    assert "whole_cluster: method = 'nope': " in capsys.readouterr().err


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_help_says_what_an_experiment_shows(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(f"usage: python -m slotwise.benchmarks.experiments {name} ")
    assert EXPERIMENTS[name].shows in said


def test_the_list_names_them_all(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out
    page = (root / "benchmarks" / "README.md").read_text(encoding="utf-8")
    for name, experiment in EXPERIMENTS.items():
        assert f"{experiment.shows}\n" in listed
        assert f"| `{name}` |" in page
    assert main(["prooofs"]) == 2
    assert "'prooofs' is not an experiment" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("no", has_value=False), 2, "no"),
        (SlotwiseError("no"), 1, "no"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(
    error: BaseException,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Failing:
        @staticmethod
        def add_options(parser: object) -> None: ...

        @staticmethod
        def run(options: object) -> None:
            raise error

    monkeypatch.setitem(EXPERIMENTS, "failing", Experiment("failing", "how one fails"))
    monkeypatch.setattr(catalogue, "import_module", lambda name, package: Failing)
    assert run_experiment("failing", []) == code
    assert capsys.readouterr().err == f"failing: {line}\n"
