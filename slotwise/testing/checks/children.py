"""Processes of code under test, which are ended when they do not answer in time.

Code that can be loaded by its name has a Python of its own for each seed of hashing
(``PYTHONHASHSEED``), so that an order which follows from hashes differs between them. What only
this process knows (a local function, a script's) is asked in a copy of this process instead, a
fork, where hashes are the same.
"""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import warnings
import weakref
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from slotwise.heuristics.method import MethodError
from slotwise.models.instance.instance import Instance
from slotwise.processes.child import command_of
from slotwise.processes.ending import Process, end_process
from slotwise.testing.checks.served import Question, main, serve
from slotwise.testing.checks.under_test import Reply, Said, UnderTest

LOAD_S = 60.0
"""Seconds in which a Python must have started and loaded the code."""

WITHIN = "SLOTWISE_UNDER_TEST"
"""Set in the environment of a Python that runs code under test."""


class GivenUpError(Exception):
    """A question was not answered in its time."""


class EndedError(Exception):
    """A process has ended instead of answering; the message says how."""


@dataclass(slots=True)
class _Child:
    """One process. `loaded` are the sources that it has loaded."""

    process: Process
    connection: Connection
    loaded: set[str] = field(default_factory=set)

    def reply(self, question: Question) -> Reply:
        """Return the reply; the process is of no use any more where none comes.

        Raises
        ------
        GivenUpError, EndedError
            When it has not come after ``question.seconds``, or never will.
        """
        try:
            self.connection.send_bytes(pickle.dumps(question))
            if not self.connection.poll(question.seconds):
                raise GivenUpError
            reply: Reply = pickle.loads(self.connection.recv_bytes())
        except (EOFError, ConnectionError):
            raise EndedError(_how(self.end())) from None
        return reply

    def end(self) -> int:
        """End the process and what it has started; return its exit code."""
        self.connection.close()
        return end_process(self.process)


def _how(code: int) -> str:
    return f"by signal {-code}" if code < 0 else f"with exit code {code}"


class Children:
    """The processes in which code under test runs, started when they are first needed.

    Parameters
    ----------
    code
        What only this process knows; ``None`` = each question has a source.
    """

    def __init__(self, code: UnderTest | None = None) -> None:
        self._code = code
        self._children: dict[int, _Child] = {}
        weakref.finalize(self, _end, self._children, os.getpid())

    def ask(
        self,
        who: tuple[str, str, int],
        what: str,
        instance: Instance,
        seconds: float,
        hash_seed: int,
    ) -> Reply:
        """Return the reply to a question; see `Question`.

        Raises
        ------
        GivenUpError, EndedError
            When there is none.
        MethodError
            When the code cannot be loaded.
        """
        key = hash_seed if self._code is None else 0
        if key not in self._children:
            self._children[key] = _forked(self._code) if self._code else _started(hash_seed)
        child = self._children[key]
        place = os.getcwd(), tuple(sys.path)
        try:
            if who[1] not in child.loaded and self._code is None:
                said, how = child.reply(Question(*who, *place, LOAD_S, "load"))
                if said is Said.FAILED:
                    raise MethodError(str(how))
                child.loaded.add(who[1])
            return child.reply(Question(*who, *place, seconds, what, instance))
        except GivenUpError:
            self._children.pop(key).end()
            raise
        except EndedError:
            del self._children[key]
            raise


def _started(hash_seed: int) -> _Child:
    """Start a Python with a seed of hashing."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [*command_of(main), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            env=os.environ | {"PYTHONHASHSEED": str(hash_seed), WITHIN: "1"},
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    return _Child(process, Connection(ours.detach()))


def _forked(code: UnderTest) -> _Child:
    """Fork this process, for code that no other can load."""
    import psutil  # late: most code has a Python of its own

    ours, theirs = socket.socketpair()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        # Threads of this process are not there in the copy, which does not need them.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            ours.close()
            serve(Connection(theirs.detach()), code)
        finally:
            os._exit(1)
    theirs.close()
    return _Child(psutil.Process(pid), Connection(ours.detach()))


def _end(children: dict[int, _Child], owner: int) -> None:
    """End the processes that are left; a copy of the process that started them leaves them."""
    if os.getpid() == owner:
        for child in children.values():
            child.end()
        children.clear()
