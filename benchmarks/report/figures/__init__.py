"""The charts of a grading: each with its caption, a text alternative and the table behind it.

Charts read the judged table and its summary and compute no figure of their own. `source` has what
they are made of; `ranked`, `curves`, `by_property`, `overload` and `traffic` make them, of
`panels`; `figures` makes all of them, for the page or as files of a paper. `chart` has a chart as
it is drawn, and as the page gets it; how lines and bars are drawn is in `drawing`.

Start with `source`, then `figures`. It may import `benchmarks.judged`, `benchmarks.grading`,
`heuristics` and `models`; Matplotlib is imported here and in `cli.render` alone.
"""
