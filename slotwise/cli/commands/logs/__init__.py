"""Commands about the metric logs of running topologies.

`generate_logs` makes logs whose truth is known. Its name on the command line is two words,
``generate logs``; `cli.app` says how that works. `measure` reads logs and measures an instance,
`follow` does so while a cluster runs; `measured_options` has the options of both.

Start with `measure`. They may import what `cli.commands` may.
"""
