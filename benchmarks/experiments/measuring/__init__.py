"""How well measured weights serve: experiments on `statistics`, with logs of `simulated_logs`.

`round_trip` asks whether the optimum of a measured instance is one of the true instance, whose logs
were simulated (`round_trip_instances` draws them); `damage` what becomes of damaged logs
(`damaged_lines`); `shapes` and `follow_speed` how long logs of many shapes and a topic of Kafka
(`broker`) take, with the memory that `use` samples; `killed` whether a stream that is killed again
and again (in a `killed_setting`) measures the same.

Start with `round_trip`. It may import `pipeline`, `heuristics`, `processes`, `solver` and `models`.
"""
