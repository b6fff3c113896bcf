"""The charts of a grading: each with its caption, a text alternative and the table behind it.

From rows to numbers: `panels` takes each term of the objective apart, with the cases on which
methods can be compared. From numbers to charts: `ranked_gaps`, one file per chart. From a chart
to an image: `canvas` (Matplotlib, loaded only when a chart is drawn), `colours` (colours by role),
`page_svg` (SVG for the page: colours as CSS variables, so that dark mode works).

Start with `figure`, then `figures`. It may import `benchmarks.analysis`, `benchmarks.grading`,
and `models`; Matplotlib is imported here and in `cli.render` alone.
"""
