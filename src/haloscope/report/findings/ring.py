"""What a message costs round a ring of processes, from the fewest to the most, and by level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.fits import ring_model
from haloscope.models.ring import Ring
from haloscope.quantities import SECONDS, listed, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place, spread
from haloscope.stats.estimates import Estimate

ORDER = 138


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Of each ring: a message with the fewest and with the most processes, and the latencies.

    Medians over launches with their spread, as the table of cycles has them; a warning where a
    fitted line has what no ring can have.
    """
    for part in facets([case for case in cases if case.kernel == "ring"], ("nodes", "ppn")):
        several = [case for case in part.cases if case.ranks > 1 and case.time]
        several.sort(key=lambda case: case.ranks)
        if not several:
            continue
        ends = list(dict.fromkeys((several[0], several[-1])))
        each = [f"{_message(case)} with {case.processes}" for case in ends]
        label = f" ({part.label})" if part.label else ""
        model = ring_model(part.cases)
        levels = _levels(model) if model else ""
        yield Finding(
            f"Ring{label}{place(ends[0])}: a message takes {listed(each)}{levels}.",
            "warning" if model and model.doubts else "",
        )


def _message(case: MeasuredCase) -> str:
    """The time of one of the messages that follow one another in a cycle."""
    assert case.time is not None
    return _time(case.time.times(1 / (2 * case.ranks)))


def _time(estimate: Estimate) -> str:
    return f"{seconds(estimate.value)}{spread(estimate, SECONDS)}"


def _levels(model: Ring) -> str:
    """The latency of each level that the fitted pieces tell, and what is doubtful about them."""
    told = [
        f"{_time(piece.latency_s)} {piece.level.name.replace('-', ' ')}" for piece in model.pieces
    ]
    doubts = "".join(f"; {doubt.removesuffix('.')}" for doubt in model.doubts)
    return f"; a further process adds two messages of {listed(told)}{doubts}"
