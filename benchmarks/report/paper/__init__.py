"""Charts and tables of a grading as files for a paper.

`tables` makes the tables of methods, terms, instances and failures; `paper_table` writes one as
CSV or LaTeX; `files` writes every chart as SVG and PDF and every table as CSV and LaTeX into a
folder, all or nothing.

Start with `files`. It may import `benchmarks.report.figures`, `benchmarks.report`, and what they
may.
"""
