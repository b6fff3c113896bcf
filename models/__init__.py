"""The problem and its judge: what is placed, by which rules, at what cost.

The package knows no algorithm. An `Instance` in the user's units (`instance`) is compiled into a
`Problem` of integer arrays (`problem`); the judge (`judge`) checks every rule and recomputes every
cost of a placement; `explanation` says what makes up a cost, `infeasibility` why there is no
placement at all, `prediction` what a placement is worth in tuples per second and milliseconds, and
`simulation` tries that out. Around them: our files (`formats`), other formats (`importers`), graph
files (`graph_files`) and graphs to partition (`graph_partition`), certificates of proofs
(`certificates`) and generators of instances (`families`). `instance_file` reads any instance file;
everything else builds on `errors`, `values` and `nouns`, which reads and writes what files hold by
the annotations of its class.

A second problem, allocation (how many threads and slots does a dataflow need for a rate), has its
own nouns: `dataflow` (tasks and their rates), `performance` (what a task does on one slot,
the only part that ``slotwise models`` concerns), `allocation` (VMs, plans and their check).

Start with `instance`, then `problem` and `judge`; in words: ``docs/problem.md``. For allocation,
read `allocation` first; in words: ``docs/methods/sam.md``. It may not import anything from slotwise
outside this package, nor any solver or Spark.
"""
