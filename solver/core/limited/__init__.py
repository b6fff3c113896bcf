"""What ends a search: seconds, or its own work.

By seconds (`by_time`) a search answers with what it has when they are over. By work (`by_work`) its
deadlines are moments of a `WorkClock`, so it answers the same however busy the machine is; seconds
and memory have safety limits there, and striking one is an error. `limits` checks what was asked.

Start with `by_work`. It may import `solver.core` and `models`.
"""
