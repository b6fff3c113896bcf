"""A scheduler under test: a Python callable, one of our methods, or a command.

Whatever it is, it is asked in one way: an instance and a time limit in, a placement or a refusal
out. Anything else that it does (it raises, hangs, returns garbage, changes the instance) is a
`MethodError`. It runs in another process (`children`), which a limit ends whatever it does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from slotwise.heuristics.external.command import external_method, startable_words
from slotwise.heuristics.method import Method, MethodError
from slotwise.heuristics.method_names import COMMAND_PREFIX, is_command, is_storm
from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method, unsupported
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Refusal
from slotwise.models.problem.compile import compile_problem
from slotwise.testing.checks.answer import Answer
from slotwise.testing.checks.children import WITHIN, Children, EndedError, GivenUpError
from slotwise.testing.checks.finding import UnsupportedError
from slotwise.testing.checks.under_test import (
    CALLABLE,
    Reply,
    Said,
    Scheduler,
    UnderTest,
    load,
)

TIME_LIMIT_S = 10.0
"""Seconds after which a call of a scheduler is abandoned, in every check."""

HASH_SEEDS = (1, 2)
"""Values of ``PYTHONHASHSEED`` under which a scheduler is asked; most questions have the first."""

CHANGES_INPUT = "changes its input"


@dataclass(frozen=True, slots=True)
class NamedScheduler:
    """A scheduler under test; call it with an instance, or `ask` it with a limit.

    Parameters
    ----------
    name
        For people.
    text
        As ``slotwise test-scheduler`` takes it; empty for what only this process knows.
    seed
        Of every random choice, for what takes a seed.
    ask
        ``(instance, seconds, hash seed)`` -> answer; raises `MethodError` where there is none,
        whose `timed_out` says whether the time ran out, and `UnsupportedError`.
    supports
        ``(instance, seconds)`` -> why it does not apply to an instance, by its `Method.supports`;
        ``None`` = it does. Raises `MethodError`.
    """

    name: str
    text: str
    seed: int
    ask: Callable[[Instance, float, int], Answer]
    supports: Callable[[Instance, float], str | None]

    def __call__(self, instance: Instance, hash_seed: int = HASH_SEEDS[0]) -> Answer:
        """Return the answer within `TIME_LIMIT_S` seconds; what it does not support it refuses."""
        try:
            return self.ask(instance, TIME_LIMIT_S, hash_seed)
        except UnsupportedError as error:
            return Refusal(str(error))


Testable: TypeAlias = NamedScheduler | Method | str | Scheduler

_OURS = Children()
"""Our own methods share their processes."""


def as_scheduler(scheduler: Testable, *, seed: int = 0) -> NamedScheduler:
    """Return `scheduler` as one that can be asked.

    Parameters
    ----------
    scheduler
        A callable that takes an instance (see `Scheduler`), a `Method`, the name of a method as
        ``slotwise place --with`` takes it (``cmd:COMMAND`` too), or ``module:callable``, which is
        looked for in the current folder too.
    seed
        0 or more; a callable has none.

    Raises
    ------
    InputError
        When a name is that of no method, or its callable cannot be loaded.
    """
    if isinstance(scheduler, NamedScheduler):
        return scheduler
    if isinstance(scheduler, Method):
        return _of_code(scheduler.name, "", seed, _known_name(scheduler), scheduler)
    if not isinstance(scheduler, str):
        name = getattr(scheduler, "__name__", type(scheduler).__name__)
        return _of_code(name, "", seed, _reference(scheduler), scheduler)
    if is_command(scheduler) or is_storm(scheduler):
        return _of_program(scheduler, seed)
    code = load(scheduler) if CALLABLE.fullmatch(scheduler) else _method(scheduler)
    return _of_code(scheduler, scheduler, seed, scheduler, code)


def _method(name: str) -> Method:
    try:
        return find_method(name)
    except InputError as error:
        offer = f"(or {COMMAND_PREFIX}COMMAND)"
        if not error.rule.endswith(offer):
            raise
        rule = error.rule.replace(offer, f"(or {COMMAND_PREFIX}COMMAND or module:callable)")
        raise InputError(rule, field=error.field, value=name) from error


def _known_name(method: Method) -> str:
    """Return the name by which another process finds a method; empty = it would not."""
    try:
        return method.name if find_method(method.name) == method else ""
    except InputError:
        return ""


def _reference(function: Scheduler) -> str:
    """Return ``module:callable`` of a function at the top of a module; empty = it is none."""
    module = getattr(function, "__module__", None) or "__main__"
    text = f"{module}:{getattr(function, '__qualname__', '')}"
    original = getattr(sys.modules.get(module), getattr(function, "__qualname__", ""), None)
    is_top = original is function and module != "__main__" and CALLABLE.fullmatch(text)
    return text if is_top else ""


def _of_program(name: str, seed: int) -> NamedScheduler:
    """Return a command or one of Storm's schedulers, each a process by itself."""
    method = find_method(name)  # reports a mistake in it at once
    command = name.removeprefix(COMMAND_PREFIX)
    if is_command(name):
        startable_words(command)

    def ask(instance: Instance, seconds: float, hash_seed: int) -> Answer:
        problem = compile_problem(instance)
        reason = unsupported(problem, method)
        if reason is not None:
            raise UnsupportedError(reason)
        if not is_command(name):
            return run_method(problem, find_method(name, time_limit_s=seconds), seed)
        hashing = {"PYTHONHASHSEED": str(hash_seed)}
        limited = external_method(command, time_limit_s=seconds, environment=hashing)
        return run_method(problem, limited, seed)

    def supports(instance: Instance, seconds: float) -> str | None:
        return unsupported(compile_problem(instance), method)

    return NamedScheduler(name, name, seed, ask, supports)


def _of_code(name: str, text: str, seed: int, source: str, code: UnderTest) -> NamedScheduler:
    """Return Python code as a scheduler.

    Parameters
    ----------
    name, text, seed
        See `NamedScheduler`.
    source
        What another process loads; empty = the code is known to this process alone.
    code
        The code itself, for where another process cannot load it.
    """
    under_test = _CodeUnderTest(name, seed, source, code)

    def ask(instance: Instance, seconds: float, hash_seed: int) -> Answer:
        said, what = under_test.reply("ask", instance, seconds, hash_seed)
        if said is Said.UNSUPPORTED:
            raise UnsupportedError(str(what))
        if said is Said.CHANGED:
            raise MethodError(f"{CHANGES_INPUT}: {what}", changes_input=True)
        if isinstance(what, str):
            raise MethodError(what)
        return what

    def supports(instance: Instance, seconds: float) -> str | None:
        if not isinstance(code, Method):
            return None
        said, what = under_test.reply("supports", instance, seconds, HASH_SEEDS[0])
        if said is Said.FAILED:
            raise MethodError(str(what))
        return str(what) if said is Said.UNSUPPORTED else None

    return NamedScheduler(name, text, seed, ask, supports)


class _CodeUnderTest:
    """Code under test and its processes."""

    def __init__(self, name: str, seed: int, source: str, code: UnderTest) -> None:
        self._name, self._seed, self._source, self._code = name, seed, source, code
        is_ours = source.partition(":")[0] in HEURISTICS
        self._children = _OURS if is_ours else Children(None if source else code)

    def reply(self, what: str, instance: Instance, seconds: float, hash_seed: int) -> Reply:
        if WITHIN in os.environ:  # else each child would start children
            raise InputError(
                "is tested while its module is loaded; test it below `if __name__ == '__main__'`",
                field="scheduler",
                value=self._name,
            )
        who = self._name, self._source, self._seed
        try:
            return self._children.ask(who, what, instance, seconds, hash_seed)
        except GivenUpError:
            reason = f"{self._name} gave no answer within {seconds:g} s"
            raise MethodError(reason, timed_out=True) from None
        except EndedError as error:
            raise MethodError(f"{self._name} ended its process {error}") from None
