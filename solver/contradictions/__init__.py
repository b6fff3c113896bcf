"""Finds contradictions that a person sees at once, before any search.

`find` looks for one of each kind of `models.infeasibility` and returns only what its check, which
is of the judge's side, confirms; `weights` has the dual feasible functions for bins, `cliques`
sets of components of which no two share a worker, `flow` the tasks that find no room when each may
go wherever one of them fits. All in whole numbers, and in well below a second.

Start with `find`. It may import `models`. Sources: see `models.infeasibility`.
"""
