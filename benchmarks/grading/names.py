"""The methods and the engine that a grading is asked for, by their names, checked beforehand."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Collection, Sequence

from slotwise.benchmarks.grading.rows import Subject, subject_of
from slotwise.heuristics.method_names import COMMAND_PREFIX, SEPARATOR, is_command, split_names
from slotwise.heuristics.registry import all_methods, find_method
from slotwise.heuristics.sam.pairs import PAIRS, find_pair
from slotwise.models.errors import InputError, suggestion
from slotwise.solver.engines import ENGINES

AUTO = "auto"


def split_methods(written: Sequence[str] | None) -> list[str] | None:
    """Return the names in texts ``A,B``, as `split_names` does; ``None`` where there are none."""
    if written is None:
        return None
    return split_names(written, _all_methods())


def known_methods(named: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of methods and pairs, each once; of a text ``A,B``; ``None`` = all.

    Raises
    ------
    InputError
        For one that is unknown.
    """
    names = split_methods([named]) if isinstance(named, str) else named
    return tuple(dict.fromkeys(map(_found_name, _all_methods() if names is None else names)))


def applicable(names: Sequence[str], subjects: Collection[str], chosen: bool) -> tuple[str, ...]:
    """Return the methods that apply to a case; one that was chosen and does not is refused."""
    for name in names if chosen else ():
        if (subject := subject_of(name)) not in subjects:
            rule = f"is for cases of {subject}, but there are none"
            raise InputError(rule, field="method", value=name)
    return tuple(name for name in names if subject_of(name) in subjects)


def known_engine(engine: str) -> str:
    """Return the engine's name; one that is unknown is refused."""
    engines = (AUTO, *ENGINES)
    if engine not in engines:
        rule = f"is not an engine; {suggestion(engine, engines)}"
        raise InputError(rule, field="engine", value=engine)
    return engine


def check_engine_applies(engine: str, subjects: Collection[str]) -> None:
    """Refuse an engine that was chosen where nothing is to be placed."""
    if engine != AUTO and Subject.PLACEMENT not in subjects:
        raise InputError(
            "is for cases of placement, but there are none", field="engine", value=engine
        )


def check_commands(names: Sequence[str]) -> None:
    """Refuse an external command whose program is not there, before anything is graded."""
    for name in names:
        if is_command(name):
            program = shlex.split(name.removeprefix(COMMAND_PREFIX))[0]
            if shutil.which(program) is None:
                raise InputError(
                    "cannot be run; install the program or give its path",
                    field="method",
                    value=program,
                )


def _all_methods() -> list[str]:
    return [*(method.name for method in all_methods()), *PAIRS]


def _found_name(name: str) -> str:
    """Return the name of a method or pair; what is written like a pair is looked up as one."""
    written_like_a_pair = "+" in name and SEPARATOR not in name
    return find_pair(name).name if written_like_a_pair else find_method(name).name
