"""The extra that the kit needs: Hypothesis and pytest."""

from __future__ import annotations

from importlib.util import find_spec

from slotwise.models.errors import InputError


def require_hypothesis(module: str) -> None:
    """Say in one line how to install Hypothesis where it is missing; `module` needs it.

    Raises
    ------
    InputError
        When Hypothesis is not installed.
    """
    if find_spec("hypothesis") is None:
        raise InputError(
            "needs Hypothesis: pip install 'slotwise[testing]'", field=module, has_value=False
        )
