"""Parameters as users give them: by the names of engines, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import cast

from slotwise.models.errors import InputError
from slotwise.models.suggestion import suggestion
from slotwise.models.values import number_of_text
from slotwise.solver.baseline import BASELINE
from slotwise.solver.engines import ENGINES
from slotwise.solver.large_neighbourhood.engine import LARGE_NEIGHBOURHOOD
from slotwise.solver.local_search.engine import LOCAL_SEARCH
from slotwise.solver.parameters import Parameters, of_type
from slotwise.solver.portfolio.params import AUTO_DEFAULTS, AutoParams

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


def checked_parameters(given: Mapping[str, Parameters]) -> dict[str, Parameters]:
    """Return the parameters by the names of their engines.

    Raises
    ------
    InputError
        When a name is not an engine's, or the parameters are another engine's.
    """
    found: dict[str, Parameters] = {}
    for engine, parameters in given.items():
        if engine not in DEFAULTS:
            rule = f"is not an engine with parameters; {suggestion(engine, list(DEFAULTS))}"
            raise InputError(rule, field="parameters", value=engine)
        of_type(parameters, type(DEFAULTS[engine]), f"parameters of {engine}")
        found[engine] = parameters
    return found


def parsed_parameters(settings: Iterable[str]) -> dict[str, Parameters]:
    """Return the parameters that texts ``ENGINE.NAME=VALUE`` say; the others are the defaults.

    A name within a group has its group before it: ``configurations.columns.max_columns=1000``.

    Raises
    ------
    InputError
        When a text is of another form, or says what no engine takes.
    """
    found: dict[str, Parameters] = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        name, dot, rest = path.partition(".")
        if not (equals and dot):
            rule = "must be ENGINE.NAME=VALUE, as in cp-sat.max_counts=50000"
            raise InputError(rule, field="parameters", value=setting)
        engine = _known(name, DEFAULTS, setting)
        found[engine] = _with(found.get(engine, DEFAULTS[engine]), rest, text, setting)
    return found


def _with(parameters: Parameters, path: str, text: str, setting: str) -> Parameters:
    """Return the parameters with the one at `path` as `text` says."""
    name, _, rest = path.partition(".")
    now = getattr(parameters, _known(name, [one.name for one in fields(parameters)], setting))
    if isinstance(now, Parameters):
        return replace(parameters, **{name: _with(now, rest, text, setting)})
    if rest:
        raise InputError(f"{name} has no parameters", field="parameters", value=setting)
    number = number_of_text(text, path)
    return replace(parameters, **{name: float(number) if isinstance(now, float) else number})


def _known(name: str, names: Iterable[str], setting: str) -> str:
    if name not in names:
        rule = f"names an unknown parameter, {name!r}; {suggestion(name, names)}"
        raise InputError(rule, field="parameters", value=setting)
    return name


def auto_params(given: Mapping[str, Parameters]) -> AutoParams:
    """Return those of ``auto`` among checked ones."""
    return cast(AutoParams, given.get(AUTO, AUTO_DEFAULTS))
