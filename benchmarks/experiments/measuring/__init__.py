"""How well measured weights serve: experiments on `statistics`, with logs of `simulated_logs`.

`round_trip` asks whether the optimum of a measured instance is one of the true instance, whose logs
were simulated; `round_trip_instances` draws the instances.

Start with `round_trip`. It may import `pipeline.statistics`, `pipeline.simulated_logs`,
`solver` and `models`.
"""
