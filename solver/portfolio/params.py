"""Parameters of the engine choice ``auto``: the share of the time for each engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import cast

from slotwise.models.errors import InputError, suggestion
from slotwise.models.values import number_of_text
from slotwise.solver.baseline import BASELINE
from slotwise.solver.engines import ENGINES
from slotwise.solver.large_neighbourhood import LARGE_NEIGHBOURHOOD
from slotwise.solver.local_search.engine import LOCAL_SEARCH
from slotwise.solver.parameters import Parameters, of_type
from slotwise.solver.whole_cluster.placing import WHOLE_CLUSTER_DEFAULTS, WholeClusterParams


@dataclass(frozen=True, slots=True)
class AutoParams(Parameters):
    """Shares are of the time that is left when an engine starts.

    Parameters
    ----------
    configurations_fraction, columns_fraction, subset_dp_fraction
        For ``configurations`` by its fast way (and ``connected``) and by its general way, and for
        ``subset-dp``; they end far earlier on what they can prove.
    partition_fraction
        For ``partition``, of which the same holds.
    matrix_columns_fraction
        For ``connected`` where a matrix of distances is equivalent to levels.
    without_running_fraction
        For the leading terms that do not read `running`, or utilisations, on the problem without.
    few_moves_fraction
        For ``few-moves`` where moves are limited; it ends far earlier on problems that it takes.
    orphans_fraction
        For ``orphans`` where nothing may move.
    counting_fraction
        For ``counting``, which comes first; it ends far earlier unless nodes and sizes are of very
        many kinds.
    early_fraction
        For CP-SAT where the heuristics found no placement.
    rack_fraction
        For each of the two problems that enclose one with several racks.
    between_racks_fraction
        For ``connected`` between these two, from `search_from_tasks` tasks on.
    least_part_fraction
        Least share for each part that no flow connects with the others.
    search_from_tasks
        Tasks from which local search runs before the engines that prove.
    first_search_fraction, first_search_s, most_first_search_fraction
        For that first local search: its share of the time left, or `first_search_s` seconds if they
        are more (loading its compiled loop takes one) and at most the second share.
    first_search_steps_per_task
        Its steps.
    cp_sat_to_tasks
        With more tasks, and one worker, CP-SAT is left out where the first open term has a bound by
        ``configurations``, ``connected`` or ``partition`` other than 0.
    search_fraction, search_steps
        For local search before CP-SAT has the rest of the time, and its steps.
    last_search_fraction
        Reserved, from `search_from_tasks` on, for local search and large neighbourhoods at the
        end, half each.
    confirm_fraction
        For a second run of the engine that proved everything, without presolve.
    max_tiny_places
        Tasks times nodes up to which CP-SAT solves problems with distances by matrix: it finishes
        before compiled loops could be loaded.
    max_table_tasks
        With more tasks ``partition`` comes before ``subset-dp``, on the problems that both take.
    whole_cluster
        For several topologies that share a cluster.
    """

    configurations_fraction: float = 0.8
    columns_fraction: float = 0.6
    subset_dp_fraction: float = 0.7
    partition_fraction: float = 0.4
    matrix_columns_fraction: float = 0.3
    without_running_fraction: float = 0.7
    few_moves_fraction: float = 0.4
    orphans_fraction: float = 0.6
    counting_fraction: float = 0.1
    early_fraction: float = 0.25
    rack_fraction: float = 0.4
    between_racks_fraction: float = 0.2
    least_part_fraction: float = 0.05
    search_from_tasks: int = 40
    first_search_fraction: float = 0.1
    first_search_s: float = 2.0
    most_first_search_fraction: float = 0.4
    first_search_steps_per_task: int = 2
    cp_sat_to_tasks: int = 200
    search_fraction: float = 0.2
    search_steps: int = 2_000
    last_search_fraction: float = 0.1
    confirm_fraction: float = 0.5
    max_tiny_places: int = 24
    max_table_tasks: int = 22
    whole_cluster: WholeClusterParams = WHOLE_CLUSTER_DEFAULTS


AUTO_DEFAULTS = AutoParams()


# Parameters as users give them: by the names of engines, checked before anything runs.

AUTO = "auto"

DEFAULTS: Mapping[str, Parameters] = {
    AUTO: AUTO_DEFAULTS,
    **{
        engine.name: engine.parameters
        for engine in (*ENGINES.values(), BASELINE, LOCAL_SEARCH, LARGE_NEIGHBOURHOOD)
        if engine.parameters is not None
    },
}
"""The parameters of every engine, and of ``auto``, where nothing else is asked for."""


def checked_parameters(parameters_by_engine: Mapping[str, Parameters]) -> dict[str, Parameters]:
    """Return the parameters by the names of their engines.

    Raises
    ------
    InputError
        When a name is not an engine's, or the parameters are another engine's.
    """
    checked: dict[str, Parameters] = {}
    for engine, parameters in parameters_by_engine.items():
        if engine not in DEFAULTS:
            rule = f"is not an engine with parameters; {suggestion(engine, list(DEFAULTS))}"
            raise InputError(rule, field="parameters", value=engine)
        of_type(parameters, type(DEFAULTS[engine]), f"parameters of {engine}")
        checked[engine] = parameters
    return checked


def parsed_parameters(settings: Iterable[str]) -> dict[str, Parameters]:
    """Return the parameters set by texts ``ENGINE.NAME=VALUE``; the others are the defaults.

    A name within a group has its group before it: ``configurations.columns.max_columns=1000``.

    Raises
    ------
    InputError
        When a text has another form, or names a parameter or value that does not exist.
    """
    parsed: dict[str, Parameters] = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        name, dot, rest = path.partition(".")
        if not (equals and dot):
            rule = "must be ENGINE.NAME=VALUE, as in cp-sat.max_counts=50000"
            raise InputError(rule, field="parameters", value=setting)
        engine = _checked_name(name, DEFAULTS, "engine", setting)
        parsed[engine] = _with_value(parsed.get(engine, DEFAULTS[engine]), rest, text, setting)
    return parsed


def _with_value(parameters: Parameters, path: str, text: str, setting: str) -> Parameters:
    """Return the parameters with the one at `path` set to `text`."""
    name, _, rest = path.partition(".")
    known = [field.name for field in fields(parameters)]
    current = getattr(parameters, _checked_name(name, known, "parameter", setting))
    if isinstance(current, Parameters):
        if not rest:
            names = ", ".join(field.name for field in fields(current))
            rule = f"{name} is a group of parameters; name one of them: {names}"
            raise InputError(rule, field="parameters", value=setting)
        return replace(parameters, **{name: _with_value(current, rest, text, setting)})
    if rest:
        raise InputError(f"{name} has no parameters", field="parameters", value=setting)
    try:
        number = number_of_text(text, path)
        value = float(number) if isinstance(current, float) else number
        return replace(parameters, **{name: value})
    except InputError as error:  # which names a class, where a text was given
        raise InputError(error.rule, field="parameters", value=setting) from error


def _checked_name(name: str, names: Iterable[str], kind: str, setting: str) -> str:
    if name not in names:
        rule = f"names an unknown {kind}, {name!r}; {suggestion(name, names)}"
        raise InputError(rule, field="parameters", value=setting)
    return name


def auto_params(parameters: Mapping[str, Parameters]) -> AutoParams:
    """Return those of ``auto`` among checked ones."""
    return cast(AutoParams, parameters.get(AUTO, AUTO_DEFAULTS))
