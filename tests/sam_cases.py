"""Small performance models and dataflows, by hand and from Hypothesis."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st

from slotwise.models.dataflow import Dataflow, DataflowTask, Stream
from slotwise.models.performance.model import Measurement, PerformanceModel

Row = tuple[int, int | str, int | str, int | str]


def model(name: str, *rows: Row) -> PerformanceModel:
    """A model of (threads, peak rate, CPU, memory)."""
    return PerformanceModel(
        name,
        tuple(Measurement(q, Fraction(rate), Fraction(c), Fraction(m)) for q, rate, c, m in rows),
    )


def chain(*tasks: str, selectivity: str = "1") -> Dataflow:
    """source -> tasks -> sink; a task's model has its name, and each sends `selectivity` on."""
    names = ("source", *tasks, "sink")
    return Dataflow(
        "chain",
        tuple(DataflowTask(name, name if name in tasks else None) for name in names),
        tuple(Stream(a, b, Fraction(selectivity if a in tasks else 1)) for a, b in pairwise(names)),
    )


TASKS = ("a", "b", "c")


@st.composite
def models(draw: st.DrawFn, most_percent: int = 100) -> dict[str, PerformanceModel]:
    """A model of each of `TASKS`: one to four points, rates rising or level, uses at random."""
    made = {}
    for name in TASKS:
        gaps = draw(st.lists(st.integers(1, 10), max_size=3))
        threads = [1]
        for gap in gaps:
            threads.append(threads[-1] + gap)
        rates = sorted(draw(st.integers(1, 40)) for _ in threads)
        use = st.integers(0, most_percent)
        rows = [(q, r, draw(use), draw(use)) for q, r in zip(threads, rates, strict=True)]
        made[name] = model(name, *rows)
    return made


@st.composite
def dataflows(draw: st.DrawFn) -> Dataflow:
    """A source, one to three of `TASKS` that each take from some of those before, a sink."""
    tasks = TASKS[: draw(st.integers(1, len(TASKS)))]
    names = ("source", *tasks)
    streams = []
    for index, name in enumerate(names[1:], 1):
        before = draw(st.sets(st.sampled_from(names[:index]), min_size=1))
        for source in sorted(before):
            selectivity = draw(st.sampled_from([Fraction(1), Fraction(2), Fraction(1, 3)]))
            streams.append(Stream(source, name, selectivity))
    streams.append(Stream(tasks[-1], "sink"))
    return Dataflow(
        "drawn",
        tuple(DataflowTask(n, n if n in TASKS else None) for n in (*names, "sink")),
        tuple(streams),
    )


RATES = st.fractions(Fraction(1, 4), 120, max_denominator=4)
