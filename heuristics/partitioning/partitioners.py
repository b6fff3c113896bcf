"""All partitioners by name, with their parameters."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from slotwise.heuristics.partitioning.kahip import KAHIP
from slotwise.heuristics.partitioning.metis import METIS
from slotwise.heuristics.partitioning.partition import Partitioner, Parts
from slotwise.heuristics.partitioning.streaming import FENNEL, HASH, LDG, restreaming
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError
from slotwise.models.graph_files.csr import CsrGraph
from slotwise.models.suggestion import suggestion

MOST_PASSES = 1000

PARTITIONERS: dict[str, Partitioner] = {
    one.name: one
    for one in (HASH, LDG, FENNEL, restreaming("ldg"), restreaming("fennel"), METIS, KAHIP)
}


def find_partitioner(name: str) -> Partitioner:
    """Return the partitioner called `name`, with parameters after a colon: ``ldg-re:passes=5``.

    Raises
    ------
    InputError
        When there is none, or its parameters are wrong.
    """
    base, colon, text = name.partition(":")
    if base not in PARTITIONERS:
        rule = f"is not a partitioner; {suggestion(base, PARTITIONERS)}"
        raise InputError(rule, field="method", value=name)
    if not colon:
        return PARTITIONERS[base]
    key, _, value = text.partition("=")
    return with_passes(base, {key.strip(): (value.strip(),)})


def with_passes(name: str, given: Mapping[str, tuple[str, ...]]) -> Partitioner:
    """Return the partitioner with these parameters; only ``passes`` of restreaming is one."""
    return restreaming(rule_of(name), read_passes(name, given))


def rule_of(name: str) -> str:
    """Return the rule of a restreaming partitioner; others have no parameters."""
    rule, re, rest = name.partition("-re")
    if not re or rest:
        raise InputError(f"takes no parameters; write only {name}", field="method", value=name)
    return rule


def read_passes(name: str, given: Mapping[str, tuple[str, ...]]) -> int:
    """Return the number of passes that parameters say."""
    for key, values in given.items():
        if key != "passes":
            rule = f"is not a parameter of {name}; {suggestion(key, ['passes'])}"
            raise InputError(rule, field="method", value=key)
        text = ",".join(values)
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MOST_PASSES):
            rule = f"must be a whole number from 1 to {MOST_PASSES}"
            raise InputError(rule, field=f"{name}:passes", value=text)
    return int(",".join(given["passes"]))


def start_partition(graph: CsrGraph, parts: Parts, seed: int) -> tuple[int, ...]:
    """Return the part of each vertex where a search for the least cut starts.

    That is METIS's partition where it is installed, ``fennel-re``'s elsewhere; a part may be over
    its capacity.
    """
    metis = PARTITIONERS["metis"]
    chosen = metis if metis.missing() is None else PARTITIONERS["fennel-re"]
    made = chosen.run(graph, parts, np.random.default_rng(seed), CancellationToken())
    return tuple(made.part.tolist())
