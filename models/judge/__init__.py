"""The judge: whether a placement keeps the rules, and what it costs.

The only place where a constraint is checked or a cost computed for an answer: every placement of
every engine and method passes here before anyone sees it. `rules` has one function for each hard
rule, `judge` one for each part of the objective; both use counts of classes per place
(`accounting`), not pairs of tasks. The answer is a `Verdict` (`verdict`): violations with what was
needed and what was available, the value of each term, and loads. `moves` judges what runs now, and
says which tasks a placement moves.

Start with `judge`, then `rules`. It may import `models.problem` and what is below; it must not
know which engine or method made a placement.
"""
