"""Which topologies to admit, evict or move: exact counterparts of a scheduler's choices.

Storm's scheduler takes topologies one by one and evicts from the end of its order. For comparison,
`eviction` finds the fewest running topologies that must go so that one more fits,
`topology_selection` the best set that fits together, in a placement that moves the fewest running
tasks. `residual_capacity` is the problem of one topology on the capacity left by the others, with a
relaxation that makes the other two fast and still exact.

Start with `exact_round`. It may import `solver.solve`, `solver.compact`, `solver.core`,
`heuristics.ras.scheduler` (whose rounds it is compared with) and `models`.
"""
