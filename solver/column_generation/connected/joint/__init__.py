"""Nodes and workers priced together: columns are node contents with the flow inside their workers.

Separate duals of nodes and of workers add up two optima that no content may reach at once, by one
resource alone and without slots. Here the flow inside the workers of a content is bounded for this
content (`worker_bounds`); contents are priced by listing those that the tables of
`connected.tree_knapsack` do not rule out and checking every rule of each (`content_pricing`), at
duals kept within proven ones (`joint_duals`). Prices of counts (`count_prices`) then take the place
of the duals; those of racks bound the flow between racks. `joint_search` bounds what the units of
all tasks add, searches among the contents whose reduced cost fits the gap, and makes placements of
the columns found.

Start with `joint_duals`. It may import `connected`'s modules except its `engine`.
"""
