"""Parameters as users give them: by the names of engines, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from slotwise.models.errors import InputError
from slotwise.models.suggestion import suggestion
from slotwise.solver.baseline.engine import BASELINE
from slotwise.solver.core.engine_names import current_name
from slotwise.solver.engines import ENGINES
from slotwise.solver.local_search.engine import LOCAL_SEARCH
from slotwise.solver.parameters import Parameters, of_type
from slotwise.solver.portfolio.params import AUTO_DEFAULTS, AutoParams

AUTO = "auto"

DEFAULTS: Mapping[str, Parameters] = {
    AUTO: AUTO_DEFAULTS,
    **{
        engine.name: engine.parameters
        for engine in (*ENGINES.values(), BASELINE, LOCAL_SEARCH)
        if engine.parameters is not None
    },
}
"""The parameters of every engine, and of ``auto``, where nothing else is asked for."""


def checked_parameters(given: Mapping[str, Parameters]) -> dict[str, Parameters]:
    """Return the parameters by the current names of their engines.

    Raises
    ------
    InputError
        When a name is no engine's, or the parameters are another engine's.
    """
    found: dict[str, Parameters] = {}
    for name, parameters in given.items():
        engine = current_name(name)
        if engine not in DEFAULTS:
            rule = f"is no engine with parameters; {suggestion(name, list(DEFAULTS))}"
            raise InputError(rule, field="parameters", value=name)
        of_type(parameters, type(DEFAULTS[engine]), f"parameters of {name}")
        found[engine] = parameters
    return found


def auto_params(given: Mapping[str, Parameters]) -> AutoParams:
    """Return those of ``auto`` among checked ones."""
    return cast(AutoParams, given.get(AUTO, AUTO_DEFAULTS))
