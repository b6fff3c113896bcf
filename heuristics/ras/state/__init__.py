"""The working cluster of a round of RAS: what is assigned where, and what is left.

Storm keeps it in ``Cluster`` and ``SchedulerAssignmentImpl``: sums of doubles in the order of its
hash tables (`assignment_tables`), loads of a node (`state`) and of a worker (`worker`). Where
a last digit decides an eviction, the same digit must come out here.

Start with `state`. It may import `heuristics.ras.model`, `heuristics.ras.java` and `models`.
"""
