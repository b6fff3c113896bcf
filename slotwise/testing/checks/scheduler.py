"""A scheduler under test: a Python callable, one of our methods, or a command.

Whatever it is, it is asked in one way: an instance and a time limit in, a placement or a refusal
out. Anything else that it does (it raises, hangs, returns garbage) is a `MethodError`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from slotwise.heuristics.external.command import startable_words
from slotwise.heuristics.method import Method
from slotwise.heuristics.method_error import MethodError
from slotwise.heuristics.method_names import COMMAND_PREFIX, is_command, is_storm
from slotwise.heuristics.others_code import said, told
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.compile import compile_problem
from slotwise.testing.checks.answer import Answer, normalised
from slotwise.testing.checks.call_within import GivenUpError, call_within
from slotwise.testing.fresh_randomness import fresh_randomness

Scheduler: TypeAlias = Callable[[Instance], Placement | Refusal | Mapping[str, Any]]
"""What `as_scheduler` takes beyond names and methods; `normalised` says what it may return."""

TIME_LIMIT_S = 10.0
"""Seconds after which a call of a scheduler is abandoned, in every check."""

CALLABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


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
        ``(instance, seconds)`` -> answer; raises `MethodError` where there is none, whose
        `timed_out` says whether the time ran out.
    """

    name: str
    text: str
    seed: int
    ask: Callable[[Instance, float], Answer]

    def __call__(self, instance: Instance) -> Answer:
        """Return the answer within `TIME_LIMIT_S` seconds."""
        return self.ask(instance, TIME_LIMIT_S)


Testable: TypeAlias = NamedScheduler | Method | str | Scheduler


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
        return NamedScheduler(scheduler.name, "", seed, _of_method(scheduler, seed))
    if not isinstance(scheduler, str):
        name = getattr(scheduler, "__name__", type(scheduler).__name__)
        return NamedScheduler(name, "", seed, _of_callable(scheduler, name))
    if is_command(scheduler) or is_storm(scheduler):
        find_method(scheduler)  # reports a mistake in it at once
        if is_command(scheduler):
            startable_words(scheduler.removeprefix(COMMAND_PREFIX))
        return NamedScheduler(scheduler, scheduler, seed, _of_command(scheduler, seed))
    if CALLABLE.fullmatch(scheduler):
        found = _loaded(scheduler)
        ask = (
            _of_method(found, seed) if isinstance(found, Method) else _of_callable(found, scheduler)
        )
        return NamedScheduler(scheduler, scheduler, seed, ask)
    return NamedScheduler(scheduler, scheduler, seed, _of_method(_method(scheduler), seed))


def _method(name: str) -> Method:
    try:
        return find_method(name)
    except InputError as error:
        offer = f"(or {COMMAND_PREFIX}COMMAND)"
        if not error.rule.endswith(offer):
            raise
        rule = error.rule.replace(offer, f"(or {COMMAND_PREFIX}COMMAND or module:callable)")
        raise InputError(rule, field=error.field, value=name) from error


def _of_command(name: str, seed: int) -> Callable[[Instance, float], Answer]:
    def ask(instance: Instance, seconds: float) -> Answer:
        method = find_method(name, time_limit_s=seconds)
        return run_method(compile_problem(instance), method, seed)

    return ask


def _of_method(method: Method, seed: int) -> Callable[[Instance, float], Answer]:
    def ask(instance: Instance, seconds: float) -> Answer:
        problem = compile_problem(instance)
        return _usable(
            method.name,
            lambda: _asked(method.name, lambda: run_method(problem, method, seed), seconds),
        )

    return ask


def _of_callable(scheduler: Scheduler, name: str) -> Callable[[Instance, float], Answer]:
    def ask(instance: Instance, seconds: float) -> Answer:
        with told(name, scheduler):
            answer = _asked(name, lambda: scheduler(instance), seconds)
        return _usable(name, lambda: normalised(instance, answer))

    return ask


def _asked(name: str, call: Callable[[], Any], seconds: float) -> Any:
    try:
        with fresh_randomness():
            return call_within(seconds, call)
    except GivenUpError:
        reason = f"{name} gave no answer within {seconds:g} s"
        raise MethodError(reason, timed_out=True) from None


def _usable(name: str, answer: Callable[[], Answer]) -> Answer:
    try:
        return answer()
    except InputError as error:
        raise MethodError(f"the answer of {name} cannot be used: {error}") from error


def _loaded(text: str) -> Any:
    """Return what ``module:callable`` names; the current folder counts, as with ``python -m``."""
    module, _, name = text.partition(":")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = getattr(import_module(module), name)
    except (Exception, SystemExit) as error:
        rule = f"cannot be loaded: {said(error, module.partition('.')[0])}"
        raise InputError(rule, field="scheduler", value=text) from error
    if not callable(found) and not isinstance(found, Method):
        raise InputError("must be a callable or a Method", field="scheduler", value=text)
    return found
