"""Balanced graph partition: what is to be partitioned, and the judge of a partition.

The vertices of a graph with whole weights go to parts that each hold a limited weight; what counts
is the weight of the edges between parts. `problem` states it and defines balance; `judge`
recomputes cut and loads of a partition in whole numbers, without a solver. `as_instance` says the
same as an instance of placement (a vertex is a task, a part a node), so that every engine,
certificate and explanation serves partitions, too.

Start with `problem`. It may import `models.graph_files`, `models.instance` and what is below.
"""
