"""Fixed points of contractions, with fewer rounds: Anderson's mixing.

D. G. Anderson, Iterative procedures for nonlinear integral equations, Journal of the ACM 12(4),
1965; as in H. F. Walker, P. Ni, SIAM Journal on Numerical Analysis 49(4), 2011.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from slotwise.models.prediction.flows import FloatArray

MEMORY = 5
"""Rounds that are mixed."""
MIXED_ROUNDS = 500
"""Rounds with mixing; then half-steps, for it can cycle where a limit begins to bind."""
WORSE = 1.5
"""A residual that grows by more than this factor begins the mixing again."""


class Mixing:
    """What to try next in the search for x = f(x)."""

    def __init__(self) -> None:
        self._steps: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=MEMORY)
        self._before: tuple[FloatArray, FloatArray] | None = None
        self._least = np.inf
        self._rounds = 0

    def following(self, x: FloatArray, image: FloatArray) -> FloatArray:
        """Return the next x: the image of a mixture of the last ones, or at first the image.

        After `MIXED_ROUNDS` it is halfway to the image.

        Parameters
        ----------
        x
            Where f was taken, in units in which all numbers count alike.
        image
            f(x).
        """
        self._rounds += 1
        if self._rounds > MIXED_ROUNDS:
            half: FloatArray = (x + image) / 2
            return half
        residual = image - x
        size = math.sqrt(float((residual * residual).sum()))
        if size > WORSE * self._least:
            self._steps.clear()
            self._before, self._least = None, size
            return image
        self._least = min(self._least, size)
        if self._before is not None:
            change = residual - self._before[1]
            self._steps.append((change, x - self._before[0] + change))
        self._before = (x, residual)
        if not self._steps:
            return image
        changes = np.stack([change for change, _ in self._steps]).T
        weights = np.linalg.lstsq(changes, residual, rcond=1e-8)[0]
        moves = np.stack([move for _, move in self._steps], axis=1)
        mixed: FloatArray = image - moves @ weights
        return mixed
