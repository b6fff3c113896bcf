"""Lack of memory ends an engine, with what it has found, and nothing else; the result says so."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assignments import document
from conftest import EXAMPLES
from hard_instances import hard_instance

import slotwise
from slotwise.heuristics.ras.scheduler import schedule_round
from slotwise.models.errors import InputError
from slotwise.models.families.registry import FAMILIES
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.instance_file import instance_from_data, instance_from_text
from slotwise.models.problem.problem import Problem
from slotwise.solver import engines
from slotwise.solver.admission.exact_round import exact_counterparts
from slotwise.solver.column_generation.configurations.engine import FAST_CONFIGURATIONS
from slotwise.solver.column_generation.connected.graph import FlowGraph, make_flow_graph
from slotwise.solver.column_generation.connected.level import ConnectedMaster
from slotwise.solver.column_generation.connected.tree_knapsack import (
    best_configurations,
    make_tables,
)
from slotwise.solver.core import memory as memory_module
from slotwise.solver.core import memory as memory_reading
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.memory import (
    MB,
    SAMPLE_S,
    Memory,
    RunToken,
    default_limit_mb,
    group_limits,
    offered_bytes,
    watched,
)
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.portfolio import auto

LIMIT_MB = 1000
FINISHING = slotwise.place(FAMILIES["rstorm"].make(6, 0), "r-storm")


class Reading:
    """A reading of resident memory that tests set."""

    def __init__(self) -> None:
        self.mb = 100.0

    def __call__(self) -> int:
        return int(self.mb * MB)


@pytest.fixture
def resident(monkeypatch: pytest.MonkeyPatch) -> Reading:
    reading = Reading()
    monkeypatch.setattr(memory_reading, "resident_bytes", reading)
    return reading


def hog(reading: Reading, end: Callable[[RunToken], None]) -> Callable[..., Outcome]:
    """Return a search that offers a placement, takes too much memory, and ends by `end`."""

    def run(
        problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter
    ) -> Outcome:
        assert isinstance(FINISHING, Placement)
        reporter.offer(FINISHING)
        reporter.prove([0], "trivial")
        reading.mb = LIMIT_MB + 1
        try:
            end(reporter.token)
        finally:
            reading.mb = 100
        raise AssertionError("it was not asked to stop")

    return run


def hear(token: RunToken) -> None:
    """Wait to be asked to stop."""
    deadline = time.perf_counter() + 20
    while time.perf_counter() < deadline:
        token.check()
        time.sleep(0.01)


def named(run: Callable[..., Outcome]) -> Engine:
    return Engine("hog", run, lambda problem: None, lambda: "1")


def test_an_engine_over_the_limit_ends_with_its_incumbent(
    resident: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines.ENGINES, "hog", named(hog(resident, hear)))
    found = slotwise.solve(
        FAMILIES["rstorm"].make(6, 0), engine="hog", memory_limit_mb=LIMIT_MB, time_limit_s=30
    )
    assert found.status is Status.FEASIBLE
    assert found.placement == FINISHING
    assert not found.interrupted
    assert found.objective[0].bound == 0
    assert found.notes == ("hog: stopped: the process passed its memory limit of 1,000 MB",)
    assert found.limits.memory_mb == found.to_document()["memory_limit_mb"] == LIMIT_MB
    assert found.to_document()["notes"] == list(found.notes)


def test_memory_error_ends_the_engine_only(
    resident: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(token: RunToken) -> None:
        raise MemoryError("Unable to allocate 9.00 EiB")

    monkeypatch.setitem(engines.ENGINES, "hog", named(hog(resident, fail)))
    found = slotwise.solve(FAMILIES["rstorm"].make(6, 0), engine="hog")
    assert (found.status, found.placement) == (Status.FEASIBLE, FINISHING)
    assert "hog: ended because it ran out of memory" in found.notes[0]
    assert "9.00 EiB" in found.notes[0]


def test_memory_error_outside_engines_keeps_what_is_known(
    resident: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(problem: Problem, token: RunToken) -> None:
        raise MemoryError

    monkeypatch.setattr(auto, "reductions", fail)
    found = slotwise.solve(FAMILIES["rstorm"].make(6, 0))
    assert found.status is Status.FEASIBLE
    assert found.placement is not None
    assert found.notes


def test_the_compiler_is_loaded_only_where_it_has_room(
    resident: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def end(token: RunToken) -> None:
        started.append(token)
        hear(token)

    monkeypatch.setitem(engines.ENGINES, "hog", replace(named(hog(resident, end)), compiles=True))
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    found = slotwise.solve(FAMILIES["rstorm"].make(6, 0), engine="hog", memory_limit_mb=200)
    assert not started
    assert found.status is Status.UNKNOWN
    said = "hog: the compiler of its loops would take 110 MB, but only 100 MB are left"
    assert [note.startswith(said) for note in found.notes] == [True]
    slotwise.solve(FAMILIES["rstorm"].make(6, 0), engine="hog", memory_limit_mb=300)
    assert started


@pytest.mark.parametrize("workers", [1, 2])
def test_auto_goes_on_with_the_next_engine(
    workers: int, resident: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    greedy = replace(FAST_CONFIGURATIONS, run=hog(resident, hear))
    monkeypatch.setattr(auto, "CONFIGURATIONS", greedy)
    found = slotwise.solve(
        FAMILIES["rstorm"].make(6, 0), memory_limit_mb=LIMIT_MB, time_limit_s=60, workers=workers
    )
    assert found.status is Status.OPTIMAL
    assert not found.interrupted
    if workers == 1:  # with more, another one may prove it before
        assert found.notes[0].startswith("configurations: stopped")
        order = [pick.engine for pick in found.picked]
        assert order.index("configurations") < len(order) - 1


def chain(components: int, nodes: int) -> Instance:
    """Components that all differ, one task each, every one with the next."""
    made = [
        Component(f"c{i}", "bolt" if i else "spout", parallelism=1, resources={"cpu": 100 + i % 7})
        for i in range(components)
    ]
    streams = [Stream(f"c{i}", f"c{i + 1}", rate=1 + i % 5) for i in range(components - 1)]
    machines = [Node(f"n{i}", "r", slots=4, resources={"cpu": 850}) for i in range(nodes)]
    topology = Topology("t", components=tuple(made), streams=tuple(streams))
    cluster = Cluster(tuple(machines))
    return Instance("chain", cluster, (topology,), objective=Objective(("network",)))


def matrix(tasks: int, nodes: int, *, alike: bool = False) -> Instance:
    data = document(np.random.default_rng(5), tasks, nodes, 0.6)
    if alike:
        data["distance"] = [[0 if i == j else 5 for j in range(nodes)] for i in range(nodes)]
    return instance_from_data(data)


def counting_workers() -> Instance:
    hard = instance_from_text(hard_instance(36, 5))
    return replace(hard, objective=Objective(("network", "workers")))


def running_chain() -> Instance:
    alone = chain(60, 12)
    running = {f"c{i}[0]": Place(f"n{i % 12}", 0) for i in range(60)}
    limited = replace(alone.objective, limits={"moved": 3})
    return replace(alone, running={"t": running}, objective=limited)


TOO_LARGE: dict[str, tuple[str, Callable[[], Instance], str]] = {
    "connected": (
        "connected",
        lambda: chain(300, 60),
        "tables of 300 kinds in connected configurations",
    ),
    "configurations": ("configurations", lambda: chain(60, 12), "configurations of a node"),
    "columns": ("configurations", counting_workers, "would take"),
    "cp-sat": ("cp-sat", lambda: chain(60, 12), "a model of 720 counts"),
    "milp": ("milp", lambda: chain(60, 12), "a linear model of up to"),
    "subset-dp": ("subset-dp", lambda: matrix(17, 5, alike=True), "tables of the sets of 17 tasks"),
    "few-moves": ("few-moves", running_chain, "changes of a worker would take"),
    "dual-ascent": ("dual-ascent", lambda: matrix(30, 14), "costs of all pairs of 420 places"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOO_LARGE)
def test_engines_ask_before_they_build(name: str, resident: Reading) -> None:
    engine, make, says = TOO_LARGE[name]
    resident.mb = LIMIT_MB - 2
    found = slotwise.solve(make(), engine=engine, memory_limit_mb=LIMIT_MB, time_limit_s=30)
    assert found.notes, "it should have found that 2 MB are not enough"
    assert any(says in note and "2 MB are left" in note for note in found.notes)
    assert all(note.startswith(f"{engine}: ") for note in found.notes)
    assert found.status in (Status.UNKNOWN, Status.FEASIBLE)
    assert not found.interrupted


@pytest.mark.slow
def test_a_hint_survives_that_nothing_begins(resident: Reading) -> None:
    resident.mb = LIMIT_MB
    instance = FAMILIES["rstorm"].make(6, 0)
    assert isinstance(FINISHING, Placement)
    alone = slotwise.solve(instance, engine="cp-sat", memory_limit_mb=LIMIT_MB, hint=FINISHING)
    assert (alone.status, alone.placement) == (Status.FEASIBLE, FINISHING)
    assert alone.notes[0].startswith("cp-sat: not started")
    both = slotwise.solve(instance, memory_limit_mb=LIMIT_MB)
    assert both.placement is not None, "the first placement needs no engine"
    assert {note.partition(":")[0] for note in both.notes} >= {"configurations", "cp-sat"}


def test_the_engine_that_began_last_is_told_first(
    resident: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_module, "PATIENCE_S", 0.2)
    memory, first, last = Memory(LIMIT_MB), RunToken(), RunToken()
    with memory.running(first), memory.running(last):
        memory.look()
        assert not last.is_cancelled
        resident.mb = LIMIT_MB + 1
        memory.look()
        assert (first.is_cancelled, last.is_cancelled) == (False, True)
        time.sleep(0.25)
        memory.look()
        assert first.is_cancelled
        time.sleep(0.25)
        assert not memory.is_overdue, "it takes little more than it may"
        resident.mb = 2 * LIMIT_MB
        assert memory.is_overdue


def test_what_does_not_hear_is_left_behind(
    resident: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(
        problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter
    ) -> Outcome:
        assert isinstance(FINISHING, Placement)
        reporter.offer(FINISHING)
        resident.mb = 2 * LIMIT_MB
        time.sleep(3)
        raise AssertionError("left behind long ago")

    monkeypatch.setattr(memory_module, "PATIENCE_S", 0.2)
    monkeypatch.setitem(engines.ENGINES, "hog", named(run))
    instance = FAMILIES["rstorm"].make(6, 0)
    found = slotwise.solve(instance, engine="hog", memory_limit_mb=LIMIT_MB)
    assert (found.status, found.placement) == (Status.FEASIBLE, FINISHING)
    assert not found.interrupted
    assert found.notes == ("hog: abandoned, over the limit of 1,000 MB",)


def test_a_part_of_a_run_has_its_memory_and_its_name() -> None:
    run = RunToken(memory=Memory(LIMIT_MB), engine="hog")
    part = run.child(deadline=1.0)
    assert (part.memory, part.engine, part.deadline) == (run.memory, "hog", 1.0)
    assert run.child(engine="other").engine == "other"


def test_room_is_what_is_left(resident: Reading) -> None:
    RunToken().check_room(10**30, "without a limit, anything")
    memory = Memory(LIMIT_MB)
    token = RunToken(memory=memory)
    assert token.has_room(899 * MB, "much")
    assert not memory.notes
    assert not token.has_room(901 * MB, "too much")
    assert memory.notes == [
        "too much would take 901 MB, but only 900 MB are left of the memory limit of 1,000 MB"
    ]


def test_the_watch_ends_with_the_solve(resident: Reading) -> None:
    token = RunToken()
    with watched(LIMIT_MB) as memory, memory.running(token):
        pass
    resident.mb = LIMIT_MB + 1
    time.sleep(2 * SAMPLE_S)
    assert not token.is_cancelled


@pytest.mark.slow
def test_the_exact_counterparts_of_a_round_heed_it(resident: Reading) -> None:
    instance = slotwise.read_instance(EXAMPLES / "shared-cluster.yaml")
    done = schedule_round(instance)
    assert not exact_counterparts(done, Limits(20.0, memory_mb=LIMIT_MB)).notes
    resident.mb = LIMIT_MB
    exact = exact_counterparts(done, Limits(20.0, memory_mb=LIMIT_MB))
    assert not exact.interrupted
    assert any("not started" in note for note in exact.notes)


def written(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="ascii")


def test_limits_of_control_groups(tmp_path: Path) -> None:
    groups, control = tmp_path / "groups", tmp_path / "control"
    groups.write_text("4:memory:/inner/most\n3:cpu,cpuacct:/\n0::/a/b\n", encoding="ascii")
    assert list(group_limits(groups, control)) == []
    written(control / "a" / "b", "memory.max", "max\n")
    written(control / "a", "memory.max", "5000\n")
    written(control / "memory" / "inner", "memory.limit_in_bytes", "7000\n")
    written(control / "memory", "memory.limit_in_bytes", "9223372036854771712\n")
    written(tmp_path, "memory.max", "1\n")
    assert list(group_limits(groups, control)) == [7000, 9223372036854771712, 5000]
    assert list(group_limits(tmp_path / "none", control)) == []


def test_the_default_is_a_share_of_the_least_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MB < offered_bytes() < 2**60
    monkeypatch.setattr(
        resource, "getrlimit", lambda kind: (200 * MB, 300 * MB) if kind == resource.RLIMIT_AS
        else (resource.RLIM_INFINITY, resource.RLIM_INFINITY),
    )  # fmt: skip
    assert offered_bytes() == 200 * MB
    assert default_limit_mb() == 160
    monkeypatch.undo()
    found = slotwise.solve(FAMILIES["rstorm"].make(6, 0))
    assert found.limits.memory_mb == default_limit_mb()


def test_resident_memory_is_read() -> None:
    before = memory_reading.resident_bytes()
    block = np.ones(50 * MB, dtype=np.uint8)
    assert memory_reading.resident_bytes() - before > 0.5 * block.nbytes


def graph_of_chain(kinds: int, capacity: int) -> FlowGraph:
    ones = np.ones(kinds, dtype=np.int64)
    flow = np.diag(ones[1:], 1)
    return make_flow_graph(
        ones,
        flow + flow.T,
        ones,
        capacity,
        ones,
        lambda rows: np.ones(len(rows), np.bool_),
        RunToken(),
    )


def test_unit_vectors_hold_one_matrix_together() -> None:
    """A chain of 2,000 components took over 10 GB: each vector was a view of its own matrix."""
    program = ConnectedMaster(graph_of_chain(120, 4), 1)
    matrices = {id(c.base): c.base.nbytes for c in program._known.values() if c.base is not None}
    assert sum(matrices.values()) <= 2 * 120 * 120 * 8


def test_a_chain_may_be_deeper_than_calls_nest() -> None:
    graph = graph_of_chain(1_200, 3)
    nothing, token = np.zeros(1_200, dtype=np.int64), RunToken()
    found = best_configurations(make_tables(graph, 1, nothing, nothing, token), token)
    assert max(int(content.sum()) for content in found) == 3


@pytest.mark.slow
def test_commands_take_the_limit(cli: Any, examples: Path) -> None:
    answer = cli("solve", "word-count.json", "--memory-limit", 3000, "--json")
    assert answer.json["memory_limit_mb"] == 3000
    assert answer.json["notes"] == []
    refused = cli("solve", "word-count.json", "--memory-limit", 0)
    assert refused.code == 2
    assert "--memory-limit = 0: must be from 1 to" in refused.err
    small = cli("solve", "word-count.json", "--memory-limit", 1)
    assert "Notes:" in small.out
    assert "memory limit" in small.out
    exact = cli("schedule", "shared-cluster.yaml", "--exact", "--memory-limit", 1, "--json")
    assert "not started" in exact.json["exact"]["notes"][0]


def test_verify_takes_the_limit(cli: Any, examples: Path, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    assert cli("solve", "word-count.json", "--certificate", file).code == 0
    words = ("verify", "word-count.json", file, "--resolve", "--engine", "cp-sat")
    assert cli(*words, "--memory-limit", 3000).code == 0
    short = cli(*words, "--memory-limit", 1)
    assert short.code == 3
    assert "cp-sat: not started" in short.out


def test_a_bad_limit_is_refused() -> None:
    with pytest.raises(InputError, match="memory_limit_mb"):
        slotwise.solve(FAMILIES["rstorm"].make(6, 0), memory_limit_mb=0)
