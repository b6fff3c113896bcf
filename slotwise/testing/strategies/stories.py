"""Stories: topologies come and go, nodes fail, and a scheduler is asked each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.placement import Refusal, to_places
from slotwise.models.instance.topology import Topology
from slotwise.models.instance_file import instance_hash
from slotwise.models.judge.judge import judge
from slotwise.testing.checks.answer import Answer
from slotwise.testing.checks.scheduler import HASH_SEEDS, NamedScheduler, Testable, as_scheduler
from slotwise.testing.random_instances.lost_nodes import without_nodes
from slotwise.testing.random_instances.tiny import RESOURCES
from slotwise.testing.strategies.instances import clusters, topologies


def check_answer(instance: Instance, answer: Answer, again: Answer) -> None:
    """Check what a scheduler says to an instance, and says when it is asked again.

    Raises
    ------
    AssertionError
        When the answers differ (in more than the reason of a refusal), a refusal has no reason, or
        the judge finds a rule broken: so also where tasks are left out while their topology is not,
        or topologies while the objective has no ``rejected``.
    """
    if isinstance(answer, Refusal):
        assert isinstance(again, Refusal), "not deterministic: refuses, then places"
        assert answer.reason.strip(), "refuses without a reason"
        return
    assert answer == again, f"not deterministic: {answer}, then {again}"
    violations = judge(instance, answer).violations
    assert not violations, "invalid: " + "; ".join(map(str, violations))


OBJECTIVES: tuple[tuple[str, ...], ...] = (
    ("network",),
    ("overload", "network"),
    ("rejected", "moved", "network"),
)
"""Terms of the objective, of which one is drawn for each story; the plainest first."""


class SchedulerStory(RuleBasedStateMachine):
    """A cluster and topologies over time; subclasses name the scheduler. See `story_of`.

    A story begins with a cluster without topologies. In each step a topology arrives or leaves, a
    node fails or comes back, or a topology is rebalanced: one of its components gets another number
    of tasks. After each step the scheduler is asked with the instance as it is then, in which
    `running` says where tasks still run. Its answer must be a valid placement or a refusal with a
    reason, and the same answer when it is asked again. Where the objective counts ``rejected``,
    it must not refuse: what it leaves out is named by leaving it, and only it, unplaced. What it
    places runs from then on; after a refusal nothing is changed.

    Class attributes set the sizes; assign them in a subclass.
    """

    scheduler: ClassVar[NamedScheduler]
    """Whom the story is about."""

    most_nodes: ClassVar[int] = 3
    """Most nodes of the cluster."""

    most_topologies: ClassVar[int] = 2
    """Most topologies at a time."""

    most_tasks: ClassVar[int] = 3
    """Most tasks with which a topology arrives, and most of a component after a rebalance."""

    objectives: ClassVar[Sequence[tuple[str, ...]]] = OBJECTIVES
    """Terms of the objective, of which one is drawn for each story."""

    _answered: ClassVar[dict[str, tuple[Answer, Answer]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._answered = {}

    def __init__(self) -> None:
        super().__init__()
        self._cluster = Cluster((Node("n1", "r1"),))
        self._resources: list[str] = []
        self._failed: tuple[str, ...] = ()
        self._topologies: tuple[Topology, ...] = ()
        self._arrived = 0
        self._terms: tuple[str, ...] = ("network",)
        self._running: dict[str, dict[str, Place]] = {}

    @property
    def instance(self) -> Instance:
        """The instance as it is now: the nodes that have not failed, and what runs on them."""
        every = Instance(
            name="story",
            cluster=self._cluster,
            topologies=self._topologies,
            running=self._running,
            objective=Objective(self._terms),
        )
        return without_nodes(every, self._failed)

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Draw the cluster and the objective."""
        subsets = st.lists(st.sampled_from(RESOURCES), unique=True)
        self._resources = data.draw(subsets, label="resources")
        strategy = clusters(most_nodes=self.most_nodes, resources=self._resources)
        self._cluster = data.draw(strategy, label="cluster")
        self._terms = data.draw(st.sampled_from(list(self.objectives)), label="objective")

    @precondition(lambda self: len(self._topologies) < self.most_topologies)
    @rule(data=st.data())
    def topology_arrives(self, data: st.DataObject) -> None:
        """Submit a topology."""
        self._arrived += 1
        strategy = topologies(
            f"topology-{self._arrived}",
            most_tasks=self.most_tasks,
            resources=self._resources,
            rates=False,
        )
        self._topologies += (data.draw(strategy, label="arrives"),)
        self._ask()

    @precondition(lambda self: self._topologies)
    @rule(data=st.data())
    def topology_leaves(self, data: st.DataObject) -> None:
        """Kill a topology."""
        gone = data.draw(st.sampled_from([t.id for t in self._topologies]), label="leaves")
        self._topologies = tuple(t for t in self._topologies if t.id != gone)
        self._running.pop(gone, None)
        self._ask()

    @precondition(lambda self: len(self._failed) + 1 < len(self._cluster.nodes))
    @rule(data=st.data())
    def node_fails(self, data: st.DataObject) -> None:
        """Lose a node and what runs on it; one node at least is left."""
        up = [node.id for node in self._cluster.nodes if node.id not in self._failed]
        self._failed += (data.draw(st.sampled_from(up), label="fails"),)
        self._ask()

    @precondition(lambda self: self._failed)
    @rule(data=st.data())
    def node_comes_back(self, data: st.DataObject) -> None:
        """Get a lost node back; nothing runs on it."""
        back = data.draw(st.sampled_from(self._failed), label="comes back")
        self._failed = tuple(node for node in self._failed if node != back)
        self._ask()

    @precondition(lambda self: self._topologies)
    @rule(data=st.data())
    def rebalance(self, data: st.DataObject) -> None:
        """Give a component of a topology another number of tasks."""
        pairs = [(t.id, c.id) for t in self._topologies for c in t.components]
        topology, component = data.draw(st.sampled_from(pairs), label="rebalances")
        tasks = data.draw(st.integers(1, self.most_tasks), label="tasks")
        self._topologies = tuple(
            _resized(t, component, tasks) if t.id == topology else t for t in self._topologies
        )
        runs = self._running.get(topology, {})
        gone = {f"{component}[{index}]" for index in range(tasks, tasks + len(runs))}
        self._running[topology] = {task: place for task, place in runs.items() if task not in gone}
        self._ask()

    def _ask(self) -> None:
        """Ask the scheduler, check its answer, and let run what it places."""
        instance = self.instance
        answer, again = self._answers(instance)
        check_answer(instance, answer, again)
        self._running = {key: dict(places) for key, places in (instance.running or {}).items()}
        if isinstance(answer, Refusal):
            note(f"refused: {answer.reason}")
            return
        self._running = to_places(instance, answer)
        for topology in instance.topologies:
            if topology.id not in self._running:
                note(f"left out: {topology.id}")

    def _answers(self, instance: Instance) -> tuple[Answer, Answer]:
        """Return two answers to an instance, remembered, so that a story can be repeated."""
        key = instance_hash(instance)
        if key not in self._answered:
            self._answered[key] = (
                self.scheduler(instance),
                self.scheduler(instance, HASH_SEEDS[1]),
            )
        return self._answered[key]


def story_of(scheduler: Testable) -> type[SchedulerStory]:
    """Return the state machine that tells stories to a scheduler; see `SchedulerStory`.

    Use it as ``TestMine = story_of(mine).TestCase``, with pytest or unittest; ``TestMine.settings =
    hypothesis.settings(...)`` sets how many stories there are and how long.

    Parameters
    ----------
    scheduler
        A callable that takes an instance and returns a placement or a refusal, or another form that
        `as_scheduler` takes, such as the name of one of our methods.

    Raises
    ------
    InputError
        When the scheduler is a name that is not known.
    """
    return type("Story", (SchedulerStory,), {"scheduler": as_scheduler(scheduler)})


def _resized(topology: Topology, component: str, tasks: int) -> Topology:
    components = tuple(
        replace(c, parallelism=tasks) if c.id == component else c for c in topology.components
    )
    return replace(topology, components=components)
