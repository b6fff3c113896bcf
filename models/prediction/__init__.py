"""What a placement is worth: tuples per second and milliseconds, predicted by queueing theory.

`flows` says how many tuples each task receives and where its own go, exactly and for every
placement; it knows no queues and serves a simulation as well. `loads` makes of them the load of
every thread, node, network interface and uplink, and the highest sustainable multiple of the
sources' rates. `queueing` and `stations` solve the network of queues, open or closed by windows;
`latency` follows a tuple and all that comes of it. `assumptions` fills in what an instance does not
say, and says so. `prediction` puts them together.

Start with `prediction`, then `flows`; in words: ``docs/prediction.md``. It may import the nouns,
`models.problem` and `models.judge`, and shares nothing with the solver.
"""
