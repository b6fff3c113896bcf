"""Lists of methods, engines, families and schemas; and generated instances.

Engines are loaded only to be listed: a schema needs none.
"""

from __future__ import annotations

from typing import Any

from slotwise.models.allocation.case import AllocationCase
from slotwise.models.families.family import Family, Made, of_sizes, task_range
from slotwise.models.families.registry import ALLOCATION_FAMILIES, FAMILIES
from slotwise.models.families.storm import DESCRIPTION, NAME
from slotwise.models.instance.instance import Instance
from slotwise.models.schemas import json_schemas
from slotwise.models.values import known, whole


def methods() -> list[dict[str, Any]]:
    """List the heuristics (for `place`), then the engines (for `solve`).

    Each is a dict of ``name``, ``kind`` (``heuristic``, ``engine``, or ``unusable`` for an entry
    point of another package that provides no method), ``source`` (of an engine, the version of its
    solver; ``None`` if unusable) and ``description`` (``None`` of engines; why it is unusable).

    Examples
    --------
    >>> import slotwise
    >>> "r-storm" in [one["name"] for one in slotwise.methods()]
    True
    """
    from slotwise.heuristics.method import Method
    from slotwise.heuristics.registry import installed_methods
    from slotwise.solver.engines import ENGINES

    heuristics = [
        {
            "name": name,
            "kind": "heuristic" if isinstance(method, Method) else "unusable",
            "source": method.source if isinstance(method, Method) else None,
            "description": method.description if isinstance(method, Method) else str(method),
        }
        for name, method in installed_methods()
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
    """List the families of instances.

    Each is a dict of ``name``, ``count`` (``None`` = as many as files hold) and ``description``.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.families()[0]["name"]
    'rstorm'
    """
    generated: list[dict[str, Any]] = [
        {"name": name, "count": family.count, "description": family.description}
        for name, family in (FAMILIES | ALLOCATION_FAMILIES).items()
    ]
    return [*generated, {"name": NAME, "count": None, "description": DESCRIPTION}]


def generate(
    family: str,
    *,
    count: int | None = None,
    seed: int = 0,
    tasks: tuple[int, int] | str | None = None,
) -> tuple[Instance, ...] | tuple[AllocationCase, ...]:
    """Make the instances of a family; of ``sam``, allocation cases.

    Parameters
    ----------
    family
        One of those that `families` lists, save ``storm``, which is read from files.
    count
        Number of instances, 1 or more; ``None`` = the family's own number. The first ones are the
        same whatever the count.
    seed
        Of every random choice, 0 or more.
    tasks
        Least and most tasks of a topology, as numbers or as ``"50-600"``, for families whose sizes
        can be chosen (``storm-like``); ``None`` = the family's own.

    Raises
    ------
    InputError
        For an unknown family, a number that is out of range, or a family whose sizes cannot be
        chosen.

    Examples
    --------
    >>> import slotwise
    >>> [instance.name for instance in slotwise.generate("random", count=2)]
    ['random-0-0000-feasible', 'random-0-0001-feasible']
    """
    known(family, [*FAMILIES, *ALLOCATION_FAMILIES], "family")
    whole(seed, "seed")
    if count is not None:
        whole(count, "count", least=1)
    if family in FAMILIES:
        return tuple(_sized(FAMILIES[family], tasks).generate(count, seed))
    return tuple(_sized(ALLOCATION_FAMILIES[family], tasks).generate(count, seed))


def _sized(family: Family[Made], tasks: tuple[int, int] | str | None) -> Family[Made]:
    if tasks is None:
        return family
    return of_sizes(family, *(task_range(tasks) if isinstance(tasks, str) else tasks))


def schema(name: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file.

    Parameters
    ----------
    name
        For example ``instance``; ``None`` = a dict of all, by name.

    Raises
    ------
    InputError
        For an unknown name.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.schema("placement")["properties"]["format"]["const"]
    'slotwise.placement/1'
    """
    schemas = json_schemas()
    if name is None:
        return schemas
    schema: dict[str, Any] = schemas[known(name, schemas, "name")]
    return schema
