"""Dynamic task reassignment: section 3.3, equation 11 and Algorithm 2.

From where the tasks run now, each node in turn whose computation is above the average by more than
a share theta of it gives away tasks, those with most traffic to other nodes first, each to the node
that it exchanges most with, until the node is no longer above. How the gaps are read:

- *Threshold*: Algorithm 2 compares the node's computation with theta times the average; the text
  has it "higher than the average ... by theta". The text: (1 + theta) times the average.
- *Theta*: parameter ``theta``, 0.12 as in section 5.3.
- *Computation and traffic*: ``cpu`` of the tasks, and flows of the instance, both directions added;
  tasks on one node exchange nothing (rc = 0).
- *Order*: sorted when the node's turn comes (line 3) and taken from the end, so the largest first,
  with no update in between. Ties: the lowest index. Nodes come in the order of the instance.
- *Receiving node* (line 6): the one with most traffic to the task, then the least computation, then
  the lowest index. It needs room: no more than its cpu, hard or soft, nor than the threshold (else
  the tasks would overload it instead), and no hard rule broken. Without room: the next best, and
  where none has room the task stays.
- A limit of moves in the objective ends the moves.
- It needs ``running``, for every task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from numpy.random import Generator

from slotwise.heuristics.method import Method, never_stopped
from slotwise.heuristics.node_capacity import computation, needs_cpu, task_costs
from slotwise.heuristics.partial_placement import Ledger, LedgerWorker
from slotwise.heuristics.placed_neighbours import PlacedNeighbours, links
from slotwise.heuristics.stromax.greedy_stream import hard_dimensions
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.number_text import exact_text
from slotwise.models.problem.problem import Problem
from slotwise.models.suggestion import suggestion
from slotwise.models.values import as_decimal, exact

NAME = "stromax-reassign"
THETA = Fraction(12, 100)
"""Section 5.3: between 10 % and 15 % is best for most workloads; the experiments have 12 %."""


def threshold(loads: list[int], theta: Fraction) -> Fraction:
    """Return the most computation of a node that is not skew (equation 11, with the text)."""
    return (1 + theta) * Fraction(sum(loads), len(loads))


def supports(problem: Problem) -> str | None:
    """Return why tasks cannot be reassigned; ``None`` = they can."""
    if any(one.home is None for one in problem.classes):
        return "needs to know where every task runs now (`running`)"
    return needs_cpu(problem)


def reassign(problem: Problem, theta: Fraction, token: CancellationToken) -> Placement | Refusal:
    """Return where Algorithm 2 moves the running tasks; nothing in it is random."""
    ledger = Ledger(problem, hard_dimensions(problem))
    workers: dict[tuple[int, tuple[int, int]], LedgerWorker] = {}
    for one in problem.classes:
        assert one.home is not None, "checked by `supports`"
        for task in one.tasks:
            key = (one.topology, one.home)
            worker = workers.setdefault(key, LedgerWorker(one.topology, one.home[1]))
            ledger.put(task, one.home[0], worker)
    if problem.task_count:
        moves = Moves(ledger, theta, token)
        for node in range(problem.node_count):
            moves.relieve(node)
    return ledger.placement()


@dataclass(slots=True)
class _Load:
    """Computation on the nodes, and the most that each may have after receiving a task."""

    now: list[int]
    limit: Fraction
    most: list[Fraction]


class Moves:
    """The tasks that run, being moved one by one."""

    def __init__(self, ledger: Ledger, theta: Fraction, token: CancellationToken) -> None:
        self._token = token
        problem = ledger.problem
        self._ledger = ledger
        self._class: list[int] = problem.task_class.tolist()
        self._costs = task_costs(problem)
        self._traffic = PlacedNeighbours(problem, links(problem, lambda _, flow: flow))
        now = [0] * problem.node_count
        for task, (node, _) in ledger.places.items():
            now[node] += self._costs[self._class[task]]
            self._traffic.put(task, node)
        limit = threshold(now, theta)
        most = [min(limit, Fraction(capacity)) for capacity in computation(problem)]
        self._load = _Load(now, limit, most)
        self._away: set[int] = set()
        assert problem.cpu is not None, "checked by `supports`"
        self._kept = {*ledger.hard, problem.cpu}

    def relieve(self, node: int) -> None:
        """Move tasks away from `node` while it is above the threshold (lines 2 to 10)."""
        if self._load.now[node] <= self._load.limit:
            return
        own = [task for task, (here, _) in self._ledger.places.items() if here == node]
        remote = {task: self._remote(task, node) for task in own}
        for task in sorted(own, key=lambda task: (-remote[task], task)):
            if self._load.now[node] <= self._load.limit or not self._may_move(task):
                break
            self._token.check()
            self._send_away(task, node)

    def _remote(self, task: int, node: int) -> int:
        """Return the traffic of `task` with tasks on other nodes."""
        gains = self._traffic.gains(task)
        return gains.total() - gains[node]

    def _may_move(self, task: int) -> bool:
        return len(self._away | {task}) <= self._ledger.problem.move_limit

    def _send_away(self, task: int, node: int) -> None:
        gains, load = self._traffic.gains(task), self._load
        cost = self._costs[self._class[task]]
        others = [j for j in range(len(load.now)) if j != node]
        for j in sorted(others, key=lambda j: (-gains[j], load.now[j], j)):
            if load.now[j] + cost > load.most[j]:
                continue
            worker = self._ledger.find_worker(task, j, self._kept)
            if worker is None:
                continue
            self._ledger.remove(task)
            self._ledger.put(task, j, worker)
            self._traffic.remove(task, node)
            self._traffic.put(task, j)
            load.now[node] -= cost
            load.now[j] += cost
            self._away.add(task)
            return


def stromax_reassign(theta: Fraction = THETA) -> Method:
    """Return the method ``stromax-reassign`` with this share above the average, 0 or more."""
    written, percent = (exact_text(as_decimal(share)) for share in (theta, 100 * theta))

    def place_until(
        problem: Problem, rng: Generator, token: CancellationToken
    ) -> Placement | Refusal:
        return reassign(problem, theta, token)

    return Method(
        name=NAME if theta == THETA else f"{NAME}:theta={written}",
        source="StroMAX (Jiang et al., DASFAA 2017), section 3.3, Algorithm 2",
        place=never_stopped(place_until),
        supports=supports,
        description=(
            f"Moves running tasks away from nodes more than {percent} % above the average cpu, to "
            "the nodes with which they exchange most."
        ),
        parameters={"theta": written},
        configure=_configured,
        place_until=place_until,
        draws=False,
    )


def _configured(given: Mapping[str, tuple[str, ...]]) -> Method:
    theta = THETA
    for key, values in given.items():
        if key != "theta":
            rule = f"is not a parameter of {NAME}; {suggestion(key, ['theta'])}"
            raise InputError(rule, field="method", value=key)
        if len(values) != 1:
            raise InputError("must be one number", field=f"{NAME}:theta", value=",".join(values))
        theta = Fraction(exact(values[0], f"{NAME}:theta"))
    return stromax_reassign(theta)


STROMAX_REASSIGN = stromax_reassign()
