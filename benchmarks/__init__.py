"""Grading of methods, its report, and experiments on the engines.

`grade` runs every method and the exact engine on every instance (`grading`, on Spark: `spark`),
`analysis` turns rows into gaps and summaries, `report` into one HTML page. The experiments,
``python -m slotwise.benchmarks NAME``, are listed in `experiments`: `proofs` (how fast and how
far), `storm` (beside Storm's own schedulers), `storm_like` (how well that family fits),
`slots` (fewest slots), `speed` (limits and latency).
Two commands have their work here: `profiling` (performance models measured) and `reproduction`
(figures of articles beside ours). The layout is in this folder's ``README.md``.

Start with `grade`. It may import `models`, `heuristics` and `solver`; only `slotwise.cli` imports
it.
"""
