"""Random instances of the tables of proofs that are no family.

`running_clusters` yields clusters on which a topology runs, for `fewest_moves`; `matrix_instances`
quadratic assignments on grids and constrained task assignments, for `matrix`. A seed and a number
give the same instance. What users generate and grade is in `models.families`.

Start with `running_clusters`. It may import `heuristics` and `models`.
"""
