"""Threads, slots and VMs with which a dataflow supports a rate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from slotwise.api.allocation_inputs import (
    DataflowLike,
    ModelsLike,
    VmsLike,
    as_dataflow,
    as_models,
    as_rates,
    as_vm_sizes,
)
from slotwise.api.exit_code import Exit
from slotwise.models.allocation.as_instance import as_instance
from slotwise.models.allocation.plan import offered_slots
from slotwise.models.dataflow import Dataflow
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.values import time_limit
from slotwise.solver.allocation import (
    METHODS,
    OPTIMAL,
    Answer,
    Outcome,
    Question,
    Setting,
    allocate_all,
    answer_document,
    highest_rate,
    with_bounds,
)
from slotwise.solver.core.supervision import counted_presses
from slotwise.solver.slots.problem import Counts, Variant

Rate = Fraction | Decimal | float | str


@dataclass(frozen=True, slots=True)
class Allocated:
    """Answers of one method at one or more rates.

    Parameters
    ----------
    dataflow, method
        As requested.
    answers
        One for each rate, in order; a single one where the highest rate was requested.
    setting
        The VM sizes, time limit and variant that were used.
    """

    dataflow: Dataflow
    method: str
    answers: Sequence[Answer]
    setting: Setting

    def __repr__(self) -> str:
        """One line: dataflow, method, and the slots for each rate (of many rates, the first)."""
        shown = [f"{float(a.question.rate):g}: {a.outcome} {a.slots or '-'}" for a in self.answers]
        more = f", ... ({len(shown)} rates)" if len(shown) > MOST_SHOWN else ""
        rates = ", ".join(shown[:MOST_SHOWN])
        return f"Allocated {self.dataflow.name} by {self.method}, slots by rate: {rates}{more}"

    @property
    def exit_code(self) -> Exit:
        """Of ``allocate``: that of the worst answer."""
        codes = {_CODES.get(answer.outcome, Exit.FAILED) for answer in self.answers}
        return next(code for code in (Exit.FAILED, Exit.NO_ANSWER, Exit.DONE) if code in codes)

    def to_document(self) -> dict[str, Any]:
        """Return what ``allocate --json`` prints: one answer, or a list for several rates."""
        documents = [answer_document(answer) for answer in self.answers]
        if len(documents) == 1:
            return documents[0]
        return {"dataflow": self.dataflow.name, "method": self.method, "rates": documents}

    def to_instance(self) -> Instance | None:
        """Return threads and VMs of the first plan as an instance, for `solve` and `place`.

        ``None`` where there is no plan, or one without threads.
        """
        answer = self.answers[0]
        if answer.plan is None or not answer.plan.slots:
            return None
        asked = answer.question
        return as_instance(
            answer.plan, asked.dataflow, asked.models, answer.routing, scaling=answer.scaling
        )


_CODES = {
    Outcome.OPTIMAL: Exit.DONE,
    Outcome.FEASIBLE: Exit.DONE,
    Outcome.UNKNOWN: Exit.NO_ANSWER,
}

MOST_SHOWN = 5
"""Most rates in a `repr`."""


def allocate(
    dag: DataflowLike,
    rate: Rate | Iterable[Rate] | None = None,
    *,
    slots: int | None = None,
    models: ModelsLike = None,
    method: str = "optimal",
    vms: VmsLike = None,
    shuffle: bool = False,
    exclusive: bool = False,
    unscaled: bool = False,
    time_limit_s: float = 60.0,
) -> Allocated:
    """Find the threads, slots and VMs that a dataflow needs for a rate.

    Each plan is checked slot by slot. Ctrl-C ends the search; what was found by then is the answer.

    Parameters
    ----------
    dag
        A `Dataflow`, the name of a micro DAG (``linear``, ``diamond``, ``star``), a path, a dict or
        text.
    rate
        Of the sources, tuples/s, above 0; several as an iterable or as ``"FROM:TO:STEP"``.
        ``None`` = find the highest rate, for `slots`, or for all VMs where `vms` says how many.
    slots
        Find the highest rate, in whole tuples/s, that this many slots support; 1 or more, without
        `rate`.
    models
        Performance models by name, a path, or the data of such a file; ``None`` = those of the SAM
        article.
    method
        ``optimal`` (fewest slots, then lowest price, then fewest VMs), or a published pair:
        ``lsa+dsm``, ``lsa+rsm``, ``mba+dsm``, ``mba+rsm``, ``mba+sam``.
    vms
        Sizes of VMs, a path, or the data of such a file; ``None`` = D1 to D4 of the article.
    shuffle
        Tuples are routed by Storm's shuffle grouping; otherwise ``optimal`` and ``mba+sam`` have
        each bundle receive the rate that they plan for it.
    exclusive
        For ``optimal``: a full bundle has a slot of its own, and thread counts are measured ones.
    unscaled
        For ``optimal``: bundles take the CPU and memory of their peak rate at any rate.
    time_limit_s
        Wall-clock seconds of each method's search, and again of the optimum that gives the bound
        beside a pair.

    Raises
    ------
    InputError
        For bad input, and for arguments that cannot be combined.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.allocate("star", 100)
    Allocated star by optimal, slots by rate: 100: optimal 6
    """
    rates = as_rates(rate)
    check_together(method, bool(rates), slots, exclusive or unscaled)
    counts = Counts.MEASURED if exclusive else Counts.ALL
    variant = Variant(counts, exclusive=exclusive, scaled=not unscaled)
    dataflow, known = as_dataflow(dag), as_models(models)
    setting = Setting(as_vm_sizes(vms), time_limit(time_limit_s, "time_limit_s"), variant, shuffle)
    if not rates and slots is None and offered_slots(setting.vm_sizes) is None:
        rule = "is missing; give it, `slots`, or `vms` with the number of available VMs"
        raise InputError(rule, field="rate", has_value=False)
    with counted_presses() as presses:
        if not rates:
            best = highest_rate(dataflow, known, slots, setting, token=presses.token)
            return Allocated(dataflow, method, [best], setting)
        question = Question(dataflow, known, rates[0])
        answers = allocate_all(question, rates, method, setting, presses.token)
        if method != OPTIMAL:
            optima = allocate_all(question, rates, OPTIMAL, setting, presses.token)
            answers = with_bounds(answers, optima)
    return Allocated(dataflow, method, answers, setting)


def every_method(done: Allocated) -> dict[str, Sequence[Answer]]:
    """Return method -> answers at the rates of `done`; those in `done` are not computed again."""
    question = done.answers[0].question
    rates = [answer.question.rate for answer in done.answers]
    with counted_presses() as presses:
        return {
            method: (
                done.answers
                if method == done.method
                else allocate_all(question, rates, method, done.setting, presses.token)
            )
            for method in METHODS
        }


def check_together(method: str, has_rate: bool, slots: int | None, has_variant: bool) -> None:
    """Raise `InputError` for arguments that cannot be combined."""
    if slots is not None and has_rate:
        raise InputError(
            "cannot be given with `rate`: it asks for the highest", field="slots", value=slots
        )
    if method != OPTIMAL and not has_rate:
        rule = "needs `rate`: only optimal finds the highest rate"
        raise InputError(rule, field="method", value=method)
    if has_variant and method != OPTIMAL:
        rule = "are for optimal alone: the pairs have rules of their own"
        raise InputError(rule, field="exclusive, unscaled", has_value=False)
