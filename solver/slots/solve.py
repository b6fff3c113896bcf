"""The questions: fewest slots for a rate, for many rates, and the highest rate for some slots."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from slotwise.models.allocation.load import Routing
from slotwise.models.allocation.plan import DEFAULT_SIZES, Vm, VmSize
from slotwise.models.cancellation import CancellationToken
from slotwise.models.dataflow import Dataflow
from slotwise.models.errors import InputError
from slotwise.models.performance.model import PerformanceModel
from slotwise.solver.core.result import Status
from slotwise.solver.slots.branching import fewest, fewest_by_shuffle
from slotwise.solver.slots.master import Master
from slotwise.solver.slots.packing import Packing
from slotwise.solver.slots.problem import Variant, slot_problem
from slotwise.solver.slots.result import Answer, RateResult, SlotResult, plan_of


@dataclass(frozen=True, slots=True)
class Offer:
    """VMs to be had.

    Parameters
    ----------
    sizes
        Each in any number.
    vms
        Where given, these alone, each once.
    """

    sizes: tuple[VmSize, ...] = DEFAULT_SIZES
    vms: tuple[Vm, ...] | None = None

    @property
    def slots(self) -> int | None:
        """Slots of all VMs; ``None`` = as many as are needed."""
        return None if self.vms is None else sum(vm.size.slots for vm in self.vms)

    def take(self, slots: int) -> tuple[Vm, ...]:
        """Return the VMs of lowest price, then of lowest number, that have this many slots."""
        return cheapest(slots, self.sizes) if self.vms is None else choose(slots, self.vms)


PLAIN = Variant()
ANY_VMS = Offer()


class SlotSolver:
    """Questions about one dataflow under one variant; columns and bounds serve all rates.

    Parameters
    ----------
    dataflow, models
        What is to run, and name -> performance model.
    variant
        The rules; see `Variant`.
    offer
        VMs to be had.

    Raises
    ------
    InputError
        For demands that nothing can meet; see `slot_problem`.
    """

    def __init__(
        self,
        dataflow: Dataflow,
        models: Mapping[str, PerformanceModel],
        variant: Variant = PLAIN,
        offer: Offer = ANY_VMS,
    ) -> None:
        aware = replace(variant, routing=Routing.PLANNED)
        self._aware = slot_problem(dataflow, models, Fraction(1), aware)
        self._master = Master(self._aware)
        self._shuffled = (
            slot_problem(dataflow, models, Fraction(1), variant)
            if variant.routing is Routing.SHUFFLE
            else None
        )
        self._offer = offer

    def fewest_slots(self, rate: Fraction, *, token: CancellationToken) -> SlotResult:
        """Return the plan of fewest slots, then lowest price, then fewest VMs, for a rate.

        Parameters
        ----------
        rate
            Of the sources, tuples/s, above 0.
        token
            Ends the search with what it has.

        Raises
        ------
        InputError
            Where the rate is not above 0, or is proven to need more slots than the offer has.
        """
        begun = time.perf_counter()
        check_above_0(rate, "rate")
        return self.result(rate, self.pack(rate, token), time.perf_counter() - begun)

    def highest_rate(
        self, slots: int | None = None, *, step: Fraction = Fraction(1), token: CancellationToken
    ) -> RateResult:
        """Return the highest multiple of `step` that `slots` slots (or the VMs given) support.

        By bisection: each multiple is either packed, or proven to need more slots; what is neither
        when the token is cancelled leaves a gap between rate and bound.

        Raises
        ------
        InputError
            Where neither slots nor VMs are given, there are more slots than the VMs have, `slots`
            or `step` is not above 0, or no task receives tuples.
        """
        begun = time.perf_counter()
        most = self._most_slots(slots)
        check_above_0(step, "step")
        if not self._aware.tasks:
            raise InputError(
                "no task receives tuples: any rate is supported", field="dataflow", has_value=False
            )
        reached, beyond = 0, self._first_beyond(most, step, token)
        refuted = beyond
        best: Answer | None = None
        while reached + 1 < beyond:
            middle = (reached + beyond) // 2
            share = token.remaining / (beyond - reached).bit_length()
            result = self.pack(
                middle * step, token.child(time.perf_counter() + share), at_most=most
            )
            if result.packing is not None and result.packing.slots <= most:
                reached, best = middle, result
                continue
            beyond = middle
            if result.bound > most:
                refuted = middle
        rate, bound = reached * step, (refuted - 1) * step
        plan = None
        if best is not None and best.packing is not None:
            vms = self._offer.take(best.packing.slots)
            plan = plan_of(best.problem, best.packing, rate, vms)
        status = Status.OPTIMAL if rate == bound else Status.FEASIBLE
        return RateResult(status, rate, bound, plan, time.perf_counter() - begun)

    def _most_slots(self, slots: int | None) -> int:
        offered = self._offer.slots
        if slots is None and offered is None:
            raise InputError("give the number of slots, or VMs", field="slots")
        most = slots if slots is not None else offered
        assert most is not None
        check_above_0(Fraction(most), "slots")
        if offered is not None and most > offered:
            raise InputError(f"the given VMs have {offered} slots", field="slots", value=most)
        return most

    def _first_beyond(self, most: int, step: Fraction, token: CancellationToken) -> int:
        """Return the first multiple of `step` that the LP proves to need more than `most` slots."""
        relaxed = self._master.solve(self._aware, token=token)
        return math.floor(most / relaxed.bound / step) + 1

    def pack(self, rate: Fraction, token: CancellationToken, at_most: int | None = None) -> Answer:
        """Return the best packing for `rate`; see `fewest` for `at_most`."""
        problem = self._aware.at(rate)
        if not problem.tasks:  # no task receives anything: no slot
            return Answer(problem, Packing({}, {}), 0)
        packed = fewest(problem, self._master, token=token, at_most=at_most)
        if self._shuffled is None:
            return Answer(problem, packed.packing, packed.bound)
        shuffled = fewest_by_shuffle(self._shuffled.at(rate), token=token)
        if shuffled is None:
            return Answer(problem, None, packed.bound)
        return Answer(shuffled.problem, shuffled.packing, packed.bound)

    def result(self, rate: Fraction, answer: Answer, seconds: float) -> SlotResult:
        """Return `answer` as a plan on VMs of the offer.

        Raises
        ------
        InputError
            Where the bound is beyond the offer.
        """
        offered = self._offer.slots
        if offered is not None and answer.bound > offered:
            raise InputError(
                f"needs at least {answer.bound} slots; the given VMs have {offered}",
                field="rate",
                value=float(rate),
            )
        packing = answer.packing
        if packing is None or (offered is not None and packing.slots > offered):
            return SlotResult(Status.UNKNOWN, None, answer.bound, None, seconds)
        plan = plan_of(answer.problem, packing, rate, self._offer.take(packing.slots))
        status = Status.OPTIMAL if packing.slots == answer.bound else Status.FEASIBLE
        return SlotResult(status, packing.slots, answer.bound, plan, seconds)


def check_above_0(number: Fraction, field: str) -> None:
    """Refuse what is 0 or less."""
    if number <= 0:
        raise InputError("must be above 0", field=field, value=float(number))


# Which VMs hold a number of slots: the lowest price, then the fewest VMs; exact.


def cheapest(slots: int, sizes: Sequence[VmSize]) -> tuple[Vm, ...]:
    """Return the cheapest VMs with at least `slots` slots, of sizes that can be had in any number.

    A dynamic program over the slots that are still missing. Largest VMs first, named ``vm-1`` on.

    Raises
    ------
    InputError
        Where there is no size.
    """
    if not sizes:
        raise InputError("needs at least one VM size", field="sizes")
    costs = _costs(sizes, slots)
    least, last = [0], [-1]
    for missing in range(1, slots + 1):
        cost, index = min(
            (least[max(0, missing - size.slots)] + cost, index)
            for index, (size, cost) in enumerate(zip(sizes, costs, strict=True))
        )
        least.append(cost)
        last.append(index)
    counts: Counter[int] = Counter()
    missing = slots
    while missing > 0:
        counts[last[missing]] += 1
        missing -= sizes[last[missing]].slots
    order = sorted(counts, key=lambda index: (-sizes[index].slots, index))
    acquired = [sizes[index] for index in order for _ in range(counts[index])]
    return tuple(Vm(f"vm-{number}", size) for number, size in enumerate(acquired, 1))


def choose(slots: int, vms: Sequence[Vm]) -> tuple[Vm, ...]:
    """Return the cheapest of `vms` that have at least `slots` slots together, as they are listed.

    A dynamic program over the slots that are still missing, lot by lot: the lots of a size hold 1,
    2, 4, ... and the rest of its VMs, so that some of them hold any number.

    Raises
    ------
    InputError
        Where all of them have fewer.
    """
    offered = sum(vm.size.slots for vm in vms)
    if offered < slots:
        raise InputError(
            f"have fewer than the {slots} slots that are needed", field="vms", value=offered
        )
    numbers = Counter(vm.size for vm in vms)
    costs = dict(zip(numbers, _costs([*numbers], len(vms)), strict=True))
    lots = [(size, lot) for size, number in numbers.items() for lot in _lots(number)]
    beyond = 1 + sum(costs[vm.size] for vm in vms)
    least = [0] + [beyond] * slots
    takes: list[bytearray] = []
    for size, lot in lots:
        with_it = bytearray(slots + 1)
        for missing in range(slots, 0, -1):
            cost = least[max(0, missing - lot * size.slots)] + lot * costs[size]
            if cost < least[missing]:
                least[missing], with_it[missing] = cost, 1
        takes.append(with_it)
    chosen: Counter[VmSize] = Counter()
    missing = slots
    for (size, lot), with_it in zip(reversed(lots), reversed(takes), strict=True):
        if with_it[missing]:
            chosen[size] += lot
            missing = max(0, missing - lot * size.slots)
    taken = []
    for vm in vms:
        if chosen[vm.size]:
            chosen[vm.size] -= 1
            taken.append(vm)
    return tuple(taken)


def _costs(sizes: Sequence[VmSize], most: int) -> list[int]:
    """Return whole numbers whose sums order up to `most` VMs by price, then by number."""
    unit = math.lcm(*(size.price.denominator for size in sizes))
    return [int(size.price * unit) * (most + 1) + 1 for size in sizes]


def _lots(number: int) -> Iterator[int]:
    """Yield 1, 2, 4, ... and a rest, together `number`."""
    lot = 1
    while number > 0:
        yield min(lot, number)
        number, lot = number - lot, 2 * lot
