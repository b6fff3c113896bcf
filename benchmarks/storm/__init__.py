"""Storm's own schedulers beside ours, and Storm's choices beside exact ones.

`comparison` and `storm_1_comparison` ask Storm and ours for the same round and list all
differences; `times` and `ras_speed` measure both; `sequence` places a cluster's topologies one
after another (`filling`) by each method and exactly; `evictions` sets the smallest evictions
beside Storm's.

Start with `comparison`. It may import `heuristics`, `solver.admission`, `solver` and `models`.
"""
