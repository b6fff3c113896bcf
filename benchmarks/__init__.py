"""Grading of methods, its report, and experiments on the engines.

`grade` runs every method and the exact engine on every instance (`grading`, on Spark: `spark`),
`analysis` turns rows into gaps and summaries, `aggregation` does so in Spark SQL, `report` into one
HTML page. The experiments,
``python -m slotwise.benchmarks NAME``, are listed in `experiments`: `proofs` (how fast and how
far), `storm` (Storm's own schedulers compared), `storm_like` (how well that family fits), `slots`
(fewest slots), `speed` (limits, latency), `rebalancing` (what few moves gain).
Commands implemented here: `profiling` (measures performance models), `reproduction` (compares
figures of articles with ours), `statistics` (weights from logs, ``measure``; how well they serve:
`measuring`), `following` (whether a rebalance of a running cluster pays) and `simulated_logs`
(``generate logs``). This folder's ``README.md`` describes the layout.

Start with `grade`. It may import `models`, `heuristics` and `solver`; only `slotwise.cli` imports
it.
"""
