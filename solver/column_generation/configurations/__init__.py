"""Configurations of a node where one worker per node and topology is enough.

The fast way of engine ``configurations``: all vectors of counts that fit a node are listed with
their values (`enumeration`), small problems are settled by tables over all vectors
(`exact_tables`), else each term of the objective is a master problem over them
(`engine`). A term that is proven with no gap restricts the next one to the columns of reduced
cost 0.

Start with `engine`. It may import the modules of `solver.column_generation` (not its `engine`),
`worker_packing`, `solver.structure`, `solver.core` and `models`.
"""
