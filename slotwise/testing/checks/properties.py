"""What is checked, a property each: a function of a trial and an instance that finds a fault.

A property returns a `Finding`, or ``None`` where it holds, and raises `NotJudgedError` where it
says nothing of the instance. Those that compare two answers make a variant of the instance that
follows from it alone, so that a finding can be reproduced from the instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, LinearCost, Place, Running
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal, to_places
from slotwise.models.instance.topology import Topology
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict, Violation
from slotwise.models.values import plain
from slotwise.solver.core.judged_result import gap_of
from slotwise.solver.core.result import Outcome, Status
from slotwise.testing.checks.answer import Answer
from slotwise.testing.checks.finding import Finding, NotJudgedError
from slotwise.testing.checks.scheduler import HASH_SEEDS
from slotwise.testing.checks.trial import NOT_VALID, REFUSED, Trial, on_variant
from slotwise.testing.random_instances.lost_nodes import without_nodes
from slotwise.testing.random_instances.wide_numbers import is_within_limits

MOST_SHOWN = 6
"""Most tasks that a finding names."""

PLACED = "placed"
"""The judge's rule that topologies are placed whole."""


def is_valid(trial: Trial, instance: Instance) -> Finding | None:
    """Hold the placement against the judge: no hard rule may be broken."""
    return _broken(trial, instance, trial.verdict(instance).violations)


def is_complete(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that every topology is placed whole (where ``rejected`` counts: whole or not)."""
    violations = trial.verdict(instance).violations
    return _broken(trial, instance, [one for one in violations if one.rule == PLACED])


def ends_within(trial: Trial, instance: Instance, seconds: float) -> Finding | None:
    """Hold it that an answer comes within `seconds` of wall-clock time.

    A scheduler that takes longer, if only to refuse, is given up then, which raises `MethodError`.
    One that refuses in time has placed nothing: that is not judged.
    """
    answer = replace(trial, time_limit_s=seconds).new_answer(instance)
    if isinstance(answer, Refusal):
        raise NotJudgedError(REFUSED)
    return None


def _broken(trial: Trial, instance: Instance, violations: Sequence[Violation]) -> Finding | None:
    if not violations:
        return None
    firsts = first_of_each_rule(violations)
    reasons = [
        _missing(trial, instance, one) if rule == PLACED else f"breaks {one}"
        for rule, one in firsts.items()
    ]
    others = len(violations) - len(firsts)
    more = f" (and {others} more)" if others else ""
    return Finding(f"{'; '.join(reasons)}{more}", tuple(firsts))


def first_of_each_rule(violations: Sequence[Violation]) -> dict[str, Violation]:
    """Return rule -> its first violation, in the judge's order."""
    firsts: dict[str, Violation] = {}
    for one in violations:
        firsts.setdefault(one.rule, one)
    return firsts


def _missing(trial: Trial, instance: Instance, broken: Violation) -> str:
    """Say which tasks of a topology have no place."""
    topology = broken.place.removeprefix("topology ")
    answer, _ = trial.judged(instance)
    missing = [
        task
        for (key, task), node in zip(instance.task_names(), answer.nodes, strict=True)
        if key == topology and node == UNPLACED
    ]
    shown = ", ".join(missing[:MOST_SHOWN]) + (", ..." if len(missing) > MOST_SHOWN else "")
    count = f"{plain(broken.available)} of {plain(broken.needed)} tasks placed"
    return f"{topology}: {count} (missing: {shown})"


# How a scheduler compares with the optimum: what it refuses, how far off it is, what it moves.

NOT_PLACEABLE = "no placement of all tasks exists"


def admits(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that what can be placed whole is: not refused, left out, or placed against a rule."""
    answer = trial.answer(instance)
    if isinstance(answer, Refusal):
        _check_placeable(trial, instance)
        return Finding(f"refuses what can be placed: {answer.reason}", ("refuses",))
    if UNPLACED in answer.nodes:
        _check_placeable(trial, instance)
        return Finding("leaves out tasks that can all be placed", ("leaves out",))
    broken = first_of_each_rule(trial.verdict(instance).violations)
    if broken:
        _check_placeable(trial, instance)
        reasons = "; ".join(f"breaks {one}" for one in broken.values())
        return Finding(f"{reasons}, where a valid placement exists", tuple(broken))
    return None


def _check_placeable(trial: Trial, instance: Instance) -> None:
    if not trial.oracle.optimum(instance).is_complete:
        raise NotJudgedError(NOT_PLACEABLE)


def gap_is_at_most(trial: Trial, instance: Instance, most: float) -> Finding | None:
    """Hold the gap to the optimum against `most`.

    The gap is (value - optimum) / max(|value|, 10^-6) of the first term in which they differ:
    where the optimum is 0, any other value has the gap 1.
    """
    _, verdict = trial.valid(instance)
    best = trial.oracle.optimum(instance).values
    assert best is not None, "a valid placement exists"
    gap = _gap(verdict, best)
    if gap <= most:
        return None
    differ = (one for one in zip(verdict.objective, best, strict=True) if one[0].scaled != one[1])
    term, optimum = next(differ)
    unit = term.value / term.scaled
    shown = f"{term.term} is {float(term.value):g}, the optimum {float(optimum * unit):g}"
    return Finding(f"{shown}: a gap of {gap:.4g}, at most {most:g} is allowed")


def _gap(verdict: Verdict, best: tuple[int, ...]) -> float:
    claim = Outcome(Status.FEASIBLE, None, verdict.scaled, best, proof="")
    gap = gap_of(claim, verdict.problem.terms)
    assert gap is not None, "every term has a value and a bound"
    return gap


NOTHING_RUNS = "nothing runs"
MORE_NEEDED = "more moves are needed"


def moves_at_most(trial: Trial, instance: Instance, most: float) -> Finding | None:
    """Hold it that at most `most` running tasks move where that many are enough."""
    if not instance.running:
        raise NotJudgedError(NOTHING_RUNS)
    _, verdict = trial.valid(instance)
    moved = verdict.parts["moved"]
    if moved <= most:
        return None
    objective = replace(instance.objective, terms=("moved",))
    fewest = trial.oracle.optimum(replace(instance, objective=objective)).values
    if fewest is None or fewest[0] > most:
        raise NotJudgedError(MORE_NEEDED)
    return Finding(f"moves {moved} running tasks, where {fewest[0]} are enough; at most {most:g}")


# Whether a scheduler answers the same when it is asked the same.

CALLS = 3
"""How often a scheduler is asked the same, with the same seed."""


def is_deterministic(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that each call, with the same seed, has the same answer; reasons may differ.

    Python's seed of hashing differs from call to call: an order that follows from it shows.
    """
    first = trial.new_answer(instance)
    for call in range(1, CALLS):
        other = trial.new_answer(instance, HASH_SEEDS[call % len(HASH_SEEDS)])
        if not _are_alike(first, other):
            return Finding(
                f"answers {_shown_run(instance, first)}, then {_shown_run(instance, other)}"
            )
    if isinstance(first, Refusal):
        raise NotJudgedError(REFUSED)
    return None


def _are_alike(one: Answer, other: Answer) -> bool:
    both_refuse = not isinstance(one, Placement) and not isinstance(other, Placement)
    return both_refuse or one == other


def _shown_run(instance: Instance, answer: Answer) -> str:
    if not isinstance(answer, Placement):
        return "with a refusal"
    ids = [node.id for node in instance.cluster.nodes]
    rows = zip(instance.task_names(), answer.nodes, answer.workers, strict=True)
    places = [
        f"{task} on {ids[n]}/{w}" if n >= 0 else f"{task} nowhere" for (_, task), n, w in rows
    ]
    if not places:
        return "with a placement of nothing"
    return ", ".join(places[:6]) + (", ..." if len(places) > 6 else "")


# Whether names and orders that mean nothing change what a scheduler's placement costs.
#
# Names of a kind change places in alphabetical order (the first becomes the last), so that
# whoever sorts by name sees another order; all lists are reversed.

Names = Mapping[str, str]


def renamed(instance: Instance) -> Instance:
    """Return the instance with other ids of nodes, hosts, racks, topologies and components."""
    nodes = instance.cluster.nodes
    places = _other_names("node", (*(one.id for one in nodes), *instance.lost))
    hosts = _other_names("host", (one.host for one in nodes if one.host != one.id)) | places
    racks = _other_names("rack", instance.cluster.racks)
    ids = _other_names("topology", (one.id for one in instance.topologies))
    parts = {
        one.id: _other_names("c", (c.id for c in one.components)) for one in instance.topologies
    }
    moved = tuple(_node_renamed(one, places, hosts, racks) for one in nodes)
    uplinks = {racks[rack]: mbit_s for rack, mbit_s in instance.cluster.uplink_mbit_s.items()}
    return replace(
        instance,
        cluster=replace(instance.cluster, nodes=moved, uplink_mbit_s=uplinks),
        topologies=tuple(
            _topology_renamed(t, ids[t.id], parts[t.id], hosts) for t in instance.topologies
        ),
        running=_running_renamed(instance.running, ids, parts, places),
        linear=tuple(_linear_renamed(instance, row, ids, parts, places) for row in instance.linear),
    )


def _other_names(kind: str, names: Iterable[str]) -> dict[str, str]:
    """Return name -> another one, whose rank in alphabetical order is the reverse."""
    known = sorted(set(names))
    width = len(str(len(known)))
    return {name: f"{kind}-{len(known) - rank:0{width}}" for rank, name in enumerate(known)}


def _node_renamed(node: Node, places: Names, hosts: Names, racks: Names) -> Node:
    return replace(node, id=places[node.id], host=hosts[node.host], rack=racks[node.rack])


def _topology_renamed(topology: Topology, key: str, parts: Names, hosts: Names) -> Topology:
    rules = topology.constraints
    pairs = tuple((parts.get(a, a), parts.get(b, b)) for a, b in rules.incompatible)
    most = {parts.get(one, one): count for one, count in rules.max_per_node.items()}
    return replace(
        topology,
        id=key,
        components=tuple(replace(c, id=parts[c.id]) for c in topology.components),
        streams=tuple(
            replace(s, source=parts.get(s.source, s.source), target=parts.get(s.target, s.target))
            for s in topology.streams
        ),
        constraints=replace(rules, incompatible=pairs, max_per_node=most),
        shared_memory=tuple(
            replace(region, components=tuple(parts.get(c, c) for c in region.components))
            for region in topology.shared_memory
        ),
        favored_nodes=tuple(hosts.get(one, one) for one in topology.favored_nodes),
        unfavored_nodes=tuple(hosts.get(one, one) for one in topology.unfavored_nodes),
    )


def _task_renamed(task: str, parts: Names) -> str:
    component, _, index = task.rpartition("[")
    return f"{parts.get(component, component)}[{index}"


def _running_renamed(
    running: Running | None, ids: Names, parts: Mapping[str, Names], places: Names
) -> Running | None:
    if running is None:
        return None
    return {
        ids[topology]: {
            _task_renamed(task, parts[topology]): Place(places[place.node], place.worker)
            for task, place in tasks.items()
        }
        for topology, tasks in running.items()
    }


def _linear_renamed(
    instance: Instance, row: LinearCost, ids: Names, parts: Mapping[str, Names], places: Names
) -> LinearCost:
    topology, task = instance.task_of(row.task)
    return LinearCost(
        f"{ids[topology]}/{_task_renamed(task, parts[topology])}", places[row.node], row.cost
    )


def reordered(instance: Instance) -> Instance:
    """Return the instance with nodes, topologies, components and streams in reverse order."""
    return replace(
        instance,
        cluster=_cluster_reordered(instance.cluster),
        topologies=tuple(_topology_reordered(one) for one in reversed(instance.topologies)),
        linear=instance.linear[::-1],
    )


def _cluster_reordered(cluster: Cluster) -> Cluster:
    matrix = cluster.matrix
    if matrix is not None:
        matrix = tuple(row[::-1] for row in reversed(matrix))
    return replace(cluster, nodes=cluster.nodes[::-1], matrix=matrix)


def _topology_reordered(topology: Topology) -> Topology:
    return replace(
        topology,
        components=topology.components[::-1],
        streams=topology.streams[::-1],
        shared_memory=topology.shared_memory[::-1],
    )


Costs = tuple[Fraction, ...]


def ignores_names(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that nodes, racks, topologies and components with other names cost the same."""
    return _same(trial, instance, renamed(instance), "with other names")


def ignores_order(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that nodes, topologies, components and streams in reverse order cost the same."""
    return _same(trial, instance, reordered(instance), "in reverse order")


def _same(trial: Trial, instance: Instance, other: Instance, how: str) -> Finding | None:
    before = _costs(trial, instance, HASH_SEEDS[0])
    with on_variant(how):
        after = _costs(trial, other, HASH_SEEDS[1])
    if before is None and after is None:
        raise NotJudgedError(REFUSED)
    if before == after:
        return None
    terms = instance.objective.terms
    return Finding(f"{_shown(terms, before)}; {how} {_shown(terms, after)}")


def _costs(trial: Trial, instance: Instance, hash_seed: int) -> Costs | None:
    """Return the value of each term; ``None`` for a refusal."""
    answer = trial.answer(instance, hash_seed)
    if isinstance(answer, Refusal):
        return None
    verdict = judge(instance, answer)
    if not verdict.valid:
        raise NotJudgedError(NOT_VALID)
    return tuple(term.value for term in verdict.objective)


def _shown(terms: tuple[str, ...], costs: Costs | None) -> str:
    if costs is None:
        return "refuses"
    return ", ".join(f"{t} {float(c):g}" for t, c in zip(terms, costs, strict=True))


# Whether a scheduler does as well on a cluster with more capacity, or with a node lost.


def is_no_worse_with_more(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that more capacity costs no more, and that what was placed is not refused."""
    _, before = trial.valid(instance)
    for how, larger in _with_more(instance):
        with on_variant(how):
            if isinstance(trial.answer(larger), Refusal):
                return Finding(f"places it, but refuses the same instance {how}")
            after = trial.verdict(larger)
        if not after.valid:
            raise NotJudgedError(NOT_VALID)
        for old, new in zip(before.objective, after.objective, strict=True):
            if new.value > old.value:
                worse = f"{new.term} rises from {float(old.value):g} to {float(new.value):g}"
                return Finding(f"{how}, {worse}")
            if new.value < old.value:
                break
    return None


def _with_more(instance: Instance) -> Iterator[tuple[str, Instance]]:
    cluster = instance.cluster
    variants = (
        ("with twice the capacity on each node", replace(cluster, nodes=_doubled(cluster))),
        ("with one more node like the last", _with_one_more(cluster)),
    )
    for how, larger in variants:
        changed = replace(instance, cluster=larger)
        if is_within_limits(changed):
            yield how, changed


def _doubled(cluster: Cluster) -> tuple[Node, ...]:
    return tuple(
        replace(
            node,
            slots=None if node.slots is None else 2 * node.slots + 1,
            resources={k: None if v is None else 2 * v for k, v in node.resources.items()},
        )
        for node in cluster.nodes
    )


def _with_one_more(cluster: Cluster) -> Cluster:
    """Add a copy of the last node, as far from the others as that one is."""
    taken = {node.id for node in cluster.nodes}
    fresh = next(f"one-more-{n}" for n in range(len(taken) + 1) if f"one-more-{n}" not in taken)
    node = replace(cluster.nodes[-1], id=fresh, host=fresh)
    matrix = cluster.matrix
    if matrix is not None:
        rows = [(*row, row[-1]) for row in matrix]
        matrix = (*rows, rows[-1])
    return replace(cluster, nodes=(*cluster.nodes, node), matrix=matrix)


ONE_NODE = "it has one node"


def survives_node_loss(trial: Trial, instance: Instance) -> Finding | None:
    """Lose each node in use in turn; the rest of the placement is what runs now.

    The scheduler must place all again where that is possible, and keep every rule. One that is not
    for running tasks does not hear of them.
    """
    placement, _ = trial.valid(instance)
    if len(instance.cluster.nodes) == 1:
        raise NotJudgedError(ONE_NODE)
    for node, left in _losses(instance, placement):
        rest = trial.narrowed(left)
        with on_variant(f"without {node}"):
            answer = trial.answer(rest)
        if isinstance(answer, Refusal):
            if trial.oracle.optimum(rest).is_complete:
                return Finding(f"without {node}, refuses what can be placed: {answer.reason}")
            continue
        broken = first_of_each_rule(trial.verdict(rest).violations)
        if broken:
            reasons = "; ".join(f"breaks {one}" for one in broken.values())
            return Finding(f"without {node}, {reasons}", tuple(broken))
    return None


def _losses(instance: Instance, placement: Placement) -> Iterator[tuple[str, Instance]]:
    """Yield each node in use and the instance without it, running what the others hold."""
    placed = replace(instance, running=to_places(instance, placement))
    for index in sorted({n for n in placement.nodes if n >= 0}):
        lost = instance.cluster.nodes[index].id
        yield lost, without_nodes(placed, {lost})
