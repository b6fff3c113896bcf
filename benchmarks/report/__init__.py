"""The report: one self-contained HTML page from the rows of a grading.

`page` fills the template ``templates/report.html.j2``, which contains only the layout; `text`
makes the words and numbers, `charts` draws the performance profile and the gaps (Plotly),
`viewer` shows placements beside each other. `explanation_page` makes the page of
``slotwise explain --html``.

Start with `page`. A chart is changed in `charts`. It may import `benchmarks.analysis`,
`benchmarks.grading`, `heuristics` (descriptions of methods) and `models`.
"""
