"""A plan as a placement instance: threads, demands, rates, nodes, and both steps together."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sam_cases import chain, dataflows, model, models

import slotwise
from slotwise.models.allocation.as_instance import MEMORY_MB, as_instance
from slotwise.models.allocation.load import Routing
from slotwise.models.allocation.plan import Bundle, Plan, Slot, Vm, VmSize
from slotwise.models.dataflow import Dataflow
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_from_text, instance_text
from slotwise.models.micro_dags import MICRO_DAGS
from slotwise.models.performance.file import article_models
from slotwise.models.performance.model import PerformanceModel
from slotwise.solver.allocation import METHODS, Question, allocate

TWO = {"x": model("x", (1, 3, 50, 20)), "y": model("y", (1, 10, 40, 10), (3, 20, 100, 30))}
SIZE = VmSize("S", 2, Fraction(1))
PLAN = Plan(
    Fraction(5),
    (Vm("a", SIZE), Vm("b", SIZE, "far")),
    (
        Slot("a", 0, (Bundle("x", 1, Fraction(2)),)),
        Slot("b", 1, (Bundle("x", 1, Fraction(3)), Bundle("y", 3, Fraction(5)))),
    ),
)


def test_by_hand() -> None:
    """x: 50 * 2/3 + 50 = 83.33 % CPU by 2 threads; y: 100 * 5/20 = 25 % by 3."""
    made = as_instance(PLAN, chain("x", "y"), TWO, Routing.PLANNED)
    (topology,) = made.topologies
    x, y = topology.components
    assert (x.id, x.kind, x.parallelism) == ("x", "spout", 2)
    assert (y.id, y.kind, y.parallelism) == ("y", "bolt", 3)
    assert x.resources["cpu"] == Decimal("41.667")  # 41.6666..., rounded up
    assert y.resources["cpu"] == Decimal("8.334")
    assert x.resources["onheap_mb"] == Decimal("597.334")  # 20 * 5/3 / 2 = 16.66 % of 3584 MB
    (stream,) = topology.streams
    assert (stream.source, stream.target, stream.rate) == ("x", "y", 5)
    assert (topology.workers, topology.worker_max_heap_mb) == (2, MEMORY_MB)
    assert [(node.id, node.rack, node.slots) for node in made.cluster.nodes] == [
        ("a", "rack-1", 2),
        ("b", "far", 2),
    ]
    assert made.cluster.nodes[0].resources == {"cpu": 200, "memory_mb": 7168}
    assert (made.flow, made.objective.soft) == ("rates", {"cpu": 1})


def test_a_rate_without_a_decimal_form_is_rounded() -> None:
    made = as_instance(PLAN, chain("x", "y", selectivity="1/3"), TWO, Routing.PLANNED)
    assert made.topologies[0].streams[0].rate == Decimal("1.666667")


def test_a_plan_without_threads() -> None:
    with pytest.raises(InputError, match="has no threads to place"):
        as_instance(Plan(Fraction(5), PLAN.vms, ()), chain("x"), TWO, Routing.PLANNED)


def instance(dag: str, rate: int, method: str) -> Instance:
    answer = allocate(Question(MICRO_DAGS[dag], article_models(), Fraction(rate)), method)
    assert answer.plan is not None
    return as_instance(answer.plan, MICRO_DAGS[dag], article_models(), answer.routing)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mba+sam", "lsa+rsm", "optimal"])
def test_placed_exactly_and_by_published_methods(method: str) -> None:
    """Two VMs with 5 slots at 60 tuples/s at least: the network cost is not 0 everywhere."""
    made = instance("diamond", 50, method)
    result = slotwise.solve(made, time_limit_s=20)
    assert result.placement is not None
    assert result.objective[0].value == 0
    for name in ("r-storm", "ras-default"):
        placement = slotwise.place(made, name, seed=0)
        verdict = slotwise.judge(made, placement)
        assert verdict.valid
        assert tuple(t.value for t in verdict.objective) >= tuple(t.bound for t in result.objective)


@pytest.mark.slow
@given(models(), dataflows(), st.integers(1, 60), st.sampled_from(METHODS))
def test_a_file_of_it_is_read_as_the_same(
    known: dict[str, PerformanceModel], dataflow: Dataflow, rate: int, method: str
) -> None:
    answer = allocate(Question(dataflow, known, Fraction(rate)), method)
    if answer.plan is None or not answer.plan.threads:
        return
    made = as_instance(answer.plan, dataflow, known, answer.routing)
    assert instance_from_text(instance_text(made)) == made
    total = sum((usage.cpu for usage in answer.usage().values()), Fraction(0))
    asked = sum(
        Fraction(one.resources["cpu"]) * one.parallelism for one in made.topologies[0].components
    )
    threads = sum(answer.plan.threads.values())
    assert total <= asked <= total + Fraction(threads, 1000)
