"""Generators of instances by name, the same instances for the same seed.

Methods are graded on these: `rstorm` has R-Storm's own benchmark topologies and cluster [1],
`rstorm_scaled` and `rstorm_3d` larger and three-dimensional ones of its shapes, `stick_breaking`
the random ones of Storm's test framework, `random_planted` instances around a placement that is
drawn first or made infeasible by one rule, `stromax` StroMAX's topologies and cluster [2],
`partition` random graphs, `storm` the topologies of decoded clusters, `storm_like_family`
topologies drawn with their statistics, half of them held out. `sam` has cases of allocation instead
of instances: slots for the SAM article's dataflows and for random ones. Start with `family`, which
defines a family; `registry` lists them.

It may import `models.importers`, `models.formats` and what is below; no solver.

[1] B. Peng et al., R-Storm: Resource-Aware Scheduling in Storm, Middleware 2015.
[2] J. Jiang et al., StroMAX: Partitioning-based Scheduler, DASFAA 2017.
"""
