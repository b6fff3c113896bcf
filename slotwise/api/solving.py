"""Solving, and checking the answer by another engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from slotwise.api.exit_code import Exit
from slotwise.api.inputs import (
    DecodedCluster,
    InstanceLike,
    PlacementLike,
    as_instance,
    as_placement,
    as_problem,
    compiled_as,
    warn_of_unoffered,
)
from slotwise.models.display import kind_of
from slotwise.models.errors import InputError, InternalError
from slotwise.models.formats.placement_file import placement_document
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.lost_nodes import in_left, in_whole
from slotwise.models.instance.lost_nodes import without_nodes as without
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_hash
from slotwise.models.problem.problem import Problem
from slotwise.solver import solve as solver
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.progress import OnProgress
from slotwise.solver.core.result import Result, Status
from slotwise.solver.parameters import Parameters
from slotwise.solver.portfolio.params import parsed_parameters
from slotwise.solver.verification import crosscheck as verification
from slotwise.solver.verification.crosscheck import Agreement, CrossCheck, claim_of


@dataclass(frozen=True, slots=True)
class Task:
    """An instance to solve.

    Parameters
    ----------
    given
        The instance of the file, without the limit of the arguments and with the nodes that died:
        placements are written for it, so that they can be judged with the file.
    problem
        The instance that is solved, compiled.
    start
        The placement of it to start from; ``None`` = none.
    """

    given: Instance
    problem: Problem
    start: Placement | None


@dataclass(frozen=True, slots=True)
class Solved:
    """A task and its result."""

    task: Task
    result: Result

    @property
    def placement(self) -> Placement | None:
        """The placement, as one of the instance of the file."""
        placement = self.result.placement
        return (
            None
            if placement is None
            else in_whole(self.task.problem.instance, self.task.given, placement)
        )

    @property
    def exit_code(self) -> Exit:
        """Of ``solve``: failed where there is no placement."""
        if self.result.interrupted and self.result.status is not Status.OPTIMAL:
            return Exit.INTERRUPTED
        codes = {Status.INFEASIBLE: Exit.FAILED, Status.UNKNOWN: Exit.NO_ANSWER}
        return codes.get(self.result.status, Exit.DONE)

    def to_document(self) -> dict[str, Any]:
        """Return what ``solve --json`` prints."""
        placement = self.placement
        plan = None if placement is None else placement_document(self.task.given, placement)
        own = {"instance": instance_hash(self.task.problem.instance), "placement": plan}
        return self.result.to_document() | own


def solve(
    instance: InstanceLike,
    *,
    engine: str | Engine = "auto",
    time_limit_s: float = 60.0,
    workers: int = 1,
    seed: int = 0,
    memory_limit_mb: int | None = None,
    hint: PlacementLike | None = None,
    confirm: bool | None = None,
    on_progress: OnProgress | None = None,
    parameters: Mapping[str, Parameters] | Iterable[str] | None = None,
    deterministic: bool = False,
    max_moved: int | None = None,
    without_nodes: Collection[str] = (),
    **decoded: Unpack[DecodedCluster],
) -> Result:
    """Return the best placement found and what is proven about it.

    Ctrl-C ends the search within a second or two: the best placement and bound by then are
    returned, and `Result.interrupted` says so. The logger ``slotwise.solve`` logs when an engine
    starts and when a better placement is found (INFO), and each better bound (DEBUG). A resource
    that tasks need and no node offers is a `UserWarning` before anything is solved.

    Parameters
    ----------
    instance
        What to place: an `Instance`, a compiled problem (taken as it is), a path, a dict or text;
        see `read_instance`.
    engine
        A name that ``slotwise methods`` lists, ``auto``, or an engine of your own.
    time_limit_s
        Wall-clock seconds, above 0; when they end, the incumbent and the bound are returned.
    workers
        Threads, 1 or more. With more than one the placement may differ between runs.
    seed
        Of every random choice, 0 or more.
    memory_limit_mb
        Resident memory of the whole process in units of 2^20 bytes, 1 or more; ``None`` = 80 % of
        what the machine, or less its control group, offers. `Result.notes` say what ended for it.
    hint
        A placement to start from: a `Placement`, a path or a dict; see `read_placement`. It need
        not be valid; a valid one is never made worse. ``None`` = none.
    confirm
        Whether proofs of CP-SAT or a MIP solver count only once another engine, or the same model
        without presolve, proves the same; ``None`` = where a term can exceed 2^31 (10^6 where a MIP
        engine is named). A bound that is not confirmed in time does not count.
    on_progress
        Called in this thread with each better placement and each better bound, and when an engine
        starts; see `Progress`. An exception that it raises ends the search.
    parameters
        Parameters of engines other than the defaults: by the name of an engine, as in
        ``{"cp-sat": CpSatParams(max_counts=50_000)}``, or as on the command line, as in
        ``["cp-sat.max_counts=50000"]``. ``None`` = the defaults. `Result.parameters` has them.
    deterministic
        Whether `time_limit_s` counts units of work instead of seconds. Then neither the machine's
        load nor its memory changes the answer, only the instance, the arguments and the versions
        do. It takes one thread, and no MIP engine.
    max_moved
        Most tasks that may move from where the instance says they are running, a hard rule;
        ``None`` = no limit but the instance's own.
    without_nodes
        Ids of machines that died: the cluster has them no more, and `Result.placement` is one of
        the instance without them. Tasks that ran there do not count as moved.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Raises
    ------
    InputError
        For bad input, an argument out of range, or an engine that declines the instance.
    InternalError
        When the judge contradicts the named engine. With ``auto`` such an engine is listed in
        `Result.distrusted` instead, and the others continue.
    UnfinishedError
        When a deterministic search exceeds its safety limit: ten seconds per unit of work plus a
        minute, or the limit of memory.

    Examples
    --------
    >>> import slotwise
    >>> result = slotwise.solve("docs/examples/word-count.json", time_limit_s=30)
    >>> str(result.status), result.gap
    ('optimal', 0.0)
    >>> sorted({place.node for place in result.places["wc"].values()})
    ['n1', 'n2']
    """
    _check_engine(engine)
    warn_of_unoffered(instance)
    return solve_task(
        as_task(instance, hint, max_moved, without_nodes, **decoded),
        engine=engine,
        time_limit_s=time_limit_s,
        workers=workers,
        seed=seed,
        memory_limit_mb=memory_limit_mb,
        confirm=confirm,
        on_progress=on_progress,
        parameters=parameters,
        deterministic=deterministic,
    )


def solve_task(
    task: Task,
    *,
    parameters: Mapping[str, Parameters] | Iterable[str] | None = None,
    **settings: Any,
) -> Result:
    """Solve a compiled instance; the arguments are those of `solve`."""
    return solver.solve(
        task.problem, hint=task.start, parameters=as_parameters(parameters), **settings
    )


def as_task(
    instance: InstanceLike,
    hint: PlacementLike | None = None,
    max_moved: int | None = None,
    without_nodes: Collection[str] = (),
    **decoded: Unpack[DecodedCluster],
) -> Task:
    """Read and compile an instance to solve; the arguments are those of `solve`."""
    given = left = as_instance(instance, **decoded)
    if without_nodes:
        instance = left = without(given, without_nodes)
    problem = compiled_as(instance, left, max_moved)
    start = None if hint is None else as_placement(hint, given)
    if start is not None and left is not given:
        start = in_left(given, left, start)
    return Task(given, problem, start)


def _check_engine(given: object) -> None:
    if not isinstance(given, str | Engine):
        rule = f"must be the name of an engine or an Engine, not {kind_of(given)}"
        raise InputError(rule, field="engine", has_value=False)


def as_parameters(
    given: Mapping[str, Parameters] | Iterable[str] | None,
) -> Mapping[str, Parameters] | None:
    """Return parameters by the names of engines; texts are ``ENGINE.NAME=VALUE``."""
    if given is None or isinstance(given, Mapping):
        return given
    return parsed_parameters((given,) if isinstance(given, str) else given)


def crosscheck(
    instance: InstanceLike,
    result: Result,
    *,
    engine: str | None = None,
    max_moved: int | None = None,
    without_nodes: Collection[str] = (),
) -> CrossCheck | None:
    """Have another engine search for anything better than `result`, within the same limits.

    Parameters
    ----------
    instance
        What was solved, as in `solve`.
    result
        Of `solve`.
    engine
        Use this one only; ``None`` = any that is not behind the result.
    max_moved, without_nodes
        As in the `solve` that gave `result`.

    Returns
    -------
    CrossCheck | None
        ``None`` where there is nothing to check: no answer, or an interrupted search.

    Raises
    ------
    InputError
        For a result that can be seen to be of another instance, and an engine that is unknown,
        behind the result, or does not take the instance.
    InternalError
        When it finds what the first engine's proof excludes; the message names both.

    Examples
    --------
    >>> import slotwise
    >>> result = slotwise.solve("docs/examples/word-count.json", time_limit_s=30)
    >>> str(slotwise.crosscheck("docs/examples/word-count.json", result).agreement)
    'agreed'
    """
    if result.status is Status.UNKNOWN or result.interrupted:
        return None
    problem = as_problem(instance, max_moved=max_moved, without_nodes=without_nodes)
    if not _may_be_of(problem, result):
        rule = "is of another instance; give max_moved and without_nodes as its solve had them"
        raise InputError(rule, field="result", has_value=False)
    check = verification.crosscheck(problem, claim_of(result), result.limits, engine=engine)
    if check.agreement is Agreement.CONTRADICTED:
        raise InternalError(f"two engines contradict each other: {check.reason}")
    return check


def _may_be_of(problem: Problem, result: Result) -> bool:
    """Return whether nothing in a result says that it is of another problem."""
    verdict = result.running if result.verdict is None else result.verdict
    if verdict is None:
        return len(problem.terms) == len(result.objective)
    return instance_hash(verdict.problem.instance) == instance_hash(problem.instance)
