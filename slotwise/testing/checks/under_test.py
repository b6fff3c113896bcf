"""Code under test, in the process where it runs: it is loaded, and asked about an instance."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any, TypeAlias

from slotwise.heuristics.method import Method, MethodError
from slotwise.heuristics.plugin_errors import format_error, wrap_plugin_errors
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method, unsupported
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.compile import compile_problem
from slotwise.testing.checks.answer import Answer, normalised
from slotwise.testing.fresh_randomness import fresh_randomness

Scheduler: TypeAlias = Callable[[Instance], Placement | Refusal | Mapping[str, Any]]
"""What `as_scheduler` takes beyond names and methods; `normalised` says what it may return."""

UnderTest: TypeAlias = Method | Scheduler

CALLABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


class Said(Enum):
    """What sort of reply code under test gives; the second half of a reply is in brackets."""

    ANSWER = "an answer (it)"
    SUPPORTED = "it supports the instance (nothing)"
    UNSUPPORTED = "it does not support the instance (the reason)"
    FAILED = "it breaks down (how)"
    CHANGED = "it changes its input (where)"


Reply: TypeAlias = tuple[Said, Answer | str]


def load(source: str) -> UnderTest:
    """Return what ``module:callable`` names, or the method of that name.

    The current folder counts, as with ``python -m``.

    Raises
    ------
    InputError
        When there is none, or it cannot be loaded.
    """
    if not CALLABLE.fullmatch(source):
        return find_method(source)
    module, _, name = source.partition(":")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        scheduler: UnderTest = getattr(import_module(module), name)
    except (Exception, SystemExit) as error:
        rule = f"cannot be loaded: {format_error(error, module.partition('.')[0])}"
        raise InputError(rule, field="scheduler", value=source) from error
    if not callable(scheduler) and not isinstance(scheduler, Method):
        raise InputError("must be a callable or a Method", field="scheduler", value=source)
    return scheduler


def reply_of(name: str, code: UnderTest, seed: int, instance: Instance, same: Instance) -> Reply:
    """Ask code about an instance.

    Parameters
    ----------
    name, code, seed
        Who is asked; see `NamedScheduler`.
    instance
        What it is given, and may spoil.
    same
        An equal instance that shares nothing with it.
    """
    try:
        if isinstance(code, Method):
            problem = compile_problem(instance)
            reason = unsupported(problem, code)
            if reason is not None:
                return Said.UNSUPPORTED, reason
            with fresh_randomness():
                answer: Answer = run_method(problem, code, seed, copies=False)
        else:
            with fresh_randomness(), wrap_plugin_errors(name, code):
                returned = code(instance)
            answer = normalised(same, returned)
    except MethodError as error:
        return Said.FAILED, str(error)
    except InputError as error:
        return Said.FAILED, f"the answer of {name} cannot be used: {error}"
    changed = difference(same, instance)
    return (Said.ANSWER, answer) if changed is None else (Said.CHANGED, changed)


def support_of(code: UnderTest, instance: Instance) -> Reply:
    """Ask code whether it supports an instance; a callable supports all."""
    try:
        reason = unsupported(compile_problem(instance), code) if isinstance(code, Method) else None
    except MethodError as error:
        return Said.FAILED, str(error)
    return (Said.SUPPORTED, "") if reason is None else (Said.UNSUPPORTED, reason)


def difference(before: Any, after: Any, where: str = "") -> str | None:
    """Return the first place in which two instances differ, and how; ``None`` = they are equal."""
    if type(before) is type(after):
        if is_dataclass(before):
            names = [field.name for field in fields(before)]
            parts = [(f"{where}.{one}", getattr(before, one), getattr(after, one)) for one in names]
            return _first(parts)
        if isinstance(before, Mapping) and before.keys() == after.keys():
            return _first([(f"{where}.{key}", before[key], after[key]) for key in before])
        if isinstance(before, tuple | list) and len(before) == len(after):
            pairs = enumerate(zip(before, after, strict=True))
            return _first([(f"{where}[{index}]", *pair) for index, pair in pairs])
        if not isinstance(before, Mapping | tuple | list) and bool(before == after):
            return None
    return f"{where.removeprefix('.')} was {before}, and is {after}"


def _first(parts: list[tuple[str, Any, Any]]) -> str | None:
    differences = (difference(before, after, where) for where, before, after in parts)
    return next((one for one in differences if one is not None), None)
