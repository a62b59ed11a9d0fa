"""Half round trip and bandwidth by message size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from haloscope.evidence import MeasuredCase, facets
from haloscope.points import Swept, sweep
from haloscope.quantities import rate, seconds, size
from haloscope.series.model import Axis, Curve, Figure, Lines, mark, size_ticks
from haloscope.stats import Estimate
from haloscope.tables.context import Context
from haloscope.tables.pingpong import half_round_trip, one_way_rate


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Half round trip and bandwidth by message size, a curve a case."""
    own = [case for case in cases if case.kernel == "pingpong" and len(sweep(case)) > 1]
    if not own:
        return []
    parts = facets(own, ())
    sizes = [float(p.size_bytes) for case in own for p in sweep(case) if p.size_bytes]
    x = Axis("message", "log2", size_ticks(sizes))

    def curves(of: Callable[[Swept], Estimate], factor: float) -> tuple[Curve, ...]:
        return tuple(
            Curve(
                part.label or "measured",
                tuple(
                    mark(point.size_bytes, of(point).times(factor))
                    for point in sweep(part.cases[0])
                    if point.size_bytes
                ),
            )
            for part in parts
        )

    return [
        Figure(
            id="pingpong",
            kind="pingpong",
            title=context.title("Ping-pong by message size"),
            panels=(
                Lines(
                    "time",
                    "Half round trip",
                    x,
                    Axis("half round trip (µs)", "log"),
                    curves(half_round_trip, 1e6),
                ),
                Lines(
                    "bandwidth",
                    "Bandwidth",
                    x,
                    Axis("bandwidth (GB/s)", "log"),
                    curves(one_way_rate, 1e-9),
                ),
            ),
            alt=_pingpong_alt(own[0]),
            notes=("Bars: interval or range over launches.",),
        )
    ]


def _pingpong_alt(case: MeasuredCase) -> str:
    points = [point for point in sweep(case) if point.size_bytes]
    best = max(points, key=lambda point: one_way_rate(point).value)
    return (
        f"Half round trip and bandwidth over message size. {size(points[0].size_bytes)}: "
        f"{seconds(half_round_trip(points[0]).value)}; highest bandwidth "
        f"{rate(one_way_rate(best).value)} at {size(best.size_bytes)}."
    )
