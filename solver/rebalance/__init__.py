"""The gain of moving a few running tasks, and an order in which to move them.

The front has, for each number of moves, the best cost and its bound; points use the bounds of
their neighbours. The moves from one placement to another are ordered so that no state in between
breaks a hard rule; where that is impossible, it says which node lacks how much. It may import all
of the solver below `solve`.
Start with `front`; then `order`. Source: StroMAX (DASFAA 2017), section 3.3, asks for rebalancing
with few moves; fronts and orders are ours.
"""
