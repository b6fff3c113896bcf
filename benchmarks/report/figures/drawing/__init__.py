"""How charts are drawn: Matplotlib, colours and line styles by role, and SVG for a page.

`canvas` makes figures and images (Matplotlib is loaded when a chart is drawn, not before);
`colours` has a colour for each role, on white and on a dark page; `cast` gives each method its
name, colour, line style and marker; `lines` draws lines with their names at their ends, `bars`
bars with their names; `axes` has scales and ticks.

Start with `canvas`. It may import `benchmarks.judged` and names of `benchmarks.grading`.
"""
