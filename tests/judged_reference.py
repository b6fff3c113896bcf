"""The figures of a grading once more, written apart: plain Python on rows, exact fractions.

Random gradings to compare them on, too.
"""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from math import inf
from statistics import mean

from graded_rows import row

PLACED = ("valid", "optimal", "feasible")


def values_of(run):
    return tuple(Fraction(term["value"]) for term in run["terms"])


def ratio(value, reference):
    if value == reference:
        return 0.0
    return inf if reference == 0 else float((value - reference) / reference)


class Instance:
    """What is known of an instance from all its rows."""

    def __init__(self, rows):
        placed = [one for one in rows if one["status"] in PLACED]
        self.infeasible = any(one["status"] == "infeasible" for one in rows)
        self.best = min(map(values_of, placed), default=None)
        self.bounds, self.known = (), 0
        for one in rows:
            if one["kind"] == "exact" and one["terms"]:
                bounds = [t["bound"] and Fraction(t["bound"]) for t in one["terms"]]
                same = [a == b for a, b in zip(values_of(one), bounds, strict=True)]
                known = (*same, False).index(False)
                told = known, [-1 if b is None else b for b in bounds]
                if told >= (self.known, [-1 if b is None else b for b in self.bounds]):
                    self.known, self.bounds = known, bounds

    def gap(self, run, at):
        """The interval of a run's gap in a term."""
        if run["status"] not in PLACED or values_of(run)[:at] != self.best[:at]:
            return inf, inf
        value = values_of(run)[at]
        low = ratio(value, self.best[at])
        bounded = at < len(self.bounds) and self.bounds[at] is not None and self.known >= at
        return low, ratio(value, self.bounds[at]) if bounded else inf


def figures(rows, methods, terms):
    """Method and term -> instances, common, mean, median; of instances all methods apply to."""
    of_instance = defaultdict(list)
    for one in rows:
        of_instance[one["instance_hash"]].append(one)
    instances = {name: Instance(some) for name, some in of_instance.items()}
    basis = [
        name
        for name, some in of_instance.items()
        if not instances[name].infeasible
        and {r["method"] for r in some if r["status"] != "does not apply"} >= set(methods)
        and not any(r["status"] == "does not apply" for r in some if r["method"] in methods)
    ]
    found = {}
    for at, term in enumerate(terms):
        gaps = {
            method: {
                name: [
                    mean(ends)
                    for ends in zip(
                        *(
                            instances[name].gap(r, at)
                            for r in of_instance[name]
                            if r["method"] == method
                        ),
                        strict=True,
                    )
                ]
                for name in basis
            }
            for method in methods
        }
        common = [n for n in basis if all(gaps[m][n][0] < inf for m in methods)]
        for method in methods:
            for end, which in enumerate(("low", "high")):
                found[method, term, which] = {
                    "instances": len(basis),
                    "common": len(common),
                    "mean": mean(gaps[method][n][end] for n in common) if common else None,
                    "sorted": sorted(gaps[method][n][end] for n in basis),
                }
    return found


METHODS = ("first", "second", "third")
FAILURES = {
    "refused": {"reason": "no room"},
    "broken rule": {"violations": ["slots: n1"]},
    "timeout": {"error": "late"},
    "does not apply": {"reason": "reads no racks"},
}


def graded(seed):
    """Rows of 30 instances, three methods, of which one draws, with ties, zeros and failures."""
    draw = random.Random(seed)
    rows = []
    for number in range(30):
        name = f"i{number:02d}"
        optimum = (draw.choice((0, 0, 2)), draw.choice((0, 4, 7, 10)))
        kind = draw.choice(("optimal",) * 6 + ("feasible", "infeasible", "unknown"))
        best = tuple(str(Fraction(value)) for value in optimum)
        bounds = draw.choice([(best[0], str(optimum[1] // 2)), (best[0], None), ("0", None)])
        values = None if kind in ("infeasible", "unknown") else best
        rows.append(row(name, "auto", kind, values, bounds if kind == "feasible" else None))
        for method in METHODS:
            for of_seed in range(3 if method == "second" else 1):
                rows.append(ran(draw, name, method, of_seed, optimum, kind))
    draw.shuffle(rows)
    return rows


def ran(draw, name, method, seed, optimum, kind):
    seconds = {"seed": seed, "wall_s": draw.choice((0.1, 0.5, 2.0))}
    if kind == "infeasible" or draw.random() < 0.1:
        status = draw.choice(list(FAILURES) if seed == 0 and method != "second" else ["timeout"])
        return row(name, method, status, **FAILURES[status], **seconds)
    over = (draw.choice((0, 0, 0, 0, 1)), draw.choice((0, 0, 1, 3.5)))
    values = [f"{a + b:g}" for a, b in zip(optimum, over, strict=True)]
    return row(name, method, "valid", values, **seconds)
