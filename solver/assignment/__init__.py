"""Assignment problems in which every task differs: quadratic assignment with capacities.

`model` is the view of a problem as tasks, nodes, capacities, linear costs and pair costs. Engine
``dual-ascent`` (`dual_ascent`): branch and bound, best first (`tree_search`), with
the level-1 RLT bound by dual ascent (`rlt_bound`, `rlt_kernels`, `transport_kernels`) [1].
`subsets` is engine ``subset-dp``, for nodes that are all equally far apart. `tabu` finds
placements: robust tabu search [2] with penalised overload. ``*_kernels`` are compiled by Numba.

Start with `model`. It may import `solver.structure`, `solver.core` and `models`.

[1] P. Hahn, T. Grant, Lower bounds for the quadratic assignment problem based upon a dual
formulation, Oper. Res. 46, 1998. [2] E. Taillard, Robust taboo search for the quadratic assignment
problem, Parallel Comput. 17, 1991.
"""
