"""All methods by name: ours, those of other packages, Storm's own, external commands.

Another package adds a method by an entry point in the group ``slotwise.methods``. The entry
point's name is the method's name, its object a `Method` or a callable without arguments that
returns one.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from slotwise.heuristics.external import command as external
from slotwise.heuristics.external import storm_methods
from slotwise.heuristics.external.command import DEFAULT_TIME_LIMIT_S, external_method
from slotwise.heuristics.external.storm_methods import storm_method
from slotwise.heuristics.method import Method
from slotwise.heuristics.method_names import (
    COMMAND_PREFIX,
    SEPARATOR,
    STORM_PREFIX,
    is_command,
    is_storm,
    read_parameters,
)
from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.plugin_errors import format_error
from slotwise.models.errors import InputError, suggestion

GROUP = "slotwise.methods"


def find_method(name: str, *, time_limit_s: float = DEFAULT_TIME_LIMIT_S) -> Method:
    """Return the method called `name`.

    Parameters
    ----------
    name
        Of one of `HEURISTICS`, of an entry point, ``storm:STRATEGY`` or ``cmd:COMMAND``. The first
        two may have `parameters` after a colon.
    time_limit_s
        Wall-clock limit of an external command or of Storm, seconds; no other method has one.

    Raises
    ------
    InputError
        When there is no such method (close names are suggested), its parameters are wrong, an
        entry point is unusable, or Storm's scheduler is not built.
    """
    if is_command(name):
        return external_method(name.removeprefix(COMMAND_PREFIX), time_limit_s=time_limit_s)
    if is_storm(name):
        return storm_method(name.removeprefix(STORM_PREFIX), time_limit_s=time_limit_s)
    added = _added()
    base, separator, parameters = name.partition(SEPARATOR)
    if separator and base in {*HEURISTICS, *added}:
        return configured(HEURISTICS.get(base) or _load(added[base]), parameters)
    if name in HEURISTICS:
        return HEURISTICS[name]
    if name in added:
        return _load(added[name])
    names = [*HEURISTICS, *added]
    rule = f"is not a method; {suggestion(base, names)} (or {COMMAND_PREFIX}COMMAND)"
    raise InputError(rule, field="method", value=name)


def describe(name: str) -> str:
    """Return what the method called `name` does, in one sentence.

    Nothing is started or loaded for it; empty for a method of another package, an unknown name, or
    wrong parameters.
    """
    if is_command(name):
        return external.DESCRIPTION
    if is_storm(name):
        return storm_methods.DESCRIPTION
    base, separator, parameters = name.partition(SEPARATOR)
    method = HEURISTICS.get(base)
    if method is None or not separator:
        return "" if method is None else method.description
    try:
        return configured(method, parameters).description
    except InputError:  # A row of another version of slotwise.
        return ""


def all_methods() -> tuple[Method, ...]:
    """Return our methods, then those of entry points by name.

    Raises
    ------
    InputError
        When an entry point is unusable: it takes a name in use, or holds no method.
    """
    added = _added()
    return (*HEURISTICS.values(), *(_load(added[name]) for name in sorted(added)))


def installed_methods() -> tuple[tuple[str, Method | InputError], ...]:
    """Return the methods of `all_methods` by name; for an unusable entry point its error."""
    methods: list[tuple[str, Method | InputError]] = list(HEURISTICS.items())
    for point in sorted(_entry_points(), key=lambda point: point.name):
        try:
            _check_name(point)
            methods.append((point.name, _load(point)))
        except InputError as error:
            methods.append((point.name, error))
    return tuple(methods)


def _entry_points() -> tuple[EntryPoint, ...]:
    """Return the entry points of installed packages, which are searched once for each path.

    A search reads the metadata of every package, which takes longer than most placements.
    """
    return _entry_points_on(tuple(sys.path))


@cache
def _entry_points_on(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


def _added() -> dict[str, EntryPoint]:
    """Return the entry points by name; a name in use is refused."""
    added: dict[str, EntryPoint] = {}
    for point in _entry_points():
        _check_name(point)
        other = added.setdefault(point.name, point)
        if other.value != point.value:
            raise _unusable(point, f"has the name of another entry point, {other.value}")
    return added


def _check_name(point: EntryPoint) -> None:
    if point.name in HEURISTICS:
        raise _unusable(point, "has the name of a built-in method; it must be renamed")
    for prefix in (COMMAND_PREFIX, STORM_PREFIX):
        if point.name.startswith(prefix):
            raise _unusable(point, f"must not begin with {prefix}")


def _load(point: EntryPoint) -> Method:
    try:
        loaded = point.load()
        method = loaded() if callable(loaded) else loaded
    except (Exception, SystemExit) as error:
        package = point.module.partition(".")[0]
        raise _unusable(point, f"cannot be loaded: {format_error(error, package)}") from error
    if not isinstance(method, Method):
        raise _unusable(point, f"must be a Method or return one, not {type(method).__name__}")
    if method.name != point.name:
        raise _unusable(point, f"must have the name of its method, {method.name!r}")
    return method


def _unusable(point: EntryPoint, rule: str) -> InputError:
    package = "" if point.dist is None else f" of {point.dist.name}"
    return InputError(rule, field=f"entry point {GROUP}{package}", value=point.name)


def configured(method: Method, text: str) -> Method:
    """Return `method` with the parameters in `text`.

    They follow the name: ``r-storm:weights=1,1,2,normalise=capacity``. After the colon stand
    ``key=value`` pairs with commas between; a value may be a list with commas, for a part without
    ``=`` goes on with the value before it.

    Raises
    ------
    InputError
        Where the method takes none, `text` is not a list of ``key=value``, a key occurs twice or
        is unknown, or its value is not allowed.
    """
    written = f"{method.name}{SEPARATOR}{text}"
    if method.configure is None:
        raise InputError(
            f"takes no parameters; write only {method.name}", field="method", value=written
        )
    return method.configure(read_parameters(text, written))
