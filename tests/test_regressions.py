"""Cases that once went wrong, kept as they were found."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from importlib.metadata import version

import numpy as np
import pytest

from slotwise.benchmarks.grade import grade
from slotwise.benchmarks.grading.names import split_methods
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective, Scheduler
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Ackers, Component, Constraints, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.pipeline.spark.masters import check_master
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.rack_splits import SiteRelaxation
from slotwise.solver.column_generation.residual_search import SiteColumns, exact_scale
from slotwise.solver.core.result import Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve

NODE = Node("n1", "r1")


def test_a_bound_is_no_rounded_double() -> None:
    """CP-SAT's double said 1.0000889 beside a constant of 2e12: rounded up, above the optimum."""
    instance = Instance(
        "far",
        Cluster((NODE,), Distance(Decimal(0), Decimal(1), Decimal(10**6), Decimal(10**6))),
        (
            Topology(
                "t0",
                (Component("x", "spout", 2), Component("z", "spout", 1)),
                (Stream("x", "z"),),
            ),
        ),
        linear=(LinearCost("t0/x[1]", "n1", Decimal("0.000001")),),
        objective=Objective(("network+linear",)),
    )
    result = solve(instance, engine="cp-sat")
    assert result.status == Status.OPTIMAL
    assert result.objective[0].value == result.objective[0].bound == Decimal("0.000001")


def coefficients_beyond_32_bits() -> Instance:
    """The presolve of OR-Tools 9.15 cut off its optimum (google/or-tools#5293)."""
    return Instance(
        "f",
        Cluster((Node("n0", "r0"), Node("n1", "r0", slots=3))),
        (
            Topology(
                "t0",
                (Component("c0", "bolt", 1), Component("c1", "bolt", 3)),
                (
                    Stream("c1", "c0", rate=Decimal(10000003)),
                    Stream("c1", "c0", rate=Decimal(2)),
                    Stream("c0", "c1", grouping="global", rate=Decimal("785.473387")),
                ),
                one_component_per_worker=True,
            ),
        ),
        linear=(LinearCost("t0/c1[2]", "n0", Decimal(1)),),
        objective=Objective(("network", "linear")),
        flow="rates",
    )


@pytest.mark.parametrize("seed", range(8))
def test_cp_sat_does_not_lose_the_optimum_in_presolve(seed: int) -> None:
    """Seeds 1, 2 and 4 proved linear 1, the others ended in an internal error."""
    instance = coefficients_beyond_32_bits()
    result = solve(instance, engine="cp-sat", seed=seed, confirm=False)
    assert result.status == Status.OPTIMAL
    assert result.objective[1].value == result.objective[1].bound == 0


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("engine", ["auto", "configurations"])
def test_coefficients_beyond_32_bits(engine: str, workers: int) -> None:
    result = solve(coefficients_beyond_32_bits(), engine=engine, workers=workers)
    assert result.status == Status.OPTIMAL
    assert result.objective[1].value == 0
    assert not result.distrusted


def test_sums_that_doubles_do_not_tell_apart_are_no_proof() -> None:
    """1e13 steps: no bound is believed but that nothing costs less than 0."""
    result = solve(coefficients_beyond_32_bits(), engine="milp", confirm=False)
    assert result.status == Status.FEASIBLE
    assert any("more than doubles tell apart" in note for note in result.notes)
    network = result.objective[0]
    assert network.value == Decimal("10000790.473387")
    assert network.bound == 0


@pytest.mark.parametrize("engine", ["auto", "configurations", "cp-sat", "milp"])
def test_a_topology_without_tasks_may_have_rules(engine: str) -> None:
    """The table of its worker contents was made of nothing."""
    full = Topology("t0", (Component("z", "bolt", 1),))
    empty = Topology("t2", (Component("a", "bolt", 0),), constraints=Constraints((("a", "a"),)))
    result = solve(Instance("f", Cluster((NODE,)), (full, empty)), engine=engine)
    assert result.status == Status.OPTIMAL


@pytest.mark.parametrize("engine", ["auto", "cp-sat", "milp", "exhaustive"])
def test_nothing_to_place_is_optimal(engine: str) -> None:
    """A linear model without columns has no answer of its own."""
    empty = Topology("t", (Component("a", "spout", 0),))
    result = solve(Instance("f", Cluster((NODE,)), (empty,)), engine=engine)
    assert result.status == Status.OPTIMAL


@pytest.mark.parametrize("engine", ["exhaustive", "cp-sat", "milp"])
def test_highs_does_not_lose_the_optimum_in_presolve(engine: str) -> None:
    """Version 1.14.0 called an overload of 200 optimal (ERGO-Code/HiGHS#2961)."""
    major, minor = map(int, version("highspy").split(".")[:2])
    assert (major, minor) < (1, 13), "install again: pip install -c constraints.txt -e ."
    topology = Topology(
        "t0",
        (
            Component("c0", "spout", 3, {"cpu": Decimal(35)}),
            Component("c1", "bolt", 1, {"cpu": Decimal(0)}),
        ),
        (Stream("c0", "c1"),),
        constraints=Constraints((("c0", "c1"),)),
        ackers=Ackers(1, resources={"cpu": Decimal(25)}),
    )
    nodes = tuple(Node(f"n{n}", "r0", resources={"cpu": Decimal(40)}) for n in range(4))
    instance = Instance(
        "lost",
        Cluster(nodes),
        (topology,),
        scheduler=Scheduler(worker_min_cpu=Decimal(10)),
        objective=Objective(("workers", "network", "overload"), {"cpu": 2}),
    )
    result = solve(instance, engine=engine)
    assert result.status == Status.OPTIMAL
    assert [term.value for term in result.objective] == [2, 3, 180]


def test_linear_rows_find_the_longest_topology_id() -> None:
    topologies = tuple(Topology(i, (Component("s", "spout", 1),)) for i in ("x", "x/y"))
    instance = Instance(
        "f",
        Cluster((NODE,)),
        topologies,
        linear=(LinearCost("x/y/s[0]", "n1", Decimal(3)),),
        objective=Objective(("linear",)),
    )
    assert solve(instance).objective[0].value == 3


def test_names_have_no_control_characters() -> None:
    with pytest.raises(InputError, match="control characters"):
        Node("a\x1b[31m", "r1")


def test_methods_after_a_command_are_methods() -> None:
    assert split_methods(["cmd:./x --a=1,2,r-storm"]) == ["cmd:./x --a=1,2", "r-storm"]
    assert split_methods(["r-storm,cmd:./x,cmd:./y"]) == ["r-storm", "cmd:./x", "cmd:./y"]
    assert split_methods(None) is None


@pytest.mark.parametrize("master", ["local[x]", "local[0]", "", "loc al", "spark:/x"])
def test_a_master_is_checked_before_spark_starts(master: str) -> None:
    with pytest.raises(InputError, match="master"):
        check_master(master)


@pytest.mark.parametrize(
    "master", ["local", "local[2]", "local[*]", "local-cluster[2,1,1024]", "spark://h:7077", "yarn"]
)
def test_masters_that_spark_knows(master: str) -> None:
    check_master(master)


def test_methods_and_engines_are_listed_once(cli) -> None:
    names = [one["name"] for one in cli("methods", "--json").json["methods"]]
    assert len(names) == len(set(names))
    words = [line.split() for line in cli("methods").out.splitlines()]
    assert [row[0] for row in words if row[1:2] == ["engine"]] == list(ENGINES)


def test_a_missing_program_is_refused_before_anything_is_written(tmp_path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match="cannot be run"):
        grade(["rstorm"], methods=["cmd:./is-not-there"], out=out)
    assert not out.exists()


def fine_rates(first: str, second: str, third: str, last: int = 3) -> Instance:
    """Return a triangle of streams with many digits, tasks beside it, and heaps."""
    components = tuple(
        Component(f"c{i}", "spout", size, {"cpu": Decimal(cpu), "onheap_mb": Decimal(heap)})
        for i, (size, cpu, heap) in enumerate(((1, 10, 1), (2, 10, 2), (1, 10, 1), (last, 5, 1)))
    )
    streams = (
        Stream("c0", "c1", rate=Decimal(first)),
        Stream("c0", "c2", rate=Decimal(second)),
        Stream("c1", "c2", rate=Decimal(third)),
    )
    resources = {"cpu": Decimal(30), "memory_mb": Decimal(8)}
    nodes = tuple(Node(f"n{n}", "r", resources=resources) for n in range(4))
    topology = Topology("t", components, streams, worker_max_heap_mb=Decimal(4))
    return Instance("fine", Cluster(nodes), (topology,), flow="rates")


@pytest.mark.parametrize(
    "rates",
    [
        ("5000000000000", "2500000000001", "3"),
        ("10000000.000001", "77.777777", "1000000"),
    ],
)
def test_duals_of_connected_stay_in_64_bits(rates: tuple[str, str, str]) -> None:
    """Flows times a fixed grid of 2^20 did not: wrong bounds, wrong optima and crashes."""
    instance = fine_rates(*rates)
    truth = solve(instance, engine="exhaustive")
    found = solve(instance, engine="connected")
    assert truth.status == Status.OPTIMAL
    best, claimed = truth.objective[1].value, found.objective[1]
    assert best is not None
    assert claimed.value is not None
    assert claimed.bound is not None
    assert claimed.bound <= best <= claimed.value


def test_flows_too_large_for_any_grid_are_not_for_connected() -> None:
    """Beyond that the engine says so."""
    problem = compile_problem(fine_rates("200000000000001", "1", "1", last=100))
    assert "64 bits" in (CONNECTED.supports(problem) or "")


@pytest.mark.parametrize("duals", [[1e300, -1e300], [math.nan, 3.5], [-3e11, -3e11], [2.5, 1.25]])
def test_cuts_stay_exact_whatever_the_solver_says(duals: list[float]) -> None:
    """HiGHS gave up on flows of 38 bits; its last duals made cuts that doubles rounded."""
    counts = np.array(list(itertools.product(range(4), range(4))), dtype=np.int64)
    column = TypeColumns(counts, 20_000_000_000 * counts[:, 0] * counts[:, 1])
    total = np.array([3, 3], dtype=np.int64)
    scale = exact_scale((SiteColumns((column,), (6,)),), total)
    relaxation = SiteRelaxation((column,), (6,), total, scale, CancellationToken())
    dual_bound = relaxation.exact_bound(np.array(duals))
    assert dual_bound.reduced_costs(0, column).min() >= 0
    assert abs(dual_bound.constant) + int(np.abs(dual_bound.duals) @ total) <= 2**52
    assert dual_bound.at(total) >= scale * int(column.values.max())


def test_a_node_without_slots_has_no_workers_for_places() -> None:
    """One worker was taken to be there; the placement on it was refused, and nothing proven."""
    topology = Topology("t", (Component("c", "spout", 2),), worker_max_heap_mb=Decimal(5))
    instance = Instance("none", Cluster((Node("n", "r", slots=0),)), (topology,))
    assert solve(instance).status == Status.INFEASIBLE


def test_a_hint_that_breaks_heaps_on_the_only_node_is_no_crash() -> None:
    """The workers were judged as nodes, and the name of the second was looked up."""
    topology = Topology(
        "t", (Component("a", "spout", 3, {"onheap_mb": Decimal(4)}),), worker_max_heap_mb=Decimal(6)
    )
    node = Node("n", "r", slots=2, resources={"memory_mb": Decimal(100)})
    hint = Placement((0,) * 3, (1, 0, 0))
    result = solve(Instance("heaps", Cluster((node,)), (topology,)), hint=hint)
    assert result.status == Status.INFEASIBLE
