"""The exact engines on the same instances: samples by default, all of them in the deep run."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import DEEP

from slotwise.benchmarks.experiments.agreement.engines_agree import (
    FAMILIES,
    PROGRAM,
    Sweep,
    add_options,
    made,
    on_files,
    sweep_of,
)
from slotwise.benchmarks.experiments.agreement.panel import PANEL, Answer, disagreements
from slotwise.benchmarks.experiments.agreement.rule_coverage import OF_WORKLOADS, RULES, rules_in
from slotwise.benchmarks.experiments.agreement.tally import InstanceRow, Tally
from slotwise.benchmarks.experiments.catalogue import run_experiment
from slotwise.models.errors import InternalError
from slotwise.models.formats.row_file import RowFile
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import ALONE, TERM_PARTS, Instance, parts_of
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.instance_file import instance_text, read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.magnitudes import largest_terms
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.exhaustive import EXHAUSTIVE

LIMITS = Limits(time_s=20.0)


EACH = 12 if DEEP else 6
"""Instances of a family; `test_daily` draws others each day."""
ANY_OBJECTIVES = 200 if DEEP else 50

FOUR = ("exhaustive", "configurations", "cp-sat", "milp")


def all_are_answered(tally: Tally) -> None:
    """Every engine settles all that it takes; the solver of doubles may end a step short."""
    short = {engine for engine, _ in tally.ended}
    assert short <= {"milp"}
    assert {engine for engine, _ in tally.refused} <= {"configurations", "milp"}
    for (engine, reason), _ in tally.refused.items():
        assert ("as a matrix" if engine == "configurations" else "floating point") in reason
    assert tally.settled["", "milp"] >= 0.9 * tally.instances
    for rule in RULES - {"symmetric matrix", "asymmetric matrix"}:
        assert tally.settled[rule, "configurations"] > 0 or not tally.count(rule)


@pytest.mark.slow
def test_tiny_instances(note: list[str]) -> None:
    tally = Sweep("tiny", 1, range(24), FOUR, time_s=20.0).run()
    note += list(tally.lines())[-1:]
    assert tally.mismatches == []
    all_are_answered(tally)


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize("family", ["tiny", "presolve", "widely-scaled"])
def test_all_engines(family: str, note: list[str]) -> None:
    tally = Sweep(family, 2, range(1, EACH + 1), time_s=20.0).run()
    note += list(tally.lines())[-1:]
    assert tally.mismatches == []
    assert set(tally.seconds) == set(PANEL)
    for engine in ("exhaustive", "cp-sat", "auto", "auto-2"):
        assert tally.settled["", engine] == EACH
    # Doubles do not keep large numbers apart: milp leaves the terms after such a one open.
    assert tally.settled["", "milp"] >= EACH - (2 if family == "tiny" else 4)


@pytest.mark.slow
def test_mid_size_instances(note: list[str]) -> None:
    three = ("cp-sat", "configurations", "milp")
    tally = Sweep("mid-size", 0, range(21, 24), three, time_s=10.0).run()
    note += list(tally.lines())[-1:]
    assert tally.mismatches == []
    assert tally.by_count[3] >= 2, "three, were this machine alone"


@pytest.mark.slow
def test_every_rule_occurs_with_and_without_a_placement() -> None:
    seen: Counter[tuple[str, Status]] = Counter()
    count = 400 if DEEP else 200
    for number in range(count):
        instance = made("tiny", 0, number)
        outcome = EXHAUSTIVE.run(compile_problem(instance), LIMITS, None)
        seen.update((rule, outcome.status) for rule in rules_in(instance))
    assert min(seen[rule, Status.OPTIMAL] for rule in RULES) >= count // 30
    assert min(seen[rule, Status.INFEASIBLE] for rule in RULES) >= count // 130


def test_mid_size_instances_hold_rules_and_are_mid_size() -> None:
    instances = [made("mid-size", 0, number) for number in range(150)]
    assert all(15 <= len(i.task_names()) <= 40 for i in instances)
    assert all(4 <= len(i.cluster.nodes) <= 10 for i in instances)
    seen = Counter(rule for i in instances for rule in rules_in(i))
    left_out = {"ackers", "symmetric matrix", "asymmetric matrix", "generic resource", "decimals"}
    left_out |= {"unlimited capacity", "one task per worker", "parallelism 0", "rates"}
    left_out |= {"grouping all", "grouping global", "no slots", "unlimited slots"}
    left_out |= {"parallel streams"}
    assert min(seen[rule] for rule in RULES - left_out) >= 3


def pair() -> tuple[Problem, Outcome]:
    """Two tasks with a flow on two nodes: together on one node is best."""
    topology = Topology("t", (Component("a", "spout", 1), Component("b", "bolt", 1)))
    topology = replace(topology, streams=(Stream("a", "b"),))
    nodes = (Node("n1", "r"), Node("n2", "r", resources={"cpu": Decimal(0)}))
    problem = compile_problem(Instance("pair", Cluster(nodes), (topology,)))
    return problem, EXHAUSTIVE.run(problem, LIMITS, None)


def answer(outcome: Outcome, engine: str = "other") -> Answer:
    return Answer(engine, outcome, "", 0.0)


def test_the_truth_agrees_with_itself() -> None:
    problem, truth = pair()
    assert truth.values == (0, 0)
    assert disagreements(problem, [answer(truth), answer(truth, "again")]) == ()


APART = Placement((0, 1), (0, 0))
WRONG: dict[str, tuple[Outcome, str]] = {
    "worse optimum": (Outcome(Status.OPTIMAL, APART, (0, 2), (0, 2), ""), "optimal"),
    "no placement": (Outcome(Status.INFEASIBLE, None, None, (None, None), ""), "infeasible"),
    "false value": (Outcome(Status.FEASIBLE, APART, (0, 1), (0, 0), ""), "judge"),
    "false bound": (Outcome(Status.FEASIBLE, APART, (0, 2), (0, 1), ""), "bound 1"),
    "open bound": (Outcome(Status.OPTIMAL, APART, (0, 2), (0, 0), ""), "bounds"),
    "lost placement": (Outcome(Status.FEASIBLE, None, None, (0, None), ""), "placement"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_false_claim_is_found(case: str) -> None:
    problem, truth = pair()
    claim, words = WRONG[case]
    found = disagreements(problem, [answer(truth, "exhaustive"), answer(claim)])
    assert any(words in line for line in found), found


def test_a_placement_where_there_is_none_is_found() -> None:
    problem, truth = pair()
    none = Outcome(Status.INFEASIBLE, None, None, (None, None), "")
    open_end = replace(truth, status=Status.FEASIBLE, bounds=(0, None))
    found = disagreements(problem, [answer(none, "first"), answer(open_end)])
    assert any("where there is none" in line for line in found)


class Claims:
    """An engine that says the same of every problem; counts how often it is asked."""

    def __init__(self, claim: Outcome | Exception) -> None:
        self.claim = claim
        self.asked = 0

    def __call__(self, problem: Problem, limits: Limits) -> Outcome:
        self.asked += 1
        if isinstance(self.claim, Exception):
            raise self.claim
        return self.claim


@pytest.fixture
def liar(monkeypatch: pytest.MonkeyPatch) -> Claims:
    claims = Claims(Outcome(Status.INFEASIBLE, None, None, (None,), ""))
    monkeypatch.setitem(PANEL, "liar", claims)
    return claims


def test_a_mismatch_is_printed_with_a_file_that_shows_it_again(
    liar: Claims, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--engines", "exhaustive,liar"]
    words = ["--family", "presolve", "--count", "1", "--faults", str(tmp_path), *asked]
    assert run_experiment("engines_agree", words) == 1
    said = capsys.readouterr()
    kept = tmp_path / "presolve-0-0.json"
    assert "liar infeasible" in said.out
    assert f"again: {PROGRAM} {kept} --seed 0 --engines exhaustive,liar" in said.err
    assert instance_text(read_instance(kept)) in said.err
    assert run_experiment("engines_agree", [str(kept), *asked]) == 1
    assert run_experiment("engines_agree", [str(kept), "--engines", "exhaustive"]) == 0


@pytest.mark.parametrize(
    ("error", "words"),
    [(InternalError("0 is not 1"), "internal error: 0 is not 1"), (KeyError("x"), "KeyError: 'x'")],
)
def test_what_an_engine_raises_is_a_mismatch(liar: Claims, error: Exception, words: str) -> None:
    liar.claim = error
    (line,) = Sweep("presolve", 0, range(1), ("exhaustive", "liar")).run().mismatches
    assert line.startswith("instance 0: liar fails: ")
    assert words in line


def test_a_run_goes_on_where_its_rows_end(liar: Claims, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    liar.claim = NotTakenError("not today")
    sweep = Sweep("presolve", 0, range(3), ("exhaustive", "liar"), rows=rows)
    first = sweep.run()
    with rows.open("a") as file:
        file.write('{"number": 3, "ru')  # killed while it wrote
    again = replace(sweep, numbers=range(4)).run()
    assert liar.asked == 4
    assert (first.instances, again.instances) == (3, 4)
    assert again.refused["liar", "not today"] == 4
    assert [row.number for row in RowFile(rows, InstanceRow).rows] == [0, 1, 2, 3]


def test_instances_with_a_mismatch_are_asked_about_again(liar: Claims, tmp_path: Path) -> None:
    sweep = Sweep("presolve", 0, range(1), ("exhaustive", "liar"), rows=tmp_path / "rows.jsonl")
    assert sweep.run().mismatches != []
    liar.claim = NotTakenError("not today")
    assert sweep.run().mismatches == []


def test_shards_share_the_instances() -> None:
    parser = ArgumentParser()
    add_options(parser)

    def numbers(shard: str) -> set[int]:
        words = ["--count", "10", "--first", "5", "--shard", shard]
        return set(sweep_of(parser.parse_args(words)).numbers)

    shards = [numbers(f"{index}/3") for index in range(3)]
    assert sorted(number for one in shards for number in one) == list(range(5, 15))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--shard", "3/3"], "shard"),
        (["--shard", "x"], "shard"),
        (["--engines", "a"], "engines"),
        (["missing.json"], "missing.json"),
    ],
)
def test_bad_usage_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_experiment("engines_agree", words) == 2
    error = capsys.readouterr().err
    assert error.startswith("engines_agree: ")
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - {"workload"}))
def test_numbers_of_widely_differing_size_are_drawn(family: str) -> None:
    rates = [
        float(stream.rate)
        for number in range(60)
        for topology in made(family, 0, number).topologies
        for stream in topology.streams
        if stream.rate
    ]
    assert min(rates) < 1e-3
    assert max(rates) > 1e6
    assert any(rate % 1e-5 for rate in rates)


def test_some_terms_end_just_below_the_limit() -> None:
    problems = [compile_problem(made("tiny", 0, number)) for number in range(200)]
    assert max(max(largest_terms(problem)) for problem in problems) > 2**52


@pytest.mark.slow
def test_every_engine_takes_some_tiny_instances() -> None:
    problems = [compile_problem(made("tiny", 0, number)) for number in range(600)]
    for engine in ENGINES.values():
        assert sum(engine.supports(problem) is None for problem in problems) >= 4, engine.name


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_experiment("engines_agree", ["--count", "3", "--seed", "5"]) == 0
    shown = capsys.readouterr().out
    assert "several topologies" in shown
    assert "3 instances" in shown
    assert "0 mismatches" in shown


SAVED = sorted((Path(__file__).parent / "disagreements").glob("*.json"))
"""Instances on which engines disagreed or failed once."""


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_what_was_wrong_once_stays_right(path: Path) -> None:
    engines = ("exhaustive", "configurations", "connected", "cp-sat", "milp", "columns", "auto")
    tally = on_files([str(path)], 0, engines, 20.0)
    assert tally.mismatches == []
    assert tally.settled["", "auto"] == tally.settled["", "exhaustive"] == 1


@pytest.mark.slow
def test_any_objective_has_one_optimum(note: list[str]) -> None:
    """Sequences of any terms, with and without what runs; see `with_any_objective`."""
    engines = ("exhaustive", "configurations", "columns", "auto")
    tally = Sweep("tiny", 24, range(ANY_OBJECTIVES), engines, time_s=20.0).run()
    note += list(tally.lines())[-1:]
    assert tally.mismatches == []
    assert tally.settled["", "auto"] >= 0.97 * ANY_OBJECTIVES


@pytest.mark.slow
def test_objectives_are_sequences_of_any_terms() -> None:
    instances = [made("tiny", 0, number) for number in range(600)]
    orders = Counter(instance.objective.terms for instance in instances)
    assert len(orders) > 250
    assert {len(terms) for terms in orders} == {1, 2, 3, 4}
    places = {
        (part, index)
        for terms in orders
        for index, term in enumerate(terms)
        for part in parts_of(term)
    }
    assert places == {(part, index) for part in {*TERM_PARTS} - {*ALONE} for index in range(4)}
    running = [instance for instance in instances if instance.running is not None]
    assert 200 < len(running) < 400
    assert sum(bool(one.objective.limits) for one in running) > 60
    assert sum(bool(one.objective.soft) for one in running) > 60
    bare = [one for one in instances if not any(n.resources for n in one.cluster.nodes)]
    assert len(bare) > 20
    assert [made("tiny", 0, number) for number in range(20)] == instances[:20]


def test_workloads_hold_all_that_a_workload_can() -> None:
    instances = [made("workload", 0, number) for number in range(200)]
    seen = Counter(rule for instance in instances for rule in rules_in(instance))
    assert min(seen[rule] for rule in OF_WORKLOADS) >= 10
    places = Counter(instance.objective.terms.index("bottleneck") for instance in instances)
    assert set(places) == {0, 1, 2, 3}


@pytest.mark.slow
@pytest.mark.in_turn
def test_workloads(note: list[str]) -> None:
    engines = ("exhaustive", "cp-sat", "milp", "auto", "auto-2")
    tally = Sweep("workload", 3, range(60), engines, time_s=20.0).run()
    note += list(tally.lines())[-1:]
    assert tally.mismatches == []
    assert tally.settled["", "exhaustive"] == tally.settled["", "auto"] == 60
    assert min(tally.settled["", engine] for engine in ("cp-sat", "milp")) >= 25
