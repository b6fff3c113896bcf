"""How the tasks of one node are best split into workers.

V(y) = max over w of g(w) + V(y - w): the most flow inside workers, for all contents y of a node at
once (`table`), where w is the content of one worker and holds the first task type
of y. Where more than the network counts (number of workers, shared memory, least cpu, moves),
`pareto_splits` keeps every split that no other dominates in these
`worker_costs`. Ties go to fewer workers.

Start with `table`. It may import the modules of `solver.column_generation` (not its `engine`),
`solver.structure`, `solver.core` and `models`.
"""
