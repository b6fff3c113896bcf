"""Slots for a dataflow: VMs, the bundles of threads on their slots, and what they support.

An allocation says how many threads each task gets and estimates the slots; a plan puts bundles of
threads on the slots of VMs. Start with `plan`. Nothing here decides: `heuristics.sam` has the
published algorithms, `solver.slots` the optimum.

Source: Shukla and Simmhan, *Model-driven Scheduling for Distributed Stream Processing Systems*,
sections 6 to 8.
"""
