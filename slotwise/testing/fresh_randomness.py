"""Random numbers that differ from call to call, also inside a test of Hypothesis."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def fresh_randomness() -> Iterator[None]:
    """Run with new seeds for `random` and `numpy.random`; their states are restored afterwards.

    Hypothesis seeds both before each example, so that code under test which draws from them would
    look deterministic.
    """
    state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed()
    np.random.seed()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(state)
        np.random.set_state(numpy_state)  # noqa: NPY002
