"""Is a validator right? For each hard rule, placements that just keep and that just break it.

`check_validator` holds somebody's validator against them and reports rule by rule; `keeps` and
`breaks` are the strategies of a rule, for ``@given``. Every case has at most 3 tasks on 2 nodes.
`catalogue` lists the parts of each rule, which are built in `placed`, `capacity`,
`workers` and `constraints`; `answers` asks a validator,
a callable or a command; `report` is the table and writes its files.

Start with `case`. It may import `models` and how commands are called (`heuristics`).
"""
