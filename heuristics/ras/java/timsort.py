"""The merging of runs by which ``java.util.TimSort`` sorts 32 items or more.

The very comparisons are Java's (JDK 17), for comparators that change what they compare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from slotwise.models.errors import SlotwiseError

T = TypeVar("T")

LEAST_GALLOP = 7
"""Consecutive items of one run after which the merge gallops: it searches in doubling steps."""


class ContractError(SlotwiseError):
    """Java's sort found that the comparisons contradict each other, and failed."""

    def __init__(self) -> None:
        super().__init__(
            "Java's sort fails, and Storm's round: Comparison method violates its general contract!"
        )


class Merger(Generic[T]):
    """Merges sorted runs of one list; `compare` is below 0 where its first item comes first."""

    def __init__(self, compare: Callable[[T, T], float]) -> None:
        self._compare = compare
        self._gallop = LEAST_GALLOP

    def merged(self, left: Sequence[T], right: Sequence[T]) -> list[T]:
        """Return both runs as one; what lies right already at their outer ends is not merged."""
        start = self._after(right[0], left, 0)
        if start == len(left):
            return [*left, *right]
        end = self._before(left[-1], right, len(right) - 1)
        inner = left[start:], right[:end]
        if not end:
            middle = list(inner[0])
        elif len(inner[0]) <= end:
            middle = self._from_front(*inner)
        else:
            middle = self._from_back(*inner)
        return [*left[:start], *middle, *right[end:]]

    def _from_front(self, left: Sequence[T], right: Sequence[T]) -> list[T]:
        """Merge from the first items on, until the right run or all but one of the left is used."""
        merged = [right[0]]
        i, j, last, end = 0, 1, len(left) - 1, len(right)
        gallop = self._gallop
        if j < end and i < last:
            while True:
                lefts = rights = 0
                while i < last and j < end and max(lefts, rights) < gallop:
                    if self._compare(right[j], left[i]) < 0:
                        merged.append(right[j])
                        j, lefts, rights = j + 1, 0, rights + 1
                    else:
                        merged.append(left[i])
                        i, lefts, rights = i + 1, lefts + 1, 0
                lefts = LEAST_GALLOP
                while i < last and j < end and max(lefts, rights) >= LEAST_GALLOP:
                    lefts = self._after(right[j], left[i:], 0)
                    merged.extend(left[i : i + lefts])
                    i += lefts
                    if i >= last:
                        break
                    merged.append(right[j])
                    j += 1
                    if j == end:
                        break
                    rights = self._before(left[i], right[j:], 0)
                    merged.extend(right[j : j + rights])
                    j += rights
                    if j == end:
                        break
                    merged.append(left[i])
                    i += 1
                    if i == last:
                        break
                    gallop -= 1
                if i >= last or j == end:
                    break
                gallop = max(0, gallop) + 2
            self._gallop = max(1, gallop)
        if i > last:
            raise ContractError
        return [*merged, *right[j:], *left[i:]]

    def _from_back(self, left: Sequence[T], right: Sequence[T]) -> list[T]:
        """Merge from the last items on, until the left run or all but one of the right is used."""
        merged = [left[-1]]  # backwards
        i, j = len(left) - 1, len(right)  # numbers not used yet
        gallop = self._gallop
        if i and j > 1:
            while True:
                lefts = rights = 0
                while i and j > 1 and max(lefts, rights) < gallop:
                    if self._compare(right[j - 1], left[i - 1]) < 0:
                        i, lefts, rights = i - 1, lefts + 1, 0
                        merged.append(left[i])
                    else:
                        j, lefts, rights = j - 1, 0, rights + 1
                        merged.append(right[j])
                lefts = LEAST_GALLOP
                while i and j > 1 and max(lefts, rights) >= LEAST_GALLOP:
                    lefts = i - self._after(right[j - 1], left[:i], i - 1)
                    merged.extend(left[k] for k in range(i - 1, i - lefts - 1, -1))
                    i -= lefts
                    if not i:
                        break
                    j -= 1
                    merged.append(right[j])
                    if j == 1:
                        break
                    rights = j - self._before(left[i - 1], right[:j], j - 1)
                    merged.extend(right[k] for k in range(j - 1, j - rights - 1, -1))
                    j -= rights
                    if j <= 1:
                        break
                    i -= 1
                    merged.append(left[i])
                    if not i:
                        break
                    gallop -= 1
                if not i or j <= 1:
                    break
                gallop = max(0, gallop) + 2
            self._gallop = max(1, gallop)
        if not j:
            raise ContractError
        return [*right[:j], *left[:i], *reversed(merged)]

    def _before(self, key: T, run: Sequence[T], hint: int) -> int:
        """Return the first place in `run` for `key`, looked for from `hint` on by leaps."""
        return self._place(run, hint, lambda item: self._compare(key, item) > 0)

    def _after(self, key: T, run: Sequence[T], hint: int) -> int:
        """Return the last place in `run` for `key`, looked for from `hint` on by leaps."""
        return self._place(run, hint, lambda item: self._compare(key, item) >= 0)

    @staticmethod
    def _place(run: Sequence[T], hint: int, comes_later: Callable[[T], bool]) -> int:
        """Return the first index of `run` whose item the key does not come later than."""
        near, far = 0, 1
        if comes_later(run[hint]):
            most = len(run) - hint
            while far < most and comes_later(run[hint + far]):
                near, far = far, 2 * far + 1
            low, high = hint + near + 1, hint + min(far, most)
        else:
            most = hint + 1
            while far < most and not comes_later(run[hint - far]):
                near, far = far, 2 * far + 1
            low, high = hint - min(far, most) + 1, hint - near
        while low < high:
            middle = (low + high) // 2
            if comes_later(run[middle]):
                low = middle + 1
            else:
                high = middle
        return high
