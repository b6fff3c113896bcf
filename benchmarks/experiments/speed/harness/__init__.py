"""What the harness of a grading costs, beside the runs themselves.

`ratios` compares it with a bare process, two cores with one, and measures exact solves; `task` is
the process that does the runs, as a Python worker of Spark does them, or through Spark
(`by_grading`).

Start with `ratios`. It may import `benchmarks.grading` and what that may.
"""
