"""Column generation: configurations of nodes as columns, priced by duals, closed exactly.

A configuration is a vector y of task counts that fits one node; whatever is local to a node (flow
inside, overload, best split into workers) is a constant of it. The restricted master chooses
configurations so that their counts add up (`restricted_master`); its duals, rounded and recomputed
in integers, give a bound and a reduced cost for each column. A solution better than the incumbent
uses only columns whose reduced cost fits the gap, so the residual demand is searched with these
alone, exactly (`residual_search`, `residual_cp_sat`); with several racks the splits of tasks over
them are searched best first (`split_search`).

Start with `engine`, the engine ``configurations``, then `restricted_master`. Modules of this
folder are below its packages, `engine` above. It may import `solver.compact.cp_sat`,
`solver.baseline`, `solver.structure`, `solver.core` and `models`. [1] G. Desaulniers, J.
Desrosiers, M. Solomon (eds.), Column Generation, Springer 2005.
"""
