"""The problem and its judge: what is placed, by which rules, at what cost.

The package knows no algorithm. An `Instance` in the user's units (`instance`) is compiled into a
`Problem` of integer arrays (`problem`); the judge (`judge`) checks every rule and recomputes every
cost of a placement; `explanation` says what makes up a cost. Around them: files of ours
(`formats`), of others (`importers`), graphs in files (`graph_files`), certificates of proofs
(`certificates`) and generators of instances (`families`). `instance_file` reads whatever instance
file it is given; `errors` and `values` are what everything else stands on.

A second problem, allocation (how many threads and slots does a dataflow need for a rate), has
nouns of its own: `dataflow` (tasks and their rates), `performance` (what a task does on one slot,
the only part that ``slotwise models`` concerns), `allocation` (VMs, plans and their check).

Start with `instance`, then `problem` and `judge`; in words: ``docs/problem.md``. Of allocation read
`allocation` first; in words: ``docs/methods/sam.md``. Nothing of slotwise outside of this package
may be imported, and no solver and no Spark at all.
"""
