"""The sections of an explanation, one file for each question of ``slotwise explain``.

`instance` says what an instance costs and why none of its placements is valid, `method` where a
method went wrong, `placement` what makes up the cost of a placement and how two differ, `rest`
whether what is left can still be placed; `costs` has the tables of costs that they share.

Start with `instance`. It may import `api`, `cli.render.tables` and the types that it shows.
"""
