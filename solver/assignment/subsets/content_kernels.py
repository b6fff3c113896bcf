"""Inner loops over the contents of nodes, sets of tasks as bit masks, compiled by Numba."""

from __future__ import annotations

from numba import njit

from slotwise.models.problem.problem import IntArray


@njit(cache=True, nogil=True)
def list_contents(
    demand: IntArray,
    capacity: IntArray,
    linear: IntArray,
    saved: IntArray,
    chosen: IntArray,
    costs: IntArray,
    sets: IntArray,
    set_costs: IntArray,
) -> int:
    """Write the sets of tasks that fit a node and their costs; return how many there are.

    Depth first, a task more at each level. What exceeds the length of `sets` is only counted.

    Parameters
    ----------
    demand, capacity
        [T, D] and [D].
    linear
        [T] cost of each task on this node.
    saved
        [T, T] what two tasks save by sharing it.
    chosen, costs
        [T + 1] space to work in.
    """
    tasks, dims = demand.shape
    room = capacity.copy()
    depth, cost, content, task, count = 0, 0, 0, 0, 1
    if len(sets):
        sets[0], set_costs[0] = 0, 0
    while True:
        while task < tasks:
            fits = True
            for d in range(dims):
                fits = fits and demand[task, d] <= room[d]
            if fits:
                break
            task += 1
        if task < tasks:
            chosen[depth], costs[depth] = task, cost
            cost += linear[task]
            for other in range(depth):
                cost -= saved[task, chosen[other]]
            room -= demand[task]
            content |= 1 << task
            depth += 1
            if count < len(sets):
                sets[count], set_costs[count] = content, cost
            count += 1
        elif depth == 0:
            return count
        else:
            depth -= 1
            task = chosen[depth]
            room += demand[task]
            content ^= 1 << task
            cost = costs[depth]
        task += 1


@njit(cache=True, nogil=True)
def join(
    placed: IntArray,
    losses: IntArray,
    sets: IntArray,
    set_losses: IntArray,
    most: int,
    joined: IntArray,
    joined_losses: IntArray,
) -> int:
    """Add each of `sets` to each of `placed` that it is disjoint with; return how many there are.

    Only sums of losses of at most `most` count; `set_losses` ascend. What exceeds the length of
    `joined` is only counted.
    """
    count = 0
    for s in range(len(placed)):
        for y in range(len(sets)):
            loss = losses[s] + set_losses[y]
            if loss > most:
                break
            if placed[s] & sets[y] == 0:
                if count < len(joined):
                    joined[count], joined_losses[count] = placed[s] | sets[y], loss
                count += 1
    return count
