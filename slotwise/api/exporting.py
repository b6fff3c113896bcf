"""An instance as a linear model that other solvers read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Unpack

from slotwise.api.inputs import DecodedCluster, InstanceLike, as_problem
from slotwise.models.errors import InputError
from slotwise.models.values import Number, exact, known
from slotwise.solver.compact.milp.export import COMMENT, Written, linear_model

FORMATS = tuple(COMMENT)


def convert(
    instance: InstanceLike,
    to: str,
    *,
    term: str | None = None,
    fix: Mapping[str, Number] | Iterable[str] | None = None,
    **decoded: Unpack[DecodedCluster],
) -> Written:
    """Return the linear model of engine ``milp``, for one term of the objective.

    Parameters
    ----------
    instance
        What is to be placed: an `Instance`, a compiled problem, a path, a dict or text; see
        `read_instance`.
    to
        ``mps`` or ``lp``.
    term
        What to minimise; ``None`` = the first term. No other term is in the model, unless `fix`
        names it.
    fix
        Term -> value in the user's unit that it may not exceed, say its optimum; also as on the
        command line, ``["overload=0"]``. ``None`` = none.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Raises
    ------
    InputError
        For bad input, a term that the instance does not have, a value between two steps of a
        term, or numbers that the format cannot hold.

    Examples
    --------
    >>> import slotwise
    >>> model = slotwise.convert("docs/examples/word-count.json", "lp", term="network")
    >>> model.term, model.columns > 0
    ('network', True)
    """
    known(to, FORMATS, "to")
    problem = as_problem(instance, **decoded)
    return linear_model(problem, to, term, dict(as_fixed(fix)))


def as_fixed(
    given: Mapping[str, Number] | Iterable[str] | None,
) -> Iterable[tuple[str, Decimal]]:
    """Return terms and the values that they may not exceed."""
    if isinstance(given, Mapping):
        pairs = list(given.items())
        return [(name, exact(value, f"fix {name}")) for name, value in pairs]
    words = (given,) if isinstance(given, str) else given or ()
    return [_fixed(word) for word in words]


def _fixed(word: str) -> tuple[str, Decimal]:
    name, equals, value = word.rpartition("=")
    if not equals:
        raise InputError("must be TERM=VALUE", field="fix", value=word)
    return name, exact(value, f"fix {name}")
