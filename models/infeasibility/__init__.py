"""Simple proofs of infeasibility by counting, each checked without a solver.

`contradictions` has one frozen dataclass for each kind: nine tasks of a component, one per node,
eight nodes; too few slots for the workers needed; a task larger than every node; a total that is
short; bins that cannot hold large tasks; tasks that may only go to a few nodes; more tasks that
must move than may. Each recomputes two whole numbers from a problem, what is required and what is
available at most: where the first is larger, the problem has no placement. `room` has how much
fits into an empty node or worker at most, `statement` the
words for people.

Start with `contradictions`. It may import `models.problem`. Sources: S. Martello and P. Toth,
Lower bounds and reduction procedures for the bin packing problem, Discrete Applied Mathematics
1990 (L2); S. Fekete and J. Schepers, New classes of fast lower bounds for bin packing problems,
Mathematical Programming 2001 (dual feasible functions); P. Hall, On representatives of subsets,
1935.
"""
