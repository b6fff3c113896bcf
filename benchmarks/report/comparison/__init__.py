"""Two gradings compared: what got better, worse, newly fails, newly works, on which instances.

`change` has the words for it, `compare` pairs the runs of one method on one case in both gradings
and tests each term on its own, `page` draws the counts and writes the page; `comparison` is what
users get.

Start with `change`, then `compare`. It may import `benchmarks.report.figures`, `benchmarks.report`,
and what they may.
"""
