"""Storm's own schedulers compared with ours, and Storm's choices with exact ones.

`comparison` runs Storm and ours on the same round and lists all
differences; `times` and `ras_speed` measure both; `sequence` places a cluster's topologies one
after another (`filling`) by each method and exactly; `evictions` compares Storm's evictions
with the smallest ones; `whole_cluster` places all topologies of a cluster together; `throughput`
measures placements on a running Storm.

Start with `comparison`. It may import `benchmarks.reproduction`, `processes`, `heuristics`,
`solver.admission`, `solver` and `models`.
"""
