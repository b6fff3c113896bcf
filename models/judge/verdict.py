"""The judge's answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypedDict

from slotwise.models.display import block, counted, drawn, html_line, html_table
from slotwise.models.frame import frame
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.accounting import Accounting
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT, known, plain, short_text

if TYPE_CHECKING:
    from slotwise.models.frame import DataFrame


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a placement breaks.

    Parameters
    ----------
    rule
        Name of the rule: the hard ones of `slotwise.models.judge.rules.RULES`.
    place
        Where: ``topology wc``, ``node n1``, ``node n1 worker 0``, ``cluster``.
    subject
        What: a resource, topology or component name.
    needed, available
        In the user's units.
    """

    rule: str
    place: str
    subject: str
    needed: Fraction
    available: Fraction

    def __repr__(self) -> str:
        """One line: as `str`, with the class."""
        return f"Violation {self}"

    def __str__(self) -> str:
        """One line for people."""
        needed, available = plain(self.needed), plain(self.available)
        have = "placed" if self.rule == "placed" else "available"
        if self.rule == "max_moved":
            return f"{self.rule}: {self.place}, {self.subject}: {needed} moved, {available} allowed"
        return f"{self.rule}: {self.place}, {self.subject}: {needed} needed, {available} {have}"


Amounts = dict[str, int | float]
"""By resource, in the user's units."""


class NodeLoad(TypedDict):
    """Load and capacity of a node; without limit where the capacity is ``None``."""

    node: str
    rack: str
    load: Amounts
    capacity: dict[str, int | float | None]


class WorkerLoad(TypedDict, total=False):
    """What is in a worker; `onheap_mb` where the instance counts memory."""

    node: str
    worker: int
    topology: str
    tasks: int
    load: Amounts
    onheap_mb: int | float


@dataclass(frozen=True, slots=True)
class TermValue:
    """Value of one term: `scaled` in integer steps of the term, `value` in the user's unit."""

    term: str
    scaled: int
    value: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What a placement costs and which hard rules it breaks.

    Parameters
    ----------
    problem, placement
        What was judged.
    violations
        Empty when the placement is valid.
    objective
        One value per term, in the objective's order.
    parts
        Every part of the objective, also those not in it, in the user's unit; ``bottleneck`` only
        where it is in it.
    flow_by_level
        Flow between tasks whose lowest common place is a worker, node, rack, the cluster.
    accounting
        Loads and counts per worker and node, in integer units.

    Examples
    --------
    >>> import slotwise
    >>> instance = slotwise.read_instance("docs/examples/word-count.json")
    >>> slotwise.judge(instance, slotwise.place(instance, "r-storm"))
    Verdict word-count: valid; overload 0, network 28
    """

    problem: Problem
    placement: Placement
    violations: tuple[Violation, ...]
    objective: tuple[TermValue, ...]
    parts: dict[str, Fraction]
    flow_by_level: tuple[Fraction, Fraction, Fraction, Fraction]
    accounting: Accounting

    def __repr__(self) -> str:
        """At most five lines: valid or not, the costs, the first violations."""
        return block(self._head(), [str(violation) for violation in self.violations])

    def _repr_html_(self) -> str:
        rows = [("term", term.term, short_text(term.value)) for term in self.objective]
        rows += [("violation", one.rule, str(one).partition(": ")[2]) for one in self.violations]
        table = html_table(("", "", "value"), rows, len(rows))
        return html_line(self._head()) + table + drawn(self)

    def to_frame(self, rows: str = "terms") -> DataFrame:
        """Return the verdict as a pandas DataFrame, in the user's units.

        Parameters
        ----------
        rows
            ``terms``: term and value. ``violations``: rule, place, subject, needed, available.
            ``nodes``: node, rack, then load and capacity (null = no limit) of each resource.
            ``tasks``: as `Placement.to_frame`.

        Raises
        ------
        InputError
            For another text.

        Examples
        --------
        >>> import slotwise
        >>> instance = slotwise.read_instance("docs/examples/word-count.json")
        >>> slotwise.judge(instance, slotwise.place(instance, "r-storm")).to_frame()
               term  value
        0  overload      0
        1   network     28
        """
        known(rows, ("terms", "violations", "nodes", "tasks"), "rows")
        if rows == "tasks":
            return self.placement.to_frame(self.problem.instance)
        if rows == "nodes":
            dims = self.problem.dims
            heads = [f"{kind}_{dim}" for kind in ("load", "capacity") for dim in dims]
            loads = (
                (n["node"], n["rack"], *n["load"].values(), *n["capacity"].values())
                for n in self.node_loads()
            )
            return frame(("node", "rack", *heads), loads)
        if rows == "terms":
            return frame(("term", "value"), ((t.term, plain(t.value)) for t in self.objective))
        return frame(
            ("rule", "place", "subject", "needed", "available"),
            (
                (v.rule, v.place, v.subject, plain(v.needed), plain(v.available))
                for v in self.violations
            ),
        )

    def _head(self) -> str:
        broken = counted(len(self.violations), "violation")
        costs = ", ".join(f"{term.term} {short_text(term.value)}" for term in self.objective)
        return f"Verdict {self.problem.instance.name}: {'valid' if self.valid else broken}; {costs}"

    @property
    def valid(self) -> bool:
        """Whether no hard rule is broken."""
        return not self.violations

    @property
    def scaled(self) -> tuple[int, ...]:
        """The objective as integers, comparable in lexicographic order."""
        return tuple(term.scaled for term in self.objective)

    def to_document(self) -> dict[str, Any]:
        """Return the verdict as JSON-ready data in the user's units."""
        return {
            "valid": self.valid,
            "violations": [
                {
                    "rule": v.rule,
                    "place": v.place,
                    "subject": v.subject,
                    "needed": plain(v.needed),
                    "available": plain(v.available),
                }
                for v in self.violations
            ],
            "objective": [{"term": t.term, "value": plain(t.value)} for t in self.objective],
            "parts": {part: plain(value) for part, value in self.parts.items()},
            "pairs": dict(
                zip(
                    ("worker", "node", "rack", "cluster"),
                    map(plain, self.flow_by_level),
                    strict=True,
                )
            ),
            "nodes": self.node_loads(),
            "workers": self.worker_loads(),
        }

    def node_loads(self) -> list[NodeLoad]:
        """Return load and capacity of each node, in cluster order."""
        problem = self.problem
        return [
            {
                "node": node.id,
                "rack": node.rack,
                "load": self._amounts(self.accounting.node_load[n].tolist()),
                "capacity": self._capacities(problem.capacity[n].tolist()),
            }
            for n, node in enumerate(problem.instance.cluster.nodes)
        ]

    def worker_loads(self) -> list[WorkerLoad]:
        """Return topology, number of tasks, load and heap of each worker in use."""
        problem = self.problem
        rows: list[WorkerLoad] = []
        for rule, workers in zip(problem.rules, self.accounting.topologies, strict=True):
            for g, node in enumerate(workers.node.tolist()):
                row: WorkerLoad = {
                    "node": problem.instance.cluster.nodes[node].id,
                    "worker": int(workers.label[g]),
                    "topology": rule.id,
                    "tasks": int(workers.counts[g].sum()),
                    "load": self._amounts(workers.load[g].tolist()),
                }
                if problem.memory is not None:
                    row["onheap_mb"] = plain(int(workers.heap[g]) * problem.units[problem.memory])
                rows.append(row)
        return rows

    def _amounts(self, scaled: list[int]) -> Amounts:
        units = zip(self.problem.dims, scaled, self.problem.units, strict=True)
        return {d: plain(amount * unit) for d, amount, unit in units}

    def _capacities(self, scaled: list[int]) -> dict[str, int | float | None]:
        units = zip(self.problem.dims, scaled, self.problem.units, strict=True)
        return {d: None if most == NO_LIMIT else plain(most * unit) for d, most, unit in units}
