"""The public functions: the commands as Python functions, with arguments in place of options.

The packages below are strict: each takes compiled problems and placements of indices. The
functions here also take paths, dicts and text (see `inputs`), so that a notebook needs one line;
the command line calls the same functions. `import slotwise` has all of them.

`predicting` predicts throughput and latency of a placement, `simulating_placements` simulates them.
`explaining` chooses among the questions of `explanation_questions`, whose answers are in
`explanation_answers`.
`rebalancing`, `sparing` and `orphans` are about topologies that run, `simulating`, `measuring` and
`following` about their metric logs, `summing`, `reporting` and `packing` about gradings; `show`
draws placements.

Start with `inputs`, then read `solving`. Every function of the package, save those of the commands
themselves, may be imported; `cli` and `slotwise` import it.
"""
