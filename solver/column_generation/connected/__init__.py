"""Connected configurations: columns whose tasks hang together, priced along the flow graph.

Where places are not short, a configuration that falls into two unconnected parts is two columns, so
only connected ones matter, even for thousands of tasks. Pricing is a tree knapsack: dynamic
programming along a spanning forest of the flow graph (`tree_knapsack`), with a small feedback
vertex set enumerated and other cycle edges relaxed (`graph`). `enumeration` lists the columns whose
reduced cost fits the gap; `gap_search` and `two_level_search` search among them; `worker_split`
splits them into workers and finds them nodes; `joint` prices nodes together with their workers. A
bound is valid on any cluster, as all places are as large as the largest.

Start with `engine`, then `place_model`. It may import `configurations`, `worker_packing`, the
modules of `solver.column_generation`, `solver.structure`, `solver.core` and `models`.
"""
