"""Who makes room for a topology: ``DefaultEvictionStrategy`` of Apache Storm 1.0.6 (tag v1.0.6).

A topology within its owner's guarantee evicts the last running topology of the user who is most
above the own guarantee; else it does so only where that user would be further above it than its
owner. Failing that, it evicts the first running topology of its owner that has a lower priority.
Owners without a guarantee evict nobody.
"""

from __future__ import annotations

from slotwise.heuristics.storm_1_state import State
from slotwise.heuristics.storm_1_topology import Storm1Topology
from slotwise.heuristics.storm_1_user import User
from slotwise.models.errors import SlotwiseError


class EvictionError(SlotwiseError):
    """Storm's strategy stumbles over a topology without tasks, which never had a slot."""


def make_space(state: State, topology: Storm1Topology) -> bool:
    """Evict one topology for `topology`, if the rules allow; return whether they did.

    Raises
    ------
    EvictionError
        As Storm fails: the round goes on without `topology`.
    """
    owner = state.users[topology.owner]
    if owner.cpu == 0 or owner.memory == 0:
        return False
    victim = _of_another(state, topology, owner)
    if victim is None:
        lower = (one for one in owner.running if one.turn[0] > topology.turn[0])
        victim = next(lower, None)
    if victim is None:
        return False
    _evict(state, victim)
    return True


def _of_another(state: State, topology: Storm1Topology, owner: User) -> Storm1Topology | None:
    most_over = _most_over(state)
    if most_over is None:
        return None
    cpu = topology.cpu / owner.cpu
    memory = topology.memory / owner.memory
    within = 1.0 - owner.cpu_share() >= cpu and 1.0 - owner.memory_share() >= memory
    over = most_over.average_share() - 1.0
    if within or over > (cpu + memory) / 2 + (owner.average_share() - 1.0):
        return most_over.running[-1]
    return None


def _most_over(state: State) -> User | None:
    """Return the first user most above the guarantee, of those that have something running."""
    found, most = None, 0.0
    for user in state.users.values():
        over = user.average_share() - 1.0
        if over > most and user.running:
            found, most = user, over
    return found


def _evict(state: State, victim: Storm1Topology) -> None:
    if victim.id in state.assignments:
        state.release(victim)
    elif any(node.workers() for node in state.nodes):
        raise EvictionError(f"topology {victim.id} has no slots to take")
    owner = state.users[victim.owner]
    owner.move(victim, owner.running, owner.pending)
    state.statuses[victim.id] = "Scheduling Pending"
