"""What conformance vectors expect, one check per key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from ras_totals import TOTALS, totals
from ras_vectors import Vector

from slotwise.heuristics.ras.model import RasModel
from slotwise.heuristics.ras.state import RasState
from slotwise.heuristics.ras.strategies.strategy import STRATEGIES, executor_order
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge


@dataclass(frozen=True)
class Run:
    """A vector after one of the strategies it names.

    `placements` after each round (the last is of `model`), `messages` by topology id,
    `evictions` tried in the last round.
    """

    vector: Vector
    strategy: str
    model: RasModel
    placements: tuple[Placement, ...]
    names: tuple[tuple[str, ...], ...]
    messages: dict[str, str] = field(default_factory=dict)
    evictions: tuple[str, ...] = ()

    @property
    def state(self) -> RasState:
        """The cluster at the end."""
        state = RasState(self.model)
        state.put(self.placements[-1])
        return state

    @property
    def scheduled(self) -> list[str]:
        """Topologies that are placed whole at the end."""
        state = self.state
        return [name for t, name in enumerate(self.names[-1]) if not state.unassigned(t)]

    def topology(self, name: str) -> int:
        """Return the index of a topology."""
        return self.names[-1].index(name)

    def racks(self, *names: str) -> set[str]:
        """Return the racks that topologies use."""
        nodes = self.model.instance.cluster.nodes
        state = self.state
        return {nodes[node].rack for name in names for node in state.on_node[self.topology(name)]}


def check_all(run: Run, keys: set[str]) -> None:
    """Check what the vector expects under `keys`."""
    for key, value in run.vector.expected.items():
        if key in keys:
            CHECKS[key](run, value)


def _rounds(run: Run, value: list[dict[str, list[str]]]) -> None:
    assert len(value) == len(run.placements)
    for names, placement, expected in zip(run.names, run.placements, value, strict=True):
        whole = {name for name in names if _whole(names, placement, run, name)}
        assert whole == set(expected["scheduled"])
        assert set(names) - whole == set(expected["not_scheduled"])


def _whole(names: tuple[str, ...], placement: Placement, run: Run, name: str) -> bool:
    first = 0
    for other in names:
        size = len(run.model.topologies[run.topology(other)].component_of)
        if other == name:
            return -1 not in placement.nodes[first : first + size]
        first += size
    raise ValueError(name)


def _scheduled(run: Run, value: bool | list[str]) -> None:
    expected = list(run.names[-1]) if value is True else (value or [])
    assert sorted(run.scheduled) == sorted(expected)


def _worker_groups(run: Run, value: list[list[int]]) -> None:
    state = run.state
    found = {frozenset(w.tasks) for workers in state.workers for w in workers.values()}
    assert found == {frozenset(group) for group in value}


def _workers_on_nodes(run: Run, value: dict[str, dict[str, list[list[int]]]]) -> None:
    """Check topology -> node -> executors of each worker there."""
    state = run.state
    found: dict[str, dict[str, list[list[int]]]] = {}
    for node, workers in enumerate(state.workers):
        for worker in workers.values():
            of = found.setdefault(run.names[-1][worker.topology], {})
            of.setdefault(run.model.cluster.ids[node], []).append(sorted(worker.tasks))
    for of in found.values():
        for groups in of.values():
            groups.sort()
    assert found == value


def _executor_order(run: Run, value: list[int]) -> None:
    assert executor_order(RasState(run.model), 0, STRATEGIES[run.strategy]) == value


def _valid(run: Run, value: bool) -> None:
    assert judge(run.model.instance, run.placements[-1]).valid is value


def _n_scheduled(run: Run, value: int) -> None:
    assert len(run.scheduled) == value


def _unassigned(run: Run, value: int) -> None:
    state = run.state
    assert sum(len(state.unassigned(t)) for t in range(len(run.names[-1]))) == value


def _status_prefix(run: Run, value: str) -> None:
    if run.messages:
        assert all(message.startswith(value) for message in run.messages.values())


def _attempted_evictions(run: Run, value: list[str]) -> None:
    assert sorted(run.evictions) == sorted(value)


def _racks_used(run: Run, value: dict[str, list[str]]) -> None:
    for name, racks in value.items():
        assert run.racks(name) == set(racks)


def _racks(run: Run, value: int | dict[str, int]) -> None:
    wanted = {"both": value} if isinstance(value, int) else value
    for name, count in wanted.items():
        assert len(run.racks(*(run.names[-1] if name == "both" else (name,)))) == count


def _all_workers_in_rack(run: Run, value: dict[str, str]) -> None:
    _racks_used(run, {name: [rack] for name, rack in value.items()})


def _worker_slots(run: Run, value: dict[str, int]) -> None:
    state = run.state
    for name, count in value.items():
        assert len(set(state.places[run.topology(name)].values())) == count


def _disjoint(run: Run, value: bool) -> None:
    used = [node for nodes in run.state.on_node for node in nodes]
    assert (len(used) == len(set(used))) is value


def _per_topology(run: Run, key: str, value: float) -> None:
    state = run.state
    for name in run.scheduled:
        t = run.topology(name)
        mine = [w for workers in state.workers for w in workers.values() if w.topology == t]
        assert {"cpu": sum(w.charged for w in mine), "workers": len(mine)}[key] == value


def _no_negative(run: Run, value: int) -> None:
    assert value == 0
    state, cluster = run.state, run.model.cluster
    for node, (cpu, memory) in enumerate(zip(state.cpu, state.memory, strict=True)):
        workers = state.workers[node].values()
        shared = sum(state.node_shared(t, node) for t in range(len(run.names[-1])))
        assert cpu == cluster.cpu[node] - sum(w.charged for w in workers)
        held = sum(w.onheap + w.offheap for w in workers)
        assert memory == cluster.memory[node] - held - shared


def _total(key: str) -> Callable[[Run, float], None]:
    def check(run: Run, value: float) -> None:
        assert totals(run.state)[key] == value, key

    return check


def _used_up(run: Run) -> list[tuple[bool, bool]]:
    """Return per node whether its cpu, and its memory, is used up exactly."""
    state = run.state
    return [(cpu == 0, memory == 0) for cpu, memory in zip(state.cpu, state.memory, strict=True)]


def _property(run: Run, value: str) -> None:
    if value == "on each node cpu or memory is exactly used up":
        assert all(any(node) for node in _used_up(run))
    elif value == "cpu and memory exactly used up on both nodes":
        assert all(all(node) for node in _used_up(run))
    else:
        pytest.skip(f"{run.vector.path.name}: a property in words without a check: {value}")


CHECKS: dict[str, Callable[[Run, Any], None]] = {
    "rounds": _rounds,
    "scheduled": _scheduled,
    "worker_groups": _worker_groups,
    "workers_on_nodes": _workers_on_nodes,
    "executor_order_upstream_comment": _executor_order,
    "executor_order": _executor_order,
    "valid": _valid,
    "n_scheduled": _n_scheduled,
    "unassigned": _unassigned,
    "status_prefix": _status_prefix,
    "attempted_evictions_last_round": _attempted_evictions,
    "racks_used": _racks_used,
    "racks": _racks,
    "racks_count": _racks,
    "all_workers_in_rack": _all_workers_in_rack,
    "worker_slots": _worker_slots,
    "node_sets_disjoint": _disjoint,
    "cpu_per_topology": lambda run, value: _per_topology(run, "cpu", value),
    "workers_per_topology": lambda run, value: _per_topology(run, "workers", value),
    "negative_resource_events": _no_negative,
    "property": _property,
    **{key: _total(key) for key in TOTALS},
}
ELSEWHERE = {"after", "rack_order", "node_order", "incompatible", "max_node_co_location"}
"""Expectations that tests of their own check."""
