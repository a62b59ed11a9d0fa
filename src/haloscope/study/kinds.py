"""The kinds of tables and figures that a study can ask for: one line a kind, data alone.

To add one, add its line here and one file of its name, with a function `build(cases, context)`, to
report/tables, to report/figures, or to both. A report that nobody asked anything of has all kinds
in this order.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A kind of table, of figure, or of both, and the section of a report that it stands in."""

    name: str
    topic: str
    table: bool = False
    figure: bool = False


KINDS = (
    Kind("stream", "memory", table=True, figure=True),
    Kind("bandwidth", "memory", table=True),
    Kind("pingpong", "pingpong", table=True, figure=True),
    Kind("fits", "pingpong", table=True, figure=True),
    Kind("libraries", "pingpong", table=True),
    Kind("transports", "pingpong", figure=True),
    Kind("ring", "ring", table=True, figure=True),
    Kind("sum3d", "sum3d", table=True),
    Kind("collectives", "collectives", table=True, figure=True),
    Kind("guidelines", "collectives", table=True),
    Kind("convergence", "convergence", table=True),
    Kind("surfaces", "convergence", figure=True),
    Kind("walltime_grid", "walltime", table=True),
    Kind("hybrid_grid", "walltime", table=True),
    Kind("clusters", "walltime", table=True),
    Kind("scaling", "scaling", table=True, figure=True),
    Kind("scaling_law", "scaling", table=True, figure=True),
    Kind("exchange", "exchange", table=True),
    Kind("jacobi", "jacobi", table=True, figure=True),
    Kind("roofline", "jacobi", figure=True),
    Kind("iterations", "iterations", table=True, figure=True),
    Kind("sf_latency", "star_forests", table=True),
    Kind("sf_grid", "star_forests", table=True),
    Kind("split_phase", "star_forests", table=True, figure=True),
    Kind("timeline", "timeline", figure=True),
    Kind("mapping", "mapping", table=True, figure=True),
    Kind("overlap", "spmv", table=True),
    Kind("spmv", "spmv", table=True, figure=True),
    Kind("phases", "phases", table=True, figure=True),
    Kind("stragglers", "phases", table=True),
    Kind("tails", "tails", table=True),
    Kind("summary", "summary", table=True),
)

TOPICS = {
    "memory": "Memory bandwidth",
    "pingpong": "Messages between two processes",
    "ring": "Messages round a ring",
    "sum3d": "Scattered, added, gathered",
    "collectives": "Collective operations",
    "star_forests": "Star forests",
    "timeline": "One step, rank by rank",
    "convergence": "Convergence",
    "walltime": "Wall time",
    "scaling": "Speedup and efficiency",
    "spmv": "Sparse matrix times vector",
    "mapping": "Tasks on few nodes and on many",
    "jacobi": "Jacobi in three dimensions",
    "iterations": "Variants of the conjugate gradient method",
    "exchange": "Exchanges compared",
    "phases": "Where the time goes",
    "tails": "Slow repetitions",
    "summary": "All cases",
}
"""The sections of a report and their titles."""


def tables() -> tuple[str, ...]:
    """The names of all kinds of tables, in order."""
    return tuple(kind.name for kind in KINDS if kind.table)


def figures() -> tuple[str, ...]:
    """The names of all kinds of figures, in order."""
    return tuple(kind.name for kind in KINDS if kind.figure)


def of_topic(topic: str) -> tuple[str, ...]:
    """The names of the kinds that stand in a section."""
    return tuple(kind.name for kind in KINDS if kind.topic == topic)
