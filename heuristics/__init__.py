"""Published placement methods, and third-party methods; `ours` lists ours by name.

A method takes a compiled problem and a random generator and returns a placement or a `Refusal` with
its reason (`method`). Ours follow their sources exactly, oddities included: `one_by_one`
(Storm's even scheduler), `rstorm` (the article and the authors' code), `ras` (Storm's Resource
Aware Scheduler), `stromax` (streaming graph partitioning) and general graph partitioners
(`partitioning`). `sam` allocates instead of placing (threads and slots for a rate); its methods
are in `PAIRS`. `external` runs commands and Storm's own schedulers. `registry` finds any of
them by name, including entry points of other packages; `run` runs one and checks its answer.

Start with `method`. It may import `models`; no engine, no benchmark. ``docs/methods.md`` says how
to add one.
"""
