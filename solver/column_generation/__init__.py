"""Column generation: configurations of nodes as columns, priced by duals, closed exactly.

A configuration is a vector y of task counts that fits one node; what is local to a node (flow
inside, overload, best split into workers) is a constant of it. `restricted_master` is the linear
program over the columns found so far, with the loop of solving and pricing; `listed_master` prices
by a scan. Its duals, made exact in integers, give a Lagrangian bound and reduced costs
(`rack_splits`). What is better than the incumbent uses only columns whose reduced cost fits the
gap: these alone are searched, exactly (`residual_search`), and with several racks best first over
the splits of the tasks (`split_search`, which asks CP-SAT where there are too many).
`configurations` counts what is on a node, `columns` has all that is decided there, `connected` the
connected configurations; `worker_packing` splits a node's content into workers.

Start with `engine`, the engine ``configurations``, then `restricted_master`. Modules of this
folder are below its packages, `engine` above. It may import `solver.compact.cp_sat`,
`solver.baseline`, `solver.structure`, `solver.core` and `models`. [1] G. Desaulniers, J.
Desrosiers, M. Solomon (eds.), Column Generation, Springer 2005.
"""
