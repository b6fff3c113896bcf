"""What every engine relies on: its contract, its result, its limits, and the shared state.

An `Engine` (`engine`) takes a problem with limits and returns an `Outcome`: placement, and a proven
bound per term or `None`. While engines run they report to one shared incumbent with bounds
(`solve_state`), where each placement is judged and each bound has an owner that must be trusted; an
`incumbent` is what one engine found and proved. A token that is passed to every search says when to
stop (`memory`); Ctrl-C, the clock and the other searches cancel it (`supervision`), and `limited`
says whether seconds or units of work end the search. `result` is what users get.

Start with `engine`, then `result`. It may import `models` only.
"""
