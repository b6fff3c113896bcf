"""The charts of a grading: each with its caption, a text alternative and the table behind it.

One file makes one chart (`ranked_gaps`, `traffic`, `overloads`, `gap_curves`, `profiles`,
`against`, `times`); `figures` makes all of them, for the page or as files of a paper. `chart` has
a chart as it is drawn, and as the page gets it. What they show is in `numbers`, how
they are drawn in `drawing`.

Start with `chart`, then `figures`. It may import `benchmarks.analysis`, `benchmarks.grading`,
`heuristics` and `models`; Matplotlib is imported here and in `cli.render` alone.
"""
