"""The process of code under test: it answers one question after another.

`main` is its program, which is started with the number of a socket's descriptor: there go the
replies of `under_test`. What the code writes goes to stderr.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection

from slotwise.heuristics.method import MethodError
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.testing.checks.under_test import (
    Reply,
    Said,
    UnderTest,
    load,
    reply_of,
    support_of,
)

LEAVE_S = 5.0
"""Seconds after the limit in which whoever asks ends this process; then it ends by itself."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the process of code under test is asked.

    Parameters
    ----------
    name, source, seed
        Who is asked: `source` as `load` takes it; empty = the code that the process began with.
    folder, path
        The current folder and the folders of modules, as they are for whoever asks.
    seconds
        The limit. The process ends by itself a little later, if whoever asks is gone by then.
    what
        ``load``, ``supports`` or ``ask``.
    instance
        Not for ``load``.
    """

    name: str
    source: str
    seed: int
    folder: str
    path: tuple[str, ...]
    seconds: float
    what: str
    instance: Instance | None = None


def serve(connection: Connection, code: UnderTest | None = None) -> None:
    """Reply to questions until the other end is closed.

    Whoever asks ends this process where it is to end: an interrupt is for them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    known: dict[str, UnderTest] = {} if code is None else {"": code}
    os.dup2(2, 1)
    while True:
        try:
            asked = connection.recv_bytes()
        except EOFError:
            return
        question: Question = pickle.loads(asked)
        same: Question = pickle.loads(asked)
        signal.setitimer(signal.ITIMER_REAL, question.seconds + LEAVE_S)
        reply = _reply(question, same, known)
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout.flush()
        sys.stderr.flush()
        connection.send_bytes(_pickled(reply))


def _reply(question: Question, same: Question, known: dict[str, UnderTest]) -> Reply:
    if question.source not in known:
        os.chdir(question.folder)
        sys.path[:] = question.path
        try:
            known[question.source] = load(question.source)
        except (InputError, MethodError) as error:
            return Said.FAILED, str(error)
    code = known[question.source]
    if question.instance is None or same.instance is None:
        return Said.SUPPORTED, ""
    if question.what == "supports":
        return support_of(code, question.instance)
    return reply_of(question.name, code, question.seed, question.instance, same.instance)


def _pickled(reply: Reply) -> bytes:
    try:
        return pickle.dumps(reply)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        return pickle.dumps((Said.FAILED, f"its answer cannot be copied: {error}"))


def main() -> None:
    """Serve the socket that the last argument names."""
    serve(Connection(int(sys.argv[-1])))
