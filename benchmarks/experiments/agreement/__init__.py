"""Whether exact engines agree with each other, and predictions with simulations.

`engines_agree` is the program: it draws instances (`mid_size` and `presolve` beside those of
`testing.random_instances`), asks every engine of `panel`, which also states what must hold between
their answers, and counts by rule (`rule_coverage`, `tally`). `partitions_agree` asks about cuts of
graphs. `prediction_agrees` compares throughput and latency, predicted and simulated, of the
placements of `random_workloads`.

Start with `engines_agree`. It may import `testing`, `solver` and `models`.
"""
