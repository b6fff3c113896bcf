"""What is known at once of every problem: a first placement, and bounds that always hold.

`engine` runs the methods that apply and keeps the best valid placement; its bounds follow from
counting (no part is negative; demand beyond all capacities is overload; a topology needs a
worker). `pair_bound` bounds the network where two classes fill many nodes, so that few of their
pairs can meet. ``auto`` starts from here and falls back on it.

Start with `engine`. It may import `heuristics`, `solver.core` and `models`.
"""
