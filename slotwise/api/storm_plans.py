"""Plans for a running Storm: asked for, compared with what runs, taken back.

A placement takes effect through ``slotwise-storm``, a jar inside Nimbus: its strategy reads one
file for each topology and follows it where it fits as a whole. Here the files are written and
Nimbus is asked for the rebalances, in an order in which each topology's new places are free.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import networkx as nx

from slotwise.api.inputs import NEEDS_RUNNING, InstanceLike, PlacementLike, as_problem
from slotwise.api.inputs import placed_or_running as placed
from slotwise.api.paths import path_of
from slotwise.models.display import counted
from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.formats.json_text import parse_json
from slotwise.models.importers.nimbus import Nimbus, read_nimbus
from slotwise.models.importers.storm_settings import (
    PLANNED_STRATEGY,
    WRAPPED,
    Imported,
    json_conf,
)
from slotwise.models.instance.instance import Instance, Place
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_hash
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.models.values import time_limit

FORMAT = "slotwise.storm-plan/1"
STRATEGY = "topology.scheduler.strategy"
PLANS = "slotwise.plans"
WHITELIST = "nimbus.scheduler.strategy.class.whitelist"
"""Settings of Storm and, in it, of the jar."""

MOST_AGE_S = 10**9
POLL_S = 0.5
"""Seconds between two looks at a Nimbus that rebalances."""

Places = Mapping[str, Mapping[str, Place]]
"""Topology -> task -> place."""


@dataclass(frozen=True, slots=True)
class TopologyState:
    """Where a topology is, against its plan.

    Parameters
    ----------
    topology
        Its name.
    tasks
        Number of its tasks.
    elsewhere
        Tasks that would have to move: they run on another node than planned, in a worker with
        other tasks, or not at all.
    """

    topology: str
    tasks: int
    elsewhere: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return {"topology": self.topology, "tasks": self.tasks, "elsewhere": self.elsewhere}


@dataclass(frozen=True, slots=True)
class StormState:
    """What runs in a Storm against what was planned.

    Parameters
    ----------
    topologies
        One for each topology of the plan; for `apply_plan`, in the order of their rebalances.
    applied
        Whether Nimbus was asked to change anything.
    """

    topologies: tuple[TopologyState, ...]
    applied: bool

    @property
    def is_as_planned(self) -> bool:
        """Whether every task runs where it is planned."""
        return not any(one.elsewhere for one in self.topologies)

    def to_dict(self) -> dict[str, Any]:
        """Return whether all is as planned, and each topology, ready for JSON."""
        return {
            "as_planned": self.is_as_planned,
            "applied": self.applied,
            "topologies": [one.to_dict() for one in self.topologies],
        }


def storm_status(
    snapshot: InstanceLike, placement: PlacementLike, nimbus: str, *, timeout_s: float = 30.0
) -> StormState:
    """Compare what runs in a Storm with a plan.

    Parameters
    ----------
    snapshot
        The instance that was planned, as `import_storm` read it.
    placement
        The plan; see `read_placement`.
    nimbus
        ``nimbus://HOST:PORT``.
    timeout_s
        Longest wait for an answer of Nimbus, seconds.

    Raises
    ------
    InputError
        For bad input, and when Nimbus does not answer.

    Examples
    --------
    >>> import slotwise
    >>> address = "nimbus://nimbus.example:6627"
    >>> slotwise.storm_status("snapshot.json", "plan.json", address)  # doctest: +SKIP
    StormState(topologies=(TopologyState(topology='wc', tasks=9, elsewhere=0),), applied=False)
    """
    problem = as_problem(snapshot)
    wanted = _places(problem, placed(placement, problem))
    running = read_nimbus(nimbus, time_limit(timeout_s, "timeout_s"), wanted).running
    return StormState(tuple(_state(name, wanted, running) for name in wanted), applied=False)


def apply_plan(
    snapshot: InstanceLike,
    placement: PlacementLike | None,
    nimbus: str,
    plans: str | PathLike[str],
    *,
    execute: bool = False,
    max_age_s: float = 3600.0,
    timeout_s: float = 30.0,
    on_topology: Callable[[str], object] = lambda name: None,
) -> StormState:
    """Ask a Storm with the jar ``slotwise-storm`` to place its topologies as planned.

    Nothing is changed unless `execute`: the plan is checked against what Nimbus says now.
    Topologies are rebalanced one after another, up to the first that is not placed as planned. One
    that Storm no longer places at all, as where the jar is missing, gets its own strategy back.

    Parameters
    ----------
    snapshot
        The instance that was planned, as `import_storm` read it. The cluster must still be so.
    placement
        The plan; see `read_placement`. ``None`` rolls back: what ran when the snapshot was taken.
    nimbus
        ``nimbus://HOST:PORT``.
    plans
        The folder that Nimbus's setting ``slotwise.plans`` names.
    execute
        Write the plans, and ask Nimbus for the rebalances.
    max_age_s
        Seconds after which Storm does not follow the plan any more.
    timeout_s
        Longest wait for an answer of Nimbus, and for a rebalance to take effect, seconds.
    on_topology
        Called with the name of each topology before its rebalance.

    Raises
    ------
    InputError
        For bad input; a Storm whose scheduler follows no plan, or none in this folder; a cluster
        that has changed since the snapshot; a plan that breaks a rule; topologies that could only
        exchange places; another plan that is being applied; a topology that Storm does not place.

    Examples
    --------
    >>> import slotwise
    >>> address, plans = "nimbus://nimbus.example:6627", "/var/storm/plans"
    >>> slotwise.apply_plan(  # doctest: +SKIP
    ...     "snapshot.json", "plan.json", address, plans, execute=True
    ... ).is_as_planned
    True
    """
    limit = time_limit(timeout_s, "timeout_s")
    folder = Path(path_of(plans, "plans", "a path"))
    if not folder.is_dir():
        raise InputError("is not a folder", field="plans", value=str(folder))
    age = time_limit(max_age_s, "max_age_s")
    if age > MOST_AGE_S:
        raise InputError(f"must be at most {MOST_AGE_S}", field="max_age_s", value=max_age_s)
    problem = as_problem(snapshot)
    instance = problem.instance
    if instance.running is None:
        raise InputError(NEEDS_RUNNING, field="snapshot", has_value=False)
    mine = {one.id for one in instance.topologies} if placement is None else None
    wanted = _places(problem, placed(placement, problem))
    # What is read and checked stays so: no other plan is applied meanwhile.
    with _only_here(folder) if execute else nullcontext():
        now = read_nimbus(nimbus, limit, mine)
        if any(one.strategy is None for one in now.topologies):
            rule = "places by round robin and follows no plan; see the guide of a running Storm"
            raise InputError(rule, field="storm.scheduler", has_value=False)
        _check_jar(nimbus, folder, limit)
        _check_unchanged(instance, now, None if placement is None else wanted)
        order = _order(instance, wanted, now.running)
        if execute:
            signed = {"snapshot": instance_hash(instance), "max_age_s": age}
            _replace_old(folder, now.ids, wanted, order, signed)
            for name in order:
                on_topology(name)
                _write(folder, name, now.ids[name], wanted[name], signed)
                _rebalance(nimbus, name, now.ids[name], len(now.running[name]), limit)
                now = read_nimbus(nimbus, limit, mine)
                if _state(name, wanted, now.running).elsewhere:
                    break  # the places of those after it may not be free
    states = (_state(name, wanted, now.running) for name in (*order, *(set(wanted) - set(order))))
    return StormState(tuple(sorted(states, key=lambda one: _rank(one.topology, order))), execute)


def rebalance_commands(snapshot: InstanceLike, placement: PlacementLike) -> list[str]:
    """Return commands of Storm that come near a plan without the jar.

    One for each topology that has to move. It sets the demands of the snapshot's components, which
    `measure` may have measured, and the hosts of the plan's nodes as favoured ones, those with most
    tasks first. They choose no worker, and Storm may place a task on another node.

    Parameters
    ----------
    snapshot, placement
        As for `storm_status`.

    Raises
    ------
    InputError
        For bad input.

    Examples
    --------
    >>> import slotwise
    >>> plan = slotwise.place("docs/examples/word-count.json", "r-storm")
    >>> slotwise.rebalance_commands("docs/examples/word-count.json", plan)[0].split()[:3]
    ['storm', 'rebalance', 'wc']
    """
    problem = as_problem(snapshot)
    wanted = _places(problem, placed(placement, problem))
    running, commands = problem.instance.running, []
    host_of = {node.id: node.host or node.id for node in problem.instance.cluster.nodes}
    for topology in problem.instance.topologies:
        places = wanted.get(topology.id)
        if not places or (running and not _state(topology.id, wanted, running).elsewhere):
            continue
        demands = {
            one.id: {_STORM_NAMES.get(k, k): float(v) for k, v in one.resources.items()}
            for one in topology.components
            if one.kind != "system"
        }
        hosts = Counter(host_of[place.node] for place in places.values())
        favoured = {"topology.scheduler.favored.nodes": [host for host, _ in hosts.most_common()]}
        words = ["storm", "rebalance", topology.id, "-w", "0", "-r", json.dumps(demands)]
        commands.append(shlex.join([*words, "-t", json.dumps(favoured)]))
    return commands


_STORM_NAMES = {
    "cpu": "cpu.pcore.percent",
    "onheap_mb": "onheap.memory.mb",
    "offheap_mb": "offheap.memory.mb",
}


def _places(problem: Problem, placement: Placement) -> Places:
    return {
        topology: {task: Place(**place) for task, place in places.items()}
        for topology, places in placement.to_dict(problem.instance).items()
    }


def _state(name: str, wanted: Places, running: Places) -> TopologyState:
    """Compare nodes, and which tasks share a worker; the labels of workers do not count.

    Each planned worker is matched with a running one of its node so that most tasks agree.
    """
    planned, actual = wanted[name], running.get(name, {})
    common = Counter(
        (place, actual[task])
        for task, place in planned.items()
        if task in actual and actual[task].node == place.node
    )
    graph: nx.Graph[tuple[str, Place]] = nx.Graph()
    for (place, real), tasks in common.items():
        graph.add_edge(("planned", place), ("running", real), weight=tasks)
    matched = nx.max_weight_matching(graph)
    same = sum(graph.edges[pair]["weight"] for pair in matched)
    return TopologyState(name, len(planned), len(planned) - same)


def _check_jar(address: str, folder: Path, timeout_s: float) -> None:
    """Check what Nimbus's settings tell of the jar: it reads plans here, and may follow them."""
    with Nimbus(address, timeout_s) as nimbus:
        conf = json_conf(nimbus.ask("getNimbusConf"), "getNimbusConf")
    named = conf.get(PLANS)
    if not isinstance(named, str):
        rule = "is not set in Nimbus: the jar slotwise-storm reads no plans; see the guide"
        raise InputError(rule, field=PLANS, has_value=False)
    if Path(named).resolve() != folder.resolve():
        rule = f"is not the folder that Nimbus reads plans from ({PLANS}: {named})"
        raise InputError(rule, field="plans", value=str(folder))
    allowed = conf.get(WHITELIST)
    if isinstance(allowed, list) and allowed and PLANNED_STRATEGY not in allowed:
        raise InputError(f"lacks {PLANNED_STRATEGY}: add it", field=WHITELIST, has_value=False)


@contextmanager
def _only_here(folder: Path) -> Iterator[None]:
    """Let nobody else apply a plan in a folder meanwhile."""
    with (folder / ".applying").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            rule = "is where another plan is being applied; wait until that has ended"
            raise InputError(rule, field="plans", value=str(folder)) from None
        yield


def _check_unchanged(instance: Instance, now: Imported, wanted: Places | None) -> None:
    """Check that the cluster is as in the snapshot, or where it differs already as `wanted`.

    ``None``: tasks may run anywhere, to be rolled back, and further topologies may be there.
    """
    nodes = {node.id: (node.slots, dict(node.resources)) for node in now.nodes}
    left = {place.node for places in (instance.running or {}).values() for place in places.values()}
    for node in instance.cluster.nodes:
        if wanted is None and node.id not in left:
            continue  # nothing goes back to it
        if nodes.get(node.id) != (node.slots, dict(node.resources)):
            rule = "has other slots or resources"
            if node.id not in nodes:
                rule = "is gone, or blacklisted,"
            rule += " since the snapshot; "
            rule += "import again" if wanted is not None else "what ran there cannot go back"
            raise InputError(rule, field="node", value=node.id)
    topologies = {one.id: one for one in now.topologies}
    more = topologies.keys() - {one.id for one in instance.topologies}
    if more and wanted is not None:
        rule = "was submitted since the snapshot; import again"
        raise InputError(rule, field="topology", value=min(more))
    for topology in instance.topologies:
        other = topologies.get(topology.id)
        counts = {one.id: one.parallelism for one in topology.placed_components}
        if other is None or {one.id: one.parallelism for one in other.placed_components} != counts:
            rule = "is gone" if other is None else "has other numbers of executors"
            rule = f"{rule} since the snapshot; import again"
            raise InputError(rule, field="topology", value=topology.id)
        if wanted is None:
            continue
        before = (instance.running or {}).get(topology.id, {})
        has_moved = dict(before) != dict(now.running.get(topology.id, {}))
        if has_moved and _state(topology.id, wanted, now.running).elsewhere:
            rule = "runs elsewhere since the snapshot; import again"
            raise InputError(rule, field="topology", value=topology.id)


def _replace_old(
    folder: Path,
    ids: Mapping[str, str],
    wanted: Places,
    order: Sequence[str],
    signed: Mapping[str, Any],
) -> None:
    """Replace older plans of topologies that need not move: their next rebalance follows them."""
    for name in wanted.keys() - set(order):
        if (folder / plan_file(name)).exists():
            _write(folder, name, ids[name], wanted[name], signed)


def _order(instance: Instance, wanted: Places, running: Places) -> list[str]:
    """Return the topologies that change, each when its places are free.

    Raises
    ------
    InputError
        When the plan breaks a rule, or no order does.
    """
    current: dict[str, Mapping[str, Place]] = {name: dict(p) for name, p in running.items()}
    pending = [name for name, places in wanted.items() if _state(name, wanted, running).elsewhere]
    order: list[str] = []
    while pending:
        for name in pending:
            broken = _broken(instance, {**current, name: wanted[name]})
            if broken is None:
                break
        else:
            whole = _broken(instance, {**current, **wanted})
            if whole is not None:
                raise InputError(f"breaks a rule: {whole}", field="plan", has_value=False)
            rule = (
                f"exchanges the places of {counted(len(pending), 'topology', 'topologies')} "
                f"({', '.join(pending)}), which Storm rebalances one after another: {broken}"
            )
            raise InputError(rule, field="plan", has_value=False)
        current[name] = wanted[name]
        pending.remove(name)
        order.append(name)
    return order


def _broken(instance: Instance, places: Places) -> str | None:
    """Return the first hard rule that is broken; what does not run at all breaks none."""
    placed_ids = {name for name, tasks in places.items() if tasks}
    part = replace(
        instance,
        topologies=tuple(one for one in instance.topologies if one.id in placed_ids),
        running=None,
        objective=replace(instance.objective, terms=("network",)),
        linear=(),
    )
    data = {name: places[name] for name in placed_ids if name in {t.id for t in part.topologies}}
    verdict = judge(part, Placement.from_dict(part, data))
    return None if verdict.valid else str(verdict.violations[0])


def _rank(name: str, order: list[str]) -> tuple[int, str]:
    return (order.index(name) if name in order else len(order)), name


def _write(
    folder: Path, name: str, storm_id: str, places: Mapping[str, Place], signed: Mapping[str, Any]
) -> None:
    """Write the plan of one topology as the jar reads it: a line, and a line that confirms it."""
    executors: dict[str, list[list[Any]]] = {}
    for task, place in places.items():
        component, _, index = task.removesuffix("]").rpartition("[")
        own = executors.setdefault(component, [])
        own.extend([] for _ in range(int(index) + 1 - len(own)))
        own[int(index)] = [place.node, place.worker]
    now = int(time.time())
    plan = {
        "format": FORMAT,
        "topology": name,
        "id": storm_id,
        "snapshot": signed["snapshot"],
        "made": now,
        "expires": now + int(signed["max_age_s"]),
        "executors": executors,
    }
    line = json.dumps(plan, ensure_ascii=False)
    digest = hashlib.sha256(line.encode()).hexdigest()
    write_atomically(folder / plan_file(name), f"{line}\n{digest}\n")


def plan_file(topology: str) -> str:
    """Return the name of a topology's plan, as the jar makes it: never a path."""
    return quote_plus(topology, safe="*-_").replace(".", "%2E").replace("~", "%7E") + ".plan"


def _rebalance(address: str, name: str, storm_id: str, tasks: int, timeout_s: float) -> None:
    """Ask Nimbus to place a topology again, by our strategy around its own, and wait for it.

    Raises
    ------
    InputError
        Where not as many `tasks` run as before at the end of the time: then its strategy is set
        back, if it was changed here; the error says so, or that it could not be.
    """
    with Nimbus(address, timeout_s) as nimbus:
        _wait_until_ready(nimbus, name, timeout_s)
        conf = parse_json(nimbus.ask("getTopologyConf", storm_id))
        before = conf.get(STRATEGY)
        is_new = before != PLANNED_STRATEGY
        _ask_rebalance(
            nimbus, name, {STRATEGY: PLANNED_STRATEGY, WRAPPED: before} if is_new else {}
        )
    if _is_placed(address, name, storm_id, tasks, timeout_s):
        return
    back = ""
    if is_new:
        try:
            with Nimbus(address, timeout_s) as nimbus:
                _wait_until_ready(nimbus, name, timeout_s)
                _ask_rebalance(nimbus, name, {STRATEGY: before})
            back = f"; its strategy is {before} again"
        except InputError as error:
            back = f"; set {STRATEGY} back to {before} yourself, for that failed ({error})"
    raise InputError(
        f"was not placed by Storm in {timeout_s:g} s{back}: see Nimbus's log, and whether the jar "
        "slotwise-storm is in every Nimbus",
        field="topology",
        value=name,
    )


def _wait_until_ready(nimbus: Nimbus, name: str, timeout_s: float) -> None:
    """Wait until there is a leader, and no rebalance is under way or the time is over.

    Nimbus refuses a second rebalance. One that has restarted refuses any until it is the leader:
    until ZooKeeper has given up the session of the Nimbus before.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        cluster = nimbus.ask("getClusterInfo")
        has_leader = any(one.isLeader for one in cluster.nimbuses)
        if has_leader and not _is_rebalancing(cluster, name):
            return
        if time.monotonic() > deadline:
            break
        time.sleep(POLL_S)
    if not has_leader:
        rule = f"has had no leader for {timeout_s:g} s: apply again when one is elected"
        raise InputError(rule, has_value=False, file=nimbus.address)


def _ask_rebalance(nimbus: Nimbus, name: str, overrides: Mapping[str, object]) -> None:
    options = nimbus.types.RebalanceOptions(
        wait_secs=0, topology_conf_overrides=json.dumps(overrides) if overrides else None
    )
    nimbus.ask("rebalance", name, options)


def _is_placed(address: str, name: str, storm_id: str, tasks: int, timeout_s: float) -> bool:
    """Wait until Nimbus has rebalanced a topology and as many tasks run as before.

    A question that is not answered, for example while another Nimbus becomes the leader, is asked
    again.
    """
    deadline = time.monotonic() + timeout_s
    while (left := deadline - time.monotonic()) > 0:
        time.sleep(POLL_S)
        with suppress(InputError), Nimbus(address, max(left, POLL_S)) as nimbus:
            if _is_rebalancing(nimbus.ask("getClusterInfo"), name):
                continue
            if len(nimbus.executors(storm_id) or ()) >= tasks:
                return True
    return False


def _is_rebalancing(cluster: Any, name: str) -> bool:
    return any(one.status == "REBALANCING" for one in cluster.topologies if one.name == name)
