"""The weights of R-Storm's distance: what they are, and how they are written after a name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.number_text import exact_text
from slotwise.models.problem.problem import Problem
from slotwise.models.suggestion import suggestion
from slotwise.models.values import as_decimal, exact

TERMS = ("memory", "cpu", "network")
"""The terms of the distance, in the order in which ``weights=`` names them."""

NORMALISE = {"none": False, "capacity": True}
"""What ``normalise=`` may say."""


@dataclass(frozen=True, slots=True)
class RStormWeights:
    """Weights of R-Storm's distance (Algorithm 4, line 17).

    Parameters
    ----------
    memory, cpu, network
        Weights of the difference of memory, of that of cpu, and of the network distance; each 0 or
        more.
    normalise
        Whether memory and cpu are first divided by the largest node's capacity and the network
        distance by the largest distance of the cluster. The paper says that weights are there
        "so that values can be normalized" and names no numbers. Without it, memory counts in MB,
        cpu in points and the distance as it is.
    """

    memory: Fraction = Fraction(1)
    cpu: Fraction = Fraction(1)
    network: Fraction = Fraction(1)
    normalise: bool = True

    def __post_init__(self) -> None:
        """Make each weight an exact fraction of 0 or more."""
        for term in TERMS:
            value = getattr(self, term)
            if isinstance(value, bool) or not math.isfinite(value) or value < 0:
                raise InputError("must be a number of 0 or more", field=term, value=value)
            object.__setattr__(self, term, Fraction(value))

    def to_parameters(self) -> dict[str, str]:
        """Return the weights as they are written after a method's name."""
        weights = (exact_text(as_decimal(getattr(self, term))) for term in TERMS)
        normalise = next(word for word, meant in NORMALISE.items() if meant == self.normalise)
        return {"weights": ",".join(weights), "normalise": normalise}

    def other_than(self, default: RStormWeights) -> str:
        """Return what differs from `default`, as it is written; empty = nothing."""
        usual = default.to_parameters()
        return ",".join(f"{k}={v}" for k, v in self.to_parameters().items() if v != usual[k])


def read_weights(
    given: Mapping[str, tuple[str, ...]], default: RStormWeights, method: str
) -> RStormWeights:
    """Return the weights that `given` says; the rest is as in `default`.

    Parameters
    ----------
    given
        ``weights`` (three numbers, in the order of `TERMS`) and ``normalise`` (one of `NORMALISE`).
    method
        Whose parameters they are, for messages.

    Raises
    ------
    InputError
        For another parameter, and for a value that is none of these.
    """
    weights = default
    for key, values in given.items():
        field = f"{method}:{key}"
        if key == "weights":
            if len(values) != len(TERMS):
                rule = f"must be {len(TERMS)} numbers, for {', '.join(TERMS)}; as in {key}=1,1,1"
                raise InputError(rule, field=field, value=",".join(values))
            memory, cpu, network = (Fraction(exact(value, field)) for value in values)
            weights = replace(weights, memory=memory, cpu=cpu, network=network)
        elif key == "normalise":
            if len(values) != 1 or values[0] not in NORMALISE:
                rule = suggestion(",".join(values), NORMALISE)
                raise InputError(rule, field=field, value=",".join(values))
            weights = replace(weights, normalise=NORMALISE[values[0]])
        else:
            rule = f"is not a parameter of {method}; {suggestion(key, default.to_parameters())}"
            raise InputError(rule, field="method", value=key)
    return weights


@dataclass(frozen=True, slots=True)
class WeightedMethod:
    """A version of R-Storm; its parameters are the weights of its distance.

    Parameters
    ----------
    name, source, description
        As in `Method`, with the weights `usual`.
    otherwise
        Description of the method with other weights, which follow it.
    usual
        Weights that its name alone stands for.
    schedule
        (problem, weights, token, log or ``None``) -> placement or refusal; nothing in it is
        random.
    """

    name: str
    source: str
    description: str
    otherwise: str
    usual: RStormWeights
    schedule: Callable[
        [Problem, RStormWeights, CancellationToken, DecisionLog | None], Placement | Refusal
    ]

    def with_weights(self, weights: RStormWeights) -> Method:
        """Return the method with these weights."""

        def place(
            problem: Problem, rng: Generator, token: CancellationToken | None = None
        ) -> Placement | Refusal:
            return self.schedule(problem, weights, token or CancellationToken(), None)

        other = weights.other_than(self.usual)
        return Method(
            name=f"{self.name}:{other}" if other else self.name,
            source=self.source,
            place=place,
            place_until=place,
            place_logged=lambda problem, _, log: self.schedule(
                problem, weights, CancellationToken(), log
            ),
            draws=False,
            description=f"{self.otherwise}: {other}." if other else self.description,
            parameters=weights.to_parameters(),
            configure=lambda given: self.with_weights(read_weights(given, self.usual, self.name)),
        )
