"""A method outside of slotwise: any command that reads an instance and writes a placement.

The command gets the instance's JSON on stdin, and writes a placement or ``{"refused": "reason"}``
as JSON to stdout; stderr is its own. Two variables in its environment spare it work:
``SLOTWISE_INSTANCE`` is the instance's hash, which the placement must name, and ``SLOTWISE_SEED``
a whole number that follows from the seed of the run.

Anything else (it fails, hangs, writes garbage or without end, answers for another instance) is a
`MethodError`, which says how it failed, so that a bad command does not stop a grading. When the
call ends, so does every process that the command has started.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from shutil import which
from types import MappingProxyType

from numpy.random import Generator

from slotwise.heuristics.method import Method, MethodError
from slotwise.heuristics.method_names import COMMAND_PREFIX
from slotwise.models.errors import InputError
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.formats.json_text import parse_json
from slotwise.models.formats.placement_file import answer_from_data
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.instance_file import instance_text
from slotwise.models.problem.problem import Problem
from slotwise.models.values import time_limit
from slotwise.processes import pipes
from slotwise.processes.child import Finished, exchange
from slotwise.processes.pipes import last_words

DESCRIPTION = "A command that reads the instance and writes a placement."
DEFAULT_TIME_LIMIT_S = 60.0
NOTHING_MORE: Mapping[str, str] = MappingProxyType({})


def external_method(
    command: str,
    *,
    time_limit_s: float = DEFAULT_TIME_LIMIT_S,
    environment: Mapping[str, str] = NOTHING_MORE,
) -> Method:
    """Return the method that runs `command`.

    Parameters
    ----------
    command
        Split into words as a shell does; no shell runs it.
    time_limit_s
        Wall-clock seconds after which the command and its children are killed.
    environment
        Further variables of its environment.

    Raises
    ------
    InputError
        When the command has no words or an open quotation, or the limit is not finite and above 0.
    """
    words = words_of(command)
    time_limit(time_limit_s, "time_limit_s")

    def place(problem: Problem, rng: Generator) -> Placement | Refusal:
        seed = int(rng.integers(2**31))
        try:
            finished = _run(words, problem.instance, seed, time_limit_s, environment)
        except OSError as error:
            raise MethodError(f"cannot start {words[0]!r}: {error.strerror or error}") from error
        return _answer(finished, problem.instance, time_limit_s)

    return Method(
        name=COMMAND_PREFIX + command,
        source="external command",
        place=place,
        description=DESCRIPTION,
    )


def words_of(command: str) -> list[str]:
    """Split a command as a shell does; `InputError` where it has no words or an open quotation."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(
            f"cannot be split into words: {error}", field=COMMAND_PREFIX, value=command
        ) from error
    if not words:
        raise InputError("must be followed by a command", field="method", value=COMMAND_PREFIX)
    return words


def startable_words(command: str) -> list[str]:
    """Return `words_of` a command; `InputError` also where there is no such program."""
    words = words_of(command)
    if which(words[0]) is None:
        rule = "cannot be run; install the program or give its path"
        raise InputError(rule, field="command", value=words[0])
    return words


def _run(
    words: list[str],
    instance: Instance,
    seed: int,
    time_limit_s: float,
    environment: Mapping[str, str],
) -> Finished:
    identity = {"SLOTWISE_INSTANCE": instance_hash(instance), "SLOTWISE_SEED": str(seed)}
    whole = {**os.environ, **environment, **identity}
    return exchange(words, instance_text(instance).encode(), whole, time_limit_s)


def _answer(finished: Finished, instance: Instance, time_limit_s: float) -> Placement | Refusal:
    failure = failure_of(finished, time_limit_s)
    if failure is None:
        try:
            return answer_from_data(parse_json(finished.stdout.decode("utf-8-sig")), instance)
        except UnicodeDecodeError as error:
            failure = f"its answer is not UTF-8 text: byte {error.start}"
        except InputError as error:
            failure = f"its answer cannot be used: {error}"
    raise MethodError(f"{failure}{last_words(finished.stderr)}", timed_out=finished.timed_out)


def failure_of(finished: Finished, time_limit_s: float) -> str | None:
    """Return why the output of a command is not an answer; ``None`` = it is one."""
    if finished.timed_out:
        return f"the command was ended at its time limit of {time_limit_s:g} s"
    if finished.overrun:
        bound = f"{pipes.MOST_BYTES >> 20} MiB"
        return f"the command was ended: it wrote more than {bound} to {finished.overrun}"
    if finished.code is None:
        return "the command ended the process that watches it"
    if finished.code < 0:
        return f"the command was ended by signal {-finished.code}"
    if finished.code > 0:
        return f"the command failed with exit code {finished.code}"
    if not finished.stdout.strip():
        return "the command wrote no answer"
    return None
