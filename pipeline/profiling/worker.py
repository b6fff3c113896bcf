"""The process that runs a Python task: threads that take tuples from a pipe.

A tuple is its number, 8 bytes; an answer the number and the moment (`time.monotonic_ns`) at which
the task had done it, 16 bytes. Reads and writes of few bytes are atomic, so that all threads, and
several processes, share two pipes. An exception of the task ends the process with a traceback.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module

import psutil

TUPLE = struct.Struct("<q")
ANSWER = struct.Struct("<qq")

READY = -1
"""Number of the first answer of each process: its task is loaded. Its second number is the memory
(bytes) that it had before."""


def main() -> None:
    """Run with the settings in the last argument: task, threads, pipes, core."""
    settings = json.loads(sys.argv[-1])
    os.sched_setaffinity(0, {settings["core"]})
    sys.path.insert(0, os.getcwd())
    before = psutil.Process().memory_info().rss
    task = load_task(settings["task"])
    threading.excepthook = _die
    source, sink = settings["source"], settings["sink"]
    os.write(sink, ANSWER.pack(READY, before))
    threads = [
        threading.Thread(target=serve, args=(task, source, sink))
        for _ in range(settings["threads"])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def load_task(name: str) -> Callable[[int], object]:
    """Return the callable that ``package.module:callable`` names."""
    module, _, path = name.partition(":")
    task: object = import_module(module)
    for part in path.split("."):
        task = getattr(task, part)
    if not callable(task):
        raise TypeError(f"{name} cannot be called")
    return task


def serve(task: Callable[[int], object], source: int, sink: int) -> None:
    """Take tuples until the source closes."""
    while number := os.read(source, TUPLE.size):
        task(TUPLE.unpack(number)[0])
        os.write(sink, ANSWER.pack(TUPLE.unpack(number)[0], time.monotonic_ns()))


def _die(raised: threading.ExceptHookArgs) -> None:
    """End the process when a thread's task raises."""
    sys.excepthook(raised.exc_type, raised.exc_value or raised.exc_type(), raised.exc_traceback)
    sys.stderr.flush()
    os._exit(1)
