"""Loops that Numba has compiled before, loaded from its cache on disk without running them."""

from __future__ import annotations

import sys
from typing import Any

from numba.core.dispatcher import Dispatcher


def load_compiled_loops() -> int:
    """Load every compiled loop of ours that the cache has for this machine; return how many.

    A loop is in the cache once a process has called it with arguments of such types. What is
    loaded already is not loaded again. Numba has no public way to list its cache: `_cache` and
    what is below it are its own, and a test watches them.
    """
    count = 0
    for dispatcher in _dispatchers():
        count += _load(dispatcher)
    return count


def _dispatchers() -> list[Any]:
    ours = [module for name, module in sys.modules.items() if name.startswith("slotwise.")]
    dispatchers = {
        id(value): value
        for module in ours
        for value in list(vars(module).values())
        if isinstance(value, Dispatcher)
    }
    return list(dispatchers.values())


def _load(dispatcher: Any) -> int:
    cache = dispatcher._cache
    if not hasattr(cache, "_cache_file"):  # it is compiled without a cache
        return 0
    machine = dispatcher.targetctx.codegen()
    count = 0
    for key in list(cache._cache_file._load_index()):
        signature = key[0]
        is_of_here = key == cache._index_key(signature, machine)
        if is_of_here and tuple(signature) not in dispatcher.overloads:
            dispatcher.compile(tuple(signature))
            count += 1
    return count
