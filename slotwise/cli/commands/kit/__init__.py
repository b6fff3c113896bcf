"""Commands for people who write a scheduler or a validator of placements.

`new` starts a package, `test_scheduler` checks a scheduler on random instances, `test_validator`
compares a validator with the judge.

Start with `test_validator`. They may import what other commands may, and the kit in `testing`.
"""
