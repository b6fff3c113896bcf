"""Asking a validator, a Python callable or a command, and what its answer says."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from slotwise.heuristics.external.command import failure_of, startable_words
from slotwise.heuristics.method import MethodError
from slotwise.heuristics.method_names import COMMAND_PREFIX
from slotwise.heuristics.plugin_errors import format_error
from slotwise.models.display import kind_of
from slotwise.models.errors import InputError
from slotwise.models.formats.instance_writer import instance_document
from slotwise.models.formats.json_text import parse_json, pretty_json
from slotwise.models.formats.placement_file import placement_document
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.values import time_limit
from slotwise.processes.child import exchange
from slotwise.processes.pipes import last_words
from slotwise.testing.fresh_randomness import fresh_randomness

Validator: TypeAlias = Callable[[Instance, Placement], object]
"""Says whether a placement is valid; `answer_from` lists what it may return."""

TIME_LIMIT_S = 10.0
"""Seconds after which a command is killed."""

FORMS = "must be a bool, a collection of names of broken rules, or have an attribute valid"
COMMAND_FORMS = 'must be {"valid": true or false} or {"violations": ["rule", ...]}'


@dataclass(frozen=True, slots=True)
class Answer:
    """What a validator said of a placement.

    Parameters
    ----------
    valid
        Whether it is valid.
    rules
        The rules that it names as broken; ``None`` = it names none.
    error
        Why there is no answer; empty where there is one.
    timed_out
        Whether it was killed at its time limit.
    """

    valid: bool
    rules: frozenset[str] | None = None
    error: str = ""
    timed_out: bool = False

    def __str__(self) -> str:
        """Return a few words for people."""
        if self.error:
            return self.error
        named = f", broken: {', '.join(sorted(self.rules))}" if self.rules else ""
        return ("valid" if self.valid else "not valid") + named


def ask_validator(validator: Validator, instance: Instance, placement: Placement) -> Answer:
    """Return what a validator says; what it raises is an answer with an `error`.

    It gets a copy of the instance, which it may change.
    """
    with fresh_randomness():
        return _answer_or_error(lambda: validator(deepcopy(instance), placement))


def _answer_or_error(ask: Callable[[], object]) -> Answer:
    try:
        return answer_from(ask())
    except MethodError as error:
        return Answer(False, error=str(error), timed_out=error.timed_out)
    except InputError as error:
        return Answer(False, error=f"its answer cannot be used: {error}")


def answer_from(answer: object) -> Answer:
    """Return what a validator's answer says.

    Parameters
    ----------
    answer
        An `Answer`; a bool; a collection of names of broken rules, or of objects with a `rule`
        such as `Violation`, where an empty one says valid; or an object with an attribute `valid`,
        such as `Verdict`, whose `violations` are read where it has some.

    Raises
    ------
    InputError
        When it is nothing of the kind.
    """
    if isinstance(answer, Answer):
        return answer
    if isinstance(answer, bool):
        return Answer(answer)
    valid = getattr(answer, "valid", None)
    if isinstance(valid, bool):
        violations = getattr(answer, "violations", None)
        return Answer(valid, None if valid or not violations else _rules(violations))
    rules = _rules(answer)
    return Answer(not rules, rules)


def _rules(answer: object) -> frozenset[str]:
    if isinstance(answer, str | bytes) or not isinstance(answer, Collection):
        raise InputError(FORMS, field="answer", value=type(answer).__name__)
    return frozenset(map(_rule, answer))


def _rule(broken: object) -> str:
    rule = getattr(broken, "rule", broken)
    if not isinstance(rule, str):
        rule = f"{FORMS}; it contains {kind_of(rule)}"
        raise InputError(rule, field="answer", has_value=False)
    return rule


def as_validator(validator: Validator | str, *, time_limit_s: float = TIME_LIMIT_S) -> Validator:
    """Return a validator that raises nothing but `MethodError`, or `InputError` for its answer.

    Parameters
    ----------
    validator
        A callable, or ``cmd:COMMAND``; see `command_validator`.
    time_limit_s
        Of each call of a command, seconds.

    Raises
    ------
    InputError
        When a text does not begin with ``cmd:``, or its command cannot be run.
    """
    if not isinstance(validator, str):
        return _reporting_errors(validator)
    if not validator.startswith(COMMAND_PREFIX):
        raise InputError("must be cmd:COMMAND", field="validator", value=validator)
    return command_validator(validator.removeprefix(COMMAND_PREFIX), time_limit_s=time_limit_s)


def _reporting_errors(validator: Validator) -> Validator:
    def validate(instance: Instance, placement: Placement) -> object:
        try:
            return validator(instance, placement)
        except (Exception, SystemExit) as error:
            package = str(getattr(validator, "__module__", "")).partition(".")[0]
            raise MethodError(f"it raised {format_error(error, package)}") from error

    return validate


def command_validator(command: str, *, time_limit_s: float = TIME_LIMIT_S) -> Validator:
    """Return the validator that runs `command` for each placement.

    It reads ``{"instance": ..., "placement": ...}``, the contents of the two files, as JSON on
    stdin, and prints ``{"valid": bool}`` or ``{"violations": ["rule", ...]}``. The same question is
    asked once.

    Parameters
    ----------
    command
        Split into words as a shell does; no shell runs it.
    time_limit_s
        Wall-clock seconds after which it is killed.

    Raises
    ------
    InputError
        When the command cannot be split into words, or there is no such program.
    """
    words = startable_words(command)
    time_limit(time_limit_s, "time_limit_s")

    @cache
    def ask(asking: bytes) -> Answer:
        return _answer_or_error(lambda: _run(words, asking, time_limit_s))

    return lambda instance, placement: ask(question(instance, placement))


def question(instance: Instance, placement: Placement) -> bytes:
    """Return what a command reads on stdin."""
    both = {
        "instance": instance_document(instance),
        "placement": placement_document(instance, placement),
    }
    return (pretty_json(both) + "\n").encode()


def _run(words: list[str], asking: bytes, time_limit_s: float) -> object:
    try:
        finished = exchange(words, asking, os.environ, time_limit_s)
    except OSError as error:
        raise MethodError(f"cannot start {words[0]!r}: {error.strerror or error}") from error
    failure = failure_of(finished, time_limit_s)
    if failure is not None:
        reason = f"{failure}{last_words(finished.stderr)}"
        raise MethodError(reason, timed_out=finished.timed_out)
    try:
        return _printed(parse_json(finished.stdout.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise MethodError(f"its answer is not UTF-8 text: byte {error.start}") from error


def _printed(data: Any) -> object:
    """Return what a command printed: names, or the bool that decides where there is one."""
    valid, violations = (
        (data.get("valid"), data.get("violations")) if isinstance(data, dict) else (None, None)
    )
    names = None
    if isinstance(violations, list):
        names = [
            one["rule"] if isinstance(one, dict) and "rule" in one else one for one in violations
        ]
    if isinstance(valid, bool) and not (valid and names):
        return Answer(valid, None if valid or not names else _rules(names))
    if names is None or valid is not None:
        raise InputError(COMMAND_FORMS, field="answer", value=str(data))
    return names
