"""Commands about topologies that run.

`rebalance` says which few tasks to move, in which order, and what that saves.

Start with `rebalance`. They may import what other commands may.
"""
