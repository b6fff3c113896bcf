"""Results as people read them: tables and plain sentences on stdout.

`results` shows solves, verdicts and lists, `rebalanced` what runs now and the moves, `schedule` a
scheduling round with its exact counterparts. `explanation` turns an explanation into the sections
of `explained` (an instance), `explained_method` and `explained_placement`, as text and as a page.
`graded` has the sums of a grading, `compared` two gradings, `measured` and `advice` what metric
logs of running clusters say. JSON is made elsewhere (`api`); nothing here changes a value.

Start with `results`. It may import `api`, `cli.exits` and the types that
it shows.
"""
