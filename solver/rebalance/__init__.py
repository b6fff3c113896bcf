"""What a few moves of running tasks gain, and in which order to make them.

The front: for each number of moves the best cost and its bound, every point from what its
neighbours prove. The moves from one placement to another, so ordered that no state between breaks
a hard rule; or which node lacks how much for that. It may import all of the solver below `solve`.
Start with `front`; then `order`. Source: StroMAX (DASFAA 2017), section 3.3, asks for rebalancing
with few moves; fronts and orders are ours.
"""
