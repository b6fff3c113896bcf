"""The kit for random tests: instances in which every rule occurs, and engines that must agree.

`choices` is a source of choice with two implementations, so that one grammar draws from NumPy and
from Hypothesis; `instances` draws with it. `panel` asks every engine, `agreement` says what must
hold between their answers, `rule_coverage` which rules an instance has, `tally` counts by rule;
`engines_agree` is the program. `mutations` damages valid files.

Start with `agreement`. It may import `models`, `heuristics` and `solver`; only tests and
`benchmarks.experiments` import it.
"""
