"""Assignment problems in which every task differs: quadratic assignment with capacities.

`model` is the view of a problem as tasks, nodes, capacities, linear costs and pair costs. Engine
``dual-ascent`` (`dual_ascent`): branch and bound, best first (`tree_search`), with
the level-1 RLT bound by dual ascent (`rlt_bound`, `rlt_kernels`) [1].
Engine ``subset-dp`` (`subset_dp`) is for nodes that are all equally far apart, where a content
decides its cost: up to 22 tasks it fills tables over all sets of tasks, f_k(S) = min over T of
f_{k-1}(S - T) + c_k(T); beyond, it lists the sets that fit each node, prices them by Lagrangian
duals (`subset_fixing`) and searches those whose reduced cost fits the gap. `tabu` finds
placements: robust tabu search [2] with penalised overload. ``*_kernels`` are compiled by Numba.

Start with `model`. It may import `solver.structure`, `solver.core` and `models`.

[1] P. Hahn, T. Grant, Lower bounds for the quadratic assignment problem based upon a dual
formulation, Oper. Res. 46, 1998. [2] E. Taillard, Robust taboo search for the quadratic assignment
problem, Parallel Comput. 17, 1991.
"""
