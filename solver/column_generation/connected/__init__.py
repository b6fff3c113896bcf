"""Connected configurations: columns whose tasks hang together, priced along the flow graph.

Where places are not short, a configuration that falls into two unconnected parts is two columns, so
only connected ones matter, even for thousands of tasks. Pricing is a tree knapsack: dynamic
programming along a spanning forest of the flow graph (`tree_knapsack`), with a small feedback
vertex set enumerated and other cycle edges relaxed (`graph`). `enumeration` lists the columns whose
reduced cost fits the gap; `gap_search` and `two_level_search` search among them; `worker_split`
splits them into workers and finds them nodes; `joint_search` prices nodes together with their
workers. A bound is valid on any cluster, as all places are as large as the largest.

Separate duals of nodes and of workers add up two optima that no content may reach at once, by one
resource alone and without slots. Jointly, the flow inside the workers of a content is bounded for
this content (`worker_bounds`); contents are priced by listing those that the tables of
`tree_knapsack` do not rule out and checking every rule of each (`content_pricing`), at duals kept
within proven ones (`joint_duals`). Prices of counts (`count_prices`) then take the place of the
duals. `joint_search` bounds what the units of all tasks add, searches among the contents whose
reduced cost fits the gap, and makes placements of the columns found. Least cuts bound the flow
between racks (`rack_flow`).

Start with `engine`, then `place_model`. It may import `configurations`, `worker_packing`, the
modules of `solver.column_generation`, `solver.structure`, `solver.core` and `models`.
"""
