"""Advice on a running cluster: whether a rebalance with few moves pays, batch by batch.

The monitor and manager of StroMAX (sections 3.3 and 4), with an optimum in place of its heuristic:
a Structured Streaming job stores the samples of each batch of logs exactly once, `statistics`
computes weights from them, `saving` finds the best placement with at most K moves, `hysteresis`
decides whether advice begins or ends, and `advice_file` has one line per batch.

Start with `advice`. It may import `models`, `solver`, `pipeline.spark` and
`pipeline.statistics`; a stream begins in `stream` and `sources` alone.
"""
