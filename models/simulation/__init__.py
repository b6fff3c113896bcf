"""What a placement is worth, by trying it out: discrete events, without any queueing theory.

`sharing` has what several jobs use at the same time (the cores of a node, network interfaces,
uplinks), `network` the ways of tuples between tasks, `threads` the tasks: spouts, bolts, ackers.
`system` builds them for a placement, `intervals` says how far the means of a run can be trusted,
`simulation` puts them together.

It reads what an instance says and how streams are dealt from `models.prediction.flows`, and takes
from `loads` what resources there are and whether the rates are sustainable at all: facts about the
placement. Times and queues it shares with nothing, so that it can be compared with predictions. It
is above `prediction` and in `models` because it, too, knows no solver and no Spark. The events are
SimPy's, which is the extra ``simulation``.

Start with `threads`, then `simulation`; in words: ``docs/prediction.md``.
"""
