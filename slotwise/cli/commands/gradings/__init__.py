"""The commands on many instances: ``grade``, ``summary``, ``report``, and ``pack`` for a cluster.

Each file has one command; what it does is in `slotwise.api.gradings` and `benchmarks.grade`.
Start with `grade`. It may import what the other commands may.
"""
