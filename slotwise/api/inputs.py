"""The inputs of the public functions in all their forms: nouns, paths, dicts and text.

A `str` is text, the content of a file, if it has a line break or begins with ``{``; any other `str`
is a path, and ``-`` is stdin. A `pathlib.Path` is always a path, whatever its name looks like.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypedDict, Unpack

from slotwise.api.paths import path_of
from slotwise.api.plain_data import plain_data
from slotwise.models import certificates
from slotwise.models.certificates import Certificate
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats import given_placement
from slotwise.models.formats.given_placement import GivenPlacement
from slotwise.models.formats.text import parse_text
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.lost_nodes import lost_node_notes
from slotwise.models.instance.lost_nodes import without_nodes as without
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_from_data
from slotwise.models.instance_file import read_instance as read_instance_file
from slotwise.models.judge.moves import running_placement
from slotwise.models.problem.compile import compile_problem, unoffered
from slotwise.models.problem.problem import Problem
from slotwise.models.values import whole

Source = str | os.PathLike[str] | Mapping[str, Any]
"""A path, text in JSON or YAML, or the data that a file would hold."""
InstanceLike = Instance | Problem | Source
PlacementLike = Placement | Source
CertificateLike = Certificate | Source
MinCpu = Decimal | int | float | str | None


class WholeDecodedCluster(TypedDict, total=False):
    """How a decoded Storm cluster with all its topologies is read, as `read_instance` says."""

    worker_min_cpu: MinCpu
    submitters: bool


class DecodedCluster(WholeDecodedCluster, total=False):
    """How a decoded Storm cluster is read, as `read_instance` says."""

    topology: str | None


TEXT = "text"
"""The name of a text in messages, in place of a file's name."""


NEEDS_RUNNING = "needs an instance that says what is running (`instance.running`)"


def is_text(source: object) -> bool:
    r"""Whether `source` is the content of a file, and not its path.

    Examples
    --------
    >>> is_text("plans/word-count.json"), is_text("-")
    (False, False)
    >>> is_text('{"format": "slotwise.instance/1"}'), is_text("format: slotwise.instance/1\n")
    (True, True)
    """
    return isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{"))


def file_of(source: str | os.PathLike[str]) -> str:
    """Return the name of a source in messages: its path, or `TEXT`."""
    return TEXT if is_text(source) else os.fspath(source)


def read_instance(
    source: Source,
    *,
    topology: str | None = None,
    worker_min_cpu: MinCpu = None,
    submitters: bool = False,
) -> Instance:
    """Read an instance from a file, a dict or text.

    The format is recognised by content: ``slotwise.instance/1``, ``matrix-assignment`` or a decoded
    Storm cluster, in JSON or YAML.

    Parameters
    ----------
    source
        A dict is the data of a file. A `str` is text if it has a line break or begins with ``{``,
        otherwise a path (``-`` = stdin); a `pathlib.Path` is always a path.
    topology
        For a decoded Storm cluster: this topology alone, on the empty cluster; ``None`` = all.
    worker_min_cpu
        For a decoded Storm cluster: the least cpu that a worker counts, in points; ``None`` = as in
        the file.
    submitters
        For a decoded Storm cluster: whether each topology's submitter owns it; otherwise one user
        owns all, as in Storm's own test.

    A node that `running` names and the cluster lacks is a `UserWarning`: its tasks are orphans.
    So is a resource that tasks need and no node offers, with the nearest name.

    Raises
    ------
    InputError
        One line: file, field, value, rule.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.read_instance({
    ...     "format": "slotwise.instance/1",
    ...     "name": "tiny",
    ...     "cluster": {"nodes": [{"id": "n1", "rack": "r1", "resources": {"cpu": 100}}]},
    ...     "topologies": [{"id": "t", "components": [
    ...         {"id": "lines", "kind": "spout", "parallelism": 2, "resources": {"cpu": 50}}]}],
    ... })
    Instance tiny: 1 node in 1 rack, 1 topology, 2 tasks, objective overload, network
      Topology t: lines[2]
    """
    options: dict[str, Any] = {
        "topology": topology,
        "worker_min_cpu": worker_min_cpu,
        "submitters": submitters,
    }
    instance = _instance_in(source, options)
    where = "" if isinstance(source, Mapping) else f"{file_of(source)}: "
    for line in (*lost_node_notes(instance), *unoffered(instance)):
        warnings.warn(where + line, UserWarning, stacklevel=2)
    return instance


def _instance_in(source: Source, options: Mapping[str, Any]) -> Instance:
    if isinstance(source, Mapping):
        return instance_from_data(plain_data(source), **options)
    if is_text(source):
        with in_file(TEXT):
            return instance_from_data(parse_text(str(source)), **options)
    return read_instance_file(
        path_of(source, "instance", "a path, a dict, text or an Instance"), **options
    )


def warn_of_lost_nodes(instance: Instance, expected: Collection[str] = ()) -> None:
    """Warn of each node that `running` names and the cluster lacks, except those `expected`."""
    for line in lost_node_notes(instance, expected):
        warnings.warn(line, UserWarning, stacklevel=3)


def warn_of_unoffered(given: InstanceLike) -> None:
    """Warn of each resource that tasks of an `Instance` need and no node offers.

    For a source `read_instance` warns; for a compiled problem there is no warning.
    """
    if isinstance(given, Instance):
        for line in unoffered(given):
            warnings.warn(line, UserWarning, stacklevel=3)


def as_instance(given: InstanceLike, **decoded: Unpack[DecodedCluster]) -> Instance:
    """Return `given` as an instance; the options are those of `read_instance`."""
    unknown = [name for name in decoded if name not in DecodedCluster.__annotations__]
    if unknown:
        raise TypeError(f"got an unexpected keyword argument {unknown[0]!r}")
    if not isinstance(given, Instance | Problem):
        return read_instance(given, **decoded)
    for option, value in decoded.items():
        if value is not None and value is not False:
            rule = "applies to decoded Storm clusters only, when they are read"
            raise InputError(rule, field=option, value=value)
    return given.instance if isinstance(given, Problem) else given


def as_problem(
    given: InstanceLike,
    *,
    max_moved: int | None = None,
    without_nodes: Collection[str] = (),
    **decoded: Unpack[DecodedCluster],
) -> Problem:
    """Return `given` compiled, with a limit of moves if there is one; see `as_instance`.

    Nodes of `without_nodes` are left out first.
    """
    instance = as_instance(given, **decoded)
    if without_nodes:
        given = instance = without(instance, without_nodes)
    return compiled_as(given, instance, max_moved)


def compiled_as(given: InstanceLike, instance: Instance, max_moved: int | None = None) -> Problem:
    """Return `instance`, read from `given`, compiled, with a limit of moves if there is one."""
    if isinstance(given, Problem) and max_moved is None:
        return given
    limited = with_move_limit(instance, max_moved)
    if isinstance(given, Instance | Problem | Mapping):
        return compile_problem(limited)
    with in_file(file_of(given)):  # numbers too far apart: say where
        return compile_problem(limited)


def with_move_limit(instance: Instance, max_moved: int | None) -> Instance:
    """Return the instance with a limit of ``moved``, as if its file had it; ``None`` = as it is.

    Placements of the one are placements of the other: the tasks and nodes are the same.
    """
    if max_moved is None:
        return instance
    whole(max_moved, "max_moved")
    if instance.running is None:
        rule = "needs an instance with `running`"
        raise InputError(rule, field="max_moved", value=max_moved)
    limits = {**instance.objective.limits, "moved": max_moved}
    return replace(instance, objective=replace(instance.objective, limits=limits))


def read_placement(source: Source, instance: InstanceLike) -> Placement:
    """Read a placement of `instance` from a file, a dict or text.

    Parameters
    ----------
    source
        As in `read_instance`. It holds a placement file, or what ``solve --json`` or
        ``place --json`` prints. A dict may also hold places by name, as `Placement.from_dict`
        takes them. A placement file without the hash of its instance is taken with a
        `UserWarning`.
    instance
        What was placed: an `Instance`, a path, a dict or text.

    Raises
    ------
    InputError
        One line: file, field, value, rule; also for a placement of another instance, and for the
        refusal that a method wrote in place of a placement.

    Examples
    --------
    >>> import slotwise
    >>> plan = {"wc": {"lines[0]": {"node": "n1", "worker": 0}}}
    >>> placement = slotwise.read_placement(plan, "docs/examples/word-count.json")
    >>> placement.nodes
    (0, -1, -1, -1, -1, -1, -1, -1, -1)
    """
    read = _given_placement(source, as_instance(instance))
    if read.note is not None:
        warnings.warn(read.note, UserWarning, stacklevel=2)
    return read.placement


def _given_placement(source: Source, instance: Instance) -> GivenPlacement:
    if isinstance(source, Mapping):
        data = plain_data(source)
        is_file = isinstance(data.get("format"), str) or isinstance(data.get("refused"), str)
        if is_file or given_placement.is_answer(data):
            return given_placement.given_placement_from_data(data, instance)
        return GivenPlacement(Placement.from_dict(instance, data))
    if is_text(source):
        return given_placement.given_placement_from_text(str(source), instance, file=TEXT)
    path = path_of(source, "placement", "a path, a dict, text or a Placement")
    return given_placement.read_given_placement(path, instance)


def as_running(problem: Problem) -> Placement:
    """Return where the tasks run now; raises `InputError` for an instance without `running`."""
    running = running_placement(problem)
    if running is None:
        raise InputError(NEEDS_RUNNING, field="running", has_value=False)
    return running


def check_one_placement(placement: PlacementLike | None, running: bool) -> None:
    """Raise `InputError` unless exactly one of `placement` and `running` is given."""
    if (placement is None) == (not running):
        rule = "give one, a placement or what runs now, and not both"
        raise InputError(rule, field="placement, running", has_value=False)


def placed_or_running(placement: PlacementLike | None, problem: Problem) -> Placement:
    """Return `placement` as a placement; ``None`` = where the tasks run now."""
    if placement is None:
        return as_running(problem)
    return as_placement(placement, problem.instance)


def as_placement(given: PlacementLike, instance: Instance) -> Placement:
    """Return `given` as a placement of `instance`; see `read_placement`."""
    return given if isinstance(given, Placement) else read_placement(given, instance)


def read_certificate(source: Source) -> Certificate:
    """Read a certificate from a file, a dict or text; nothing in it is checked against facts.

    Parameters
    ----------
    source
        As in `read_instance`.

    Raises
    ------
    InputError
        One line: file, field, value, rule.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.read_certificate({"format": "slotwise.placement/1"})
    Traceback (most recent call last):
        ...
    slotwise.models.errors.InputError: format = 'slotwise.placement/1': must be slotwise.certificate/1
    """  # noqa: E501 (a message stands in one line)
    if isinstance(source, Mapping):
        return certificates.certificate_from_data(plain_data(source))
    if is_text(source):
        with in_file(TEXT):
            return certificates.certificate_from_data(parse_text(str(source)))
    return certificates.read_certificate(
        path_of(source, "certificate", "a path, a dict, text or a Certificate")
    )


def as_certificate(given: CertificateLike) -> Certificate:
    """Return `given` as a certificate."""
    return given if isinstance(given, Certificate) else read_certificate(given)
