"""The lists that ``methods`` and ``families`` print."""

from __future__ import annotations

from typing import Any

from slotwise.heuristics.registry import all_methods
from slotwise.models.families.registry import ALLOCATION_FAMILIES, FAMILIES
from slotwise.models.families.storm import DESCRIPTION, NAME
from slotwise.solver.engines import ENGINES


def methods() -> list[dict[str, Any]]:
    """List the heuristics (for ``place --with``), then the engines (for ``solve --engine``)."""
    heuristics = [
        {
            "name": method.name,
            "kind": "heuristic",
            "source": method.source,
            "description": method.description,
        }
        for method in all_methods()
    ]
    engines = [
        {
            "name": engine.name,
            "kind": "engine",
            "source": engine.version(),
            "description": None,
        }
        for engine in ENGINES.values()
    ]
    return heuristics + engines


def families() -> list[dict[str, Any]]:
    """List the families of instances; a count of ``None`` = as many as files hold."""
    generated: list[dict[str, Any]] = [
        {"name": name, "count": family.count, "description": family.description}
        for name, family in (FAMILIES | ALLOCATION_FAMILIES).items()
    ]
    return [*generated, {"name": NAME, "count": None, "description": DESCRIPTION}]
