"""Topologies that run: which few tasks to move, in which order, and what that saves.

`rebalancing` takes what users have, asks `slotwise.solver.rebalance` or a method, and orders the
moves; `rebalanced` is what comes of it. `orphans` are tasks that run nowhere, with places at once;
`sparing` asks ahead of time what the loss of a machine or a rack leads to.

Start with `rebalancing`. It may import what the other modules of `api` may.
"""
