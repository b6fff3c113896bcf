"""A flow of tasks to nodes, each arc as wide as a node has room for a component alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise


def left_over(
    supply: Sequence[int], room: Sequence[int], width: Sequence[Sequence[int]]
) -> tuple[int, ...]:
    """Return the sources on the near side of a least cut; empty where all supply flows.

    Source i sends up to `width[i][j]` to sink j, which takes `room[j]` in all. The sources are
    those that can still reach no sink with room once the flow is largest.
    """
    sent = [[0] * len(room) for _ in supply]
    left, free = list(supply), list(room)
    for i in sorted(range(len(supply)), key=lambda i: sum(map(bool, width[i]))):
        for j in sorted(range(len(room)), key=lambda j: -free[j]):
            amount = min(left[i], free[j], width[i][j])
            sent[i][j] += amount
            left[i], free[j] = left[i] - amount, free[j] - amount
    while True:
        before, sink = _reached(left, free, width, sent)
        if sink is None:
            return tuple(i for i in range(len(supply)) if ("source", i) in before)
        _augment(sink, before, left, free, width, sent)


_Vertex = tuple[str, int]


def _reached(
    left: list[int], free: list[int], width: Sequence[Sequence[int]], sent: list[list[int]]
) -> tuple[dict[_Vertex, _Vertex | None], int | None]:
    """Return from where each vertex was reached, and the first sink with room, if any."""
    before: dict[_Vertex, _Vertex | None] = {("source", i): None for i, k in enumerate(left) if k}
    queue = deque(before)
    while queue:
        side, number = here = queue.popleft()
        if side == "source":
            nexts = [
                ("sink", j)
                for j in range(len(free))
                if ("sink", j) not in before and sent[number][j] < width[number][j]
            ]
        else:
            if free[number]:
                return before, number
            nexts = [
                ("source", i)
                for i in range(len(left))
                if ("source", i) not in before and sent[i][number]
            ]
        for vertex in nexts:
            before[vertex] = here
            queue.append(vertex)
    return before, None


def _augment(
    sink: int,
    before: dict[_Vertex, _Vertex | None],
    left: list[int],
    free: list[int],
    width: Sequence[Sequence[int]],
    sent: list[list[int]],
) -> None:
    """Send as much as the path to `sink` takes."""
    path: list[_Vertex] = [("sink", sink)]
    while (previous := before[path[-1]]) is not None:
        path.append(previous)
    path.reverse()
    amount = min(left[path[0][1]], free[sink])
    for (side, a), (_, b) in pairwise(path):
        amount = min(amount, width[a][b] - sent[a][b] if side == "source" else sent[b][a])
    for (side, a), (_, b) in pairwise(path):
        if side == "source":
            sent[a][b] += amount
        else:
            sent[b][a] -= amount
    left[path[0][1]] -= amount
    free[sink] -= amount
