"""Methods that are other programs: any command, and Apache Storm's own schedulers.

Such a program may hang, flood its output, die or leave processes running. `command` has the
protocol (an instance on stdin, a placement or a refusal on stdout); `processes` makes the call
within limits of time and size, and ends every process it started.
`storm_methods` are Storm's released schedulers, called through a small Java program (`storm_peer`,
Maven projects in ``storm_programs/``, built by ``make storm-peer`` and
``make storm-1-peer``).

Start with `command`. It may import `heuristics.ras`, `heuristics.rstorm.storm_1` (for what Storm's
words mean), `processes` and `models`; nothing in it knows `heuristics.registry`.
"""
