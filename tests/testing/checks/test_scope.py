"""Schedulers of limited scope: instances within it, refusals counted apart."""

from __future__ import annotations

import limited_schedulers as limited
import pytest
from conftest import Cli
from hypothesis import given, settings
from planted_faults import exact

from slotwise.heuristics.method import Method
from slotwise.heuristics.ours import HEURISTICS
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Place
from slotwise.models.instance.placement import Placement, from_places, to_places
from slotwise.models.instance.topology import Ackers, Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.testing.checks.functions import CheckFailed, NothingJudged, check
from slotwise.testing.checks.report import Report
from slotwise.testing.checks.scheduler import Testable, as_scheduler
from slotwise.testing.checks.scope import RULES, supported, within
from slotwise.testing.checks.search import Budget, search
from slotwise.testing.checks.table import DEFAULT, parse_demand
from slotwise.testing.checks.trial import UNSUPPORTED, Trial
from slotwise.testing.strategies.instances import feasible_pairs, instances

SOME = settings(max_examples=30)
SMALL = {"most_tasks": 4, "most_nodes": 3}


def report(scheduler: Testable, demand: str, examples: int = 30, rules: str = "") -> Report:
    named = frozenset(rules.split(",")) if rules else None
    trial = Trial(as_scheduler(scheduler), rules=named)
    return search(parse_demand(demand), trial, budget=Budget(examples, 0))


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize("demand", ["valid", "admits>=1", "names", "order", "deterministic"])
def test_an_honest_scheduler_is_asked_what_it_supports(demand: str):
    found = report("limited_schedulers:HONEST", demand, examples=25)
    assert found.failure is None
    assert UNSUPPORTED not in found.not_judged
    assert found.judged >= 15


def test_the_rules_can_be_named_for_what_does_not_say_what_it_supports():
    with pytest.raises(CheckFailed):
        check(limited.knows_three_rules, "valid", max_examples=25, seed=0)
    found = check(limited.knows_three_rules, "valid", max_examples=25, seed=0, rules=limited.KNOWN)
    assert found.judged >= 20


def test_a_loss_of_a_node_stays_within_the_rules():
    found = report(limited.knows_three_rules, "node-loss", rules=",".join(limited.KNOWN))
    assert found.failure is None
    assert found.judged >= 5


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize("demand", [*map(str, DEFAULT), "time<=9", "moves<=1"])
def test_refusals_never_hold(demand: str):
    found = report(limited.refuses_all, demand, examples=4)
    assert (found.judged, found.failure) == (0, None)
    assert found.refused == found.examples - found.not_judged.get("nothing runs", 0)
    with pytest.raises(NothingJudged):
        check(limited.refuses_all, demand, max_examples=2, seed=0)


@pytest.mark.slow
@pytest.mark.in_turn
@SOME
@given(instances(**SMALL))
def test_without_a_rule_its_violations_are_gone(instance: Instance):
    plain = within(instance, ())
    for rule in ("capacity", "slots", "heap", "max_per_node", "incompatible", "max_moved"):
        without = within(instance, set(RULES) - {rule})
        answer = Placement(*[(0,) * len(without.task_names())] * 2)
        assert rule not in {found.rule for found in judge(without, answer).violations}
    assert within(instance, RULES) == instance
    assert within(plain, ()) == plain
    answer = Placement(*[(0,) * len(plain.task_names())] * 2)
    assert judge(plain, answer).valid


@SOME
@given(feasible_pairs(**SMALL))
def test_without_a_rule_what_was_feasible_stays_so(pair: tuple[Instance, Placement]):
    instance, placement = pair
    places = to_places(instance, placement)
    for rule in RULES:
        made = within(instance, set(RULES) - {rule})
        kept: dict[str, dict[str, Place]] = {}
        for topology, task in made.task_names():
            kept.setdefault(topology, {})[task] = places[topology][task]
        assert judge(made, from_places(made, kept)).valid, rule


def test_without_ackers_nothing_tracks_tuples():
    parts = (Component("a", "spout", 1),)
    tracked = Topology("t", parts, ackers=Ackers(1), acked=True)
    instance = Instance("acked", Cluster((Node("n", "r"),)), (tracked,))
    (plain,) = within(instance, set(RULES) - {"ackers"}).topologies
    assert plain == Topology("t", parts)


@settings(max_examples=20)
@given(instances(**SMALL))
def test_our_methods_support_what_is_made_for_them(instance: Instance):
    for name in ("ras-paper", "r-storm-1.0", "stromax-bootstrap"):

        def accepts(one: Instance, method: Method = HEURISTICS[name]) -> bool:
            return method.supports(compile_problem(one)) is None

        made = supported(instance, accepts)
        assert accepts(made) or not accepts(within(instance, ()))
        assert made == instance or not accepts(instance)


def test_what_is_supported_stays_as_it_is_and_nothing_is_taken_in_vain():
    def has_no_matrix(instance: Instance) -> bool:
        return instance.cluster.matrix is None

    @SOME
    @given(instances(**SMALL))
    def holds(instance: Instance) -> None:
        assert supported(instance, has_no_matrix) == within(instance, set(RULES) - {"matrix"})

    holds()


@pytest.mark.slow
@pytest.mark.in_turn
def test_the_command_tells_refusals_from_what_holds(cli: Cli):
    words = ("--check", "names", "--examples", 5, "--seed", 0)
    answer = cli("test-scheduler", "limited_schedulers:refuses_all", *words)
    assert answer.code == 3
    assert "0 of 1 checks hold" in answer.out
    assert "7 instances: the scheduler refuses" in answer.out
    answer = cli(
        "test-scheduler", "limited_schedulers:knows_three_rules", *words, "--rules", "slots"
    )
    assert answer.code == 0, answer


def test_an_unknown_rule_is_refused(cli: Cli):
    answer = cli("test-scheduler", "r-storm", "--rules", "slots,capacty")
    assert answer.code == 2
    assert "did you mean 'capacity'" in answer.err
    with pytest.raises(InputError, match="did you mean 'heap'"):
        check(exact, "valid", rules=["hep"])
