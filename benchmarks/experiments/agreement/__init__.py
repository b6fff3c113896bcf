"""Whether all exact engines agree on random instances, rule by rule.

`engines_agree` is the program: it draws instances (`mid_size` and `presolve` beside those of
`testing.random_instances`), asks every engine of `panel`, which also states what must hold between
their answers, and counts by rule (`rule_coverage`, `tally`).

Start with `engines_agree`. It may import `testing`, `solver` and `models`.
"""
