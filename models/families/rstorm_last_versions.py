"""The last versions of R-Storm's Linear, Diamond and Star, which section 6.3.2 fits."""

from __future__ import annotations

from slotwise.models.families.rstorm import TopologyShape


def _shape(name: str, sizes: dict[str, tuple[int, int]], streams: str) -> TopologyShape:
    """Return a topology from component -> (parallelism, cpu) and ``a>b a>c``."""
    arrows = [stream.split(">") for stream in streams.split()]
    fed = {target for _, target in arrows}
    return TopologyShape(
        id=name,
        components=tuple(
            (key, "bolt" if key in fed else "spout", *size) for key, size in sizes.items()
        ),
        streams=tuple((source, target, "shuffle") for source, target in arrows),
    )


LINEAR = "word>b1 b1>b2 b2>b3"
DIAMOND = "head>b1 head>b2 head>b3 head>b4 b1>out b2>out b3>out b4>out"
STAR = "s0>center s1>center center>o0 center>o1"

SECTION_6_3_2: dict[str, tuple[TopologyShape, int]] = {
    "Linear": (
        _shape("linear", {"word": (4, 50), "b1": (6, 20), "b2": (6, 20), "b3": (6, 20)}, LINEAR),
        6,
    ),
    "Diamond": (
        _shape(
            "diamond",
            {
                "head": (2, 50),
                **dict.fromkeys(("b1", "b2", "b3"), (4, 20)),
                "b4": (4, 30),
                "out": (6, 30),
            },
            DIAMOND,
        ),
        7,
    ),
    "Star": (
        _shape(
            "star",
            {"center": (6, 20), "s0": (2, 50), "s1": (2, 50), "o0": (6, 20), "o1": (6, 20)},
            STAR,
        ),
        6,
    ),
}
"""The last version of each topology in the authors' sources, and the machines of the article.

github.com/jerrypeng/storm-resource-aware-topologies, May 2015. The article says "half of the
machines" for Star.
"""
