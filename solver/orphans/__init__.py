"""Tasks that run nowhere while others run: after a machine died, or new ones.

`first_placement` keeps what runs and gives every orphan a place at once, others moving only where
it is allowed and needed. Engine ``orphans`` is exact where nothing may move: what runs is fixed,
its room and its costs are constants, flow to it is a cost of places, and CP-SAT decides what
remains. It may import `exhaustive` (whether a task fits where others stand) and the runs
and products of `compact.cp_sat`.

Start with `engine`; then `first_placement`, `model`. Ours.
"""
