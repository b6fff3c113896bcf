"""Which topologies to admit, to evict, to move: exact counterparts of a scheduler's choices.

Storm's scheduler takes topologies one by one and evicts from the end of its order. What would have
been best? `eviction` finds the fewest running topologies that must go so that one more fits,
`topology_selection` the best set that fits together, in a placement that moves the fewest running
tasks. `residual_capacity` is the problem of one topology on what the others leave, with a
relaxation that makes the others fast without giving up exactness.

Start with `exact_round`. It may import `solver.solve`, `solver.compact`, `solver.core`,
`heuristics.ras.scheduler` (whose rounds it is compared with) and `models`.
"""
