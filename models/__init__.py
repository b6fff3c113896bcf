"""The problem and its judge: instances, rules and costs of placements.

The package knows no algorithm. An `Instance` in the user's units (`instance`) is compiled into a
`Problem` of integer arrays (`problem`); the judge (`judge`) checks every rule and recomputes every
cost of a placement; `explanation` splits a cost into its causes, `infeasibility` says why there is
no placement at all, `prediction` computes throughput and latency of a placement, and `simulation`
simulates them. Around them: our files (`formats`), other formats (`importers`), graph
files (`graph_files`) and graphs to partition (`graph_partition`), certificates of proofs
(`certificates`) and generators of instances (`families`). `instance_file` reads any instance file;
everything else builds on `errors`, `values` and `nouns`, which reads and writes the nouns of files
by the annotations of their classes.

A second problem, allocation (the threads and slots that a dataflow needs for a rate), has its own
nouns: `dataflow` (tasks and their rates), `performance` (performance models of a task on one slot,
the only part that ``slotwise models`` concerns), `allocation` (VMs, plans and their check).

Start with `instance`, then `problem` and `judge`; in words: ``docs/problem.md``. For allocation,
read `allocation` first; in words: ``docs/methods/sam.md``. It may not import anything from slotwise
outside this package, nor any solver or Spark.
"""
