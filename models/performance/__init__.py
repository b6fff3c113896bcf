"""How fast a task runs on one slot: performance models, measured over thread counts.

A slot is one core with its share of memory. A model says for each measured number of threads of
one task on one slot the peak rate (tuples/s) and the CPU and memory (% of the slot) at that rate.
Start with `model`, which interpolates between the measured points. Nothing here allocates or
schedules.

Source: Shukla and Simmhan, *Model-driven Scheduling for Distributed Stream Processing Systems*,
section 5.
"""
