"""Results for people: tables and plain sentences on stdout.

`results` shows solves, verdicts and lists, `rebalanced` the current placement and the moves,
`schedule` a scheduling round with its exact counterparts. `explanation` turns an explanation into
the sections of `explained` (an instance), `explained_method` and `explained_placement`, as text and
as a page.
`graded` has the summary of a grading, `compared` two gradings, `measured` and `advice` the results
from metric logs of running clusters. JSON is made elsewhere (`api`); nothing here changes a value.

Start with `results`. It may import `api`, `cli.exits` and the types that
it shows.
"""
