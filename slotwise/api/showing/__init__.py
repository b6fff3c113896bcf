"""Placements as people look at them: the viewer, for notebooks and as a page of its own.

Which placement is where, what does it cost, what differs? `show` takes what the other functions
take and return; a `Result` or `Verdict` at the end of a cell is drawn by the same viewer, for
which `slotwise` hands `show.drawing` to `models.display`.

Start with `show`. It may import `api.inputs`, `benchmarks.report.viewer` and what is below.
"""
