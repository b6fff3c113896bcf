"""The report: one self-contained HTML page from the rows of a grading.

`page` fills the template ``templates/report.html.j2``, whose parts are files beside it: `answers`
makes the sentence for each method, `case_table` the table of instances, `failures` groups what
failed, `labels` reads what methods are called. `figures` draws the charts, `viewer` shows
placements beside each other; `paper` writes charts and tables as files (`paper_table`: CSV and
LaTeX), `comparison` compares two gradings. `explanation_page` makes the page of
``slotwise explain --html``, `measured_page` that of ``slotwise measure --page``.

Start with `page`. It may import `benchmarks.judged`, `benchmarks.grading`, `heuristics`
(descriptions of methods) and `models`.
"""
