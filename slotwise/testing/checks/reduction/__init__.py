"""Making a failing instance small: each step takes one thing away and keeps the failure.

`steps` yields the instances that are one step smaller than another; `smallest` walks along them.
Hypothesis's own shrinking works on its choices and would take minutes for instances this rich.

Start with `smallest`. It may import `models`; it knows no check and no scheduler.
"""
