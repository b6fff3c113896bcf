"""What a mapping algorithm takes and returns: threads to map, slots to map them to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol, TypeAlias

from slotwise.models.allocation.plan import Bundle
from slotwise.models.allocation.vm import Vm
from slotwise.models.cancellation import CancellationToken
from slotwise.models.performance.model import PerformanceModel


@dataclass(frozen=True, slots=True)
class AllocatedTask:
    """A task with its threads.

    Parameters
    ----------
    name, model, rate
        As in its `TaskDemand`.
    threads
        From the allocation, at least 1.
    cpu, memory
        Of all threads, from the allocation, in % of a slot.
    thread_cpu, thread_memory
        Of one thread as RSM counts it, in % of a slot.
    """

    name: str
    model: PerformanceModel
    rate: Fraction
    threads: int
    cpu: Fraction
    memory: Fraction
    thread_cpu: Fraction
    thread_memory: Fraction


class SlotId(NamedTuple):
    """A slot: the place of its VM in the list of VMs, and its number in the VM."""

    vm: int
    slot: int


@dataclass(frozen=True, slots=True)
class OpenVm:
    """A VM and how many of its slots may be used: the first ones."""

    vm: Vm
    slots: int


@dataclass(frozen=True, slots=True)
class NoRoom:
    """No slot has what a bundle (for RSM a thread) needs.

    Parameters
    ----------
    task
        Whose.
    threads
        Of the bundle.
    cpu, memory
        What it needs, in % of a slot.
    """

    task: str
    threads: int
    cpu: Fraction
    memory: Fraction


Mapped: TypeAlias = dict[SlotId, list[Bundle]]


class Map(Protocol):
    """A mapping algorithm; raises `CancelledError` where its token is cancelled."""

    def __call__(
        self,
        tasks: Sequence[AllocatedTask],
        vms: Sequence[OpenVm],
        /,
        *,
        token: CancellationToken = ...,
    ) -> Mapped | NoRoom:
        """Return slot -> bundles, or what no slot has room for."""


def open_slots(vms: Sequence[OpenVm]) -> list[SlotId]:
    """Return the slots that may be used, VM by VM."""
    return [SlotId(v, slot) for v, vm in enumerate(vms) for slot in range(vm.slots)]


def open_vms(vms: Iterable[Vm], slots: int) -> tuple[OpenVm, ...]:
    """Return `vms` with the first `slots` of their slots open."""
    opened = []
    for vm in vms:
        opened.append(OpenVm(vm, min(slots, vm.size.slots)))
        slots -= opened[-1].slots
    return tuple(opened)
