"""Changes after which an instance has a placement, the cheapest first.

`levers` lists what can be changed to break a conflict, `least_amount` finds how little of it
suffices, and `search` tries them all: single changes, the topologies to leave out, pairs where no
single change helps, and pairs that may be cheaper.

Start with `search`. It may import `solver.solve`, `models`, `solver.explain` and its `conflicts`.
"""
