"""Experiments on methods and engines: the laboratory, which stays in the checkout.

``python -m slotwise.benchmarks.experiments NAME`` runs one that `catalogue` lists: `proofs` (how
fast and how far), `storm` (Storm's own schedulers compared), `storm_like` (how well that family
fits), `speed` (limits, latency), `rebalancing` (what few moves gain), `measuring` (how well
measured weights serve) and `agreement` (whether all engines agree, and all masters of Spark). What
they print goes through `table`.

Start with `catalogue`. It may import everything below the command line; nothing imports it.
"""
