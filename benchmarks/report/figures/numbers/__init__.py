"""What charts show, as numbers: distances by term, shared cases, bins, intervals.

`shared_cases` finds the cases on which methods can be compared and groups them by size; `panels`
has the distance from the optimum in each term of the objective, and intervals of a mean; `words`
writes numbers and which cases count.

Start with `panels`. It may import `benchmarks.analysis` and names of `benchmarks.grading`.
"""
