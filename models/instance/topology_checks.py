"""Rules between the parts of a topology, one function each; all raise `InputError`.

They take ids and not the parts themselves, so that this module lies below `topology`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from slotwise.models.errors import InputError
from slotwise.models.instance.reserved import ACKER
from slotwise.models.values import distinct


def check_component_ids(ids: Sequence[str], *, has_ackers: bool) -> None:
    """Refuse repeated ids, and ackers given twice: as a component and by `ackers`."""
    distinct(ids, "components[].id")
    if has_ackers and ACKER in ids:
        raise InputError(
            "is made from `ackers`; give one of the two",
            field=f"components[{ids.index(ACKER)}].id",
            value=ACKER,
        )


class References:
    """Checks what refers to components of one topology."""

    def __init__(self, topology: str, components: Iterable[str]) -> None:
        self._topology = topology
        self._components: Collection[str] = frozenset(components)

    def check_streams(self, ends: Iterable[tuple[str, str]]) -> None:
        """Refuse streams, given as (from, to), of unknown components."""
        for index, (source, target) in enumerate(ends):
            self._check(source, f"streams[{index}].from")
            self._check(target, f"streams[{index}].to")

    def check_constraints(
        self, incompatible: Iterable[tuple[str, str]], max_per_node: Mapping[str, int]
    ) -> None:
        """Refuse constraints on unknown components."""
        for index, pair in enumerate(incompatible):
            for key in pair:
                self._check(key, f"constraints.incompatible[{index}]")
        for key in max_per_node:
            self._check(key, "constraints.max_per_node")

    def check_shared_memory(self, regions: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Refuse repeated regions, given as (id, components), and those of unknown components."""
        distinct((region for region, _ in regions), "shared_memory[].id")
        for index, (_, components) in enumerate(regions):
            for key in components:
                self._check(key, f"shared_memory[{index}].components")

    def _check(self, key: str, where: str) -> None:
        if key not in self._components:
            raise InputError(
                f"must be a component of topology {self._topology!r}", field=where, value=key
            )
