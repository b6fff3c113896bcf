"""Orphans: tasks that run nowhere while others run, after a machine died or new tasks came.

`first_placement` leaves running tasks in place and quickly finds a place for every orphan; others
move only where that is allowed and needed. Engine ``orphans`` is exact where nothing may move:
running tasks are fixed, the room they take and their costs are constants, flow between them and
an orphan is a cost of the orphan's place, and CP-SAT decides what remains. It may import the runs
and products of `compact.cp_sat`, but not `exhaustive`, which confirms its proofs.

Start with `engine`; then `partial_placement`, `first_placement`, `model`. Ours.
"""
