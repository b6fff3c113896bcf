"""Grading of methods, its summary and its report; the experiments on the engines.

`grade` runs every method and the exact engine on every instance (`grading`, on Spark); `judged`
turns rows into the judged table and all figures, `report` shows them on one HTML page.
`reproduction` compares figures of articles with ours. `experiments` are not part of the installed
package. This folder's ``README.md`` describes the layout.

Start with `grade`. It may import `pipeline`, `models`, `heuristics` and `solver`; only
`slotwise.api` and `slotwise.cli` import it.
"""
