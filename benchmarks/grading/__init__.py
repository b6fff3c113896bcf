"""Grading: one run is one row, whatever happens to the run.

Which cases are there (`sources`), which methods and engine are asked for (`names`), what is done
with each case (`plan`), how does each run end as a row (`run`, in the processes of `children`: a
crash or a timeout is a row)? Spark joins, spreads and writes all of it in `batch`; `progress` shows
and logs which runs have ended; `store` reads what was written. `exact_run` runs exact engines, and
`oracle` says from which placement, and who checks them. `rows` names every column; `row_file`
checks files from unknown sources.

Start with `rows`, then `plan`, then `batch`. It may import `models`, `heuristics` and `solver`;
Spark in `batch` and `oracle` alone.
"""
