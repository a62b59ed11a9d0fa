"""The report of a validation: what was predicted over what is known, and how far it is off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from haloscope.analysis.predictions import Errors, PredictedCell, PredictedTime
from haloscope.quantities import SECONDS, count, listed, percent, quantity
from haloscope.report.document import Document, Section
from haloscope.report.figures.model import Axis, Curve, Figure, Lines, Mark
from haloscope.report.findings import Finding
from haloscope.report.tables import Table
from haloscope.report.tables.predicted import FITTED, ONLY_PREDICTED

BAND = 0.1
"""BAND is the error that the band of a figure ends at, on either side."""

_Pair = tuple[float, float]
"""What is known, and what was predicted for it."""


def document(
    title: str,
    pairs: Mapping[str, Sequence[PredictedCell | PredictedTime]],
    tables: Sequence[Table],
    failures: Sequence[str],
    provenance: Sequence[tuple[str, str]],
    clusters: Sequence[str] = (),
) -> Document:
    """Its figures, one a unit, and tables.

    pairs: predictions by what they are called. clusters: what they were simulated on, if they were.
    """
    where = f", simulated on {listed(clusters)}" if clusters else ""
    drawn = tuple(figure for figure in _figures(pairs) if figure.shows_enough)
    numbered = [replace(table, id=f"{table.id}-{k}") for k, table in enumerate(tables, start=1)]
    return Document(
        title=f"{title}{where}",
        heading=f"What was found{where}",
        summary=f"{count(sum(map(len, pairs.values())), 'prediction')}.",
        findings=tuple(_findings(pairs)),
        sections=(Section("predicted", "Predicted and known", drawn, tuple(numbered)),),
        left_out=tuple(f"Not simulated: {why}" for why in failures),
        machine=(),
        toolchains=(),
        method=("An error is what was predicted over what is known, less one.", *_kinds(pairs)),
        provenance=tuple(provenance),
    )


def marked(made: Document, disturbed: Sequence[str]) -> Document:
    """A report with what says that the calibration was disturbed that its predictions are from."""
    found = (Finding(f"The calibration was disturbed. {why}", "warning") for why in disturbed)
    return replace(made, findings=(*found, *made.findings))


def of_cells(cells: Sequence[PredictedCell]) -> dict[str, list[PredictedCell]]:
    """Cells by whether they may have set numbers of the cluster file."""
    names = {FITTED: True, ONLY_PREDICTED: False}
    found = {name: [c for c in cells if c.fitted == fitted] for name, fitted in names.items()}
    return {name: own for name, own in found.items() if own}


def _kinds(pairs: Mapping[str, Sequence[PredictedCell | PredictedTime]]) -> Iterator[str]:
    """What tells fits from predictions, or how predicted times were measured here."""
    if FITTED in pairs or ONLY_PREDICTED in pairs:
        yield (
            "Cells that may have set numbers of the cluster file show how well it was fitted, all "
            "others how well it predicts."
        )
    else:
        yield (
            "What calibrates this machine and what is predicted were measured in turn, launch by "
            "launch; nothing that is predicted is in the calibration."
        )


def _findings(pairs: Mapping[str, Sequence[PredictedCell | PredictedTime]]) -> Iterator[Finding]:
    for name, own in pairs.items():
        found = Errors.of(own)
        if found.median is not None and found.worst is not None:
            yield Finding(
                f"{_sentence(name)}: {percent(found.median)} off at the median of "
                f"{found.number}, {percent(found.worst)} at worst."
            )


def _sentence(name: str) -> str:
    """A name as a sentence begins with it: a kernel's stays as it is."""
    return f"{name[0].upper()}{name[1:]}" if name in (FITTED, ONLY_PREDICTED) else name


def _figures(pairs: Mapping[str, Sequence[PredictedCell | PredictedTime]]) -> Iterator[Figure]:
    units: dict[str, dict[str, list[_Pair]]] = {}
    for name, own in pairs.items():
        for one in own:
            unit, pair = _pair(one)
            if pair is not None:
                units.setdefault(unit, {}).setdefault(name, []).append(pair)
    for unit, by_name in units.items():
        yield _figure(unit, by_name)


def _pair(one: PredictedCell | PredictedTime) -> tuple[str, _Pair | None]:
    """The unit, and both figures where there are two that a logarithmic axis can show."""
    if isinstance(one, PredictedTime):
        known, predicted, unit = one.measured.value, one.predicted_s, "s"
    else:
        known, predicted, unit = one.published, one.predicted or 0.0, one.unit
    return unit, (known, predicted) if known > 0 and predicted > 0 else None


def _axis(what: str, unit: str, every: Sequence[_Pair]) -> Axis:
    """A logarithmic axis; of seconds with a unit at each tick, as they may be of any size."""
    if unit != "s":
        return Axis(f"{what} ({unit})", "log")
    low, high = min(map(min, every)), max(map(max, every))
    powers = [10.0**k for k in range(-9, 7) if low / 10 < 10.0**k < high * 10]
    step = -(-len(powers) // _TICKS)
    return Axis(what, "log", tuple((one, quantity(one, SECONDS, 1)) for one in powers[::step]))


_TICKS = 8
"""_TICKS is how many ticks with their units an axis has room for."""


def _figure(unit: str, by_name: Mapping[str, Sequence[_Pair]]) -> Figure:
    every = [pair for own in by_name.values() for pair in own]
    ends = min(map(min, every)), max(map(max, every))
    bounds = [
        Curve(name, tuple(Mark(x, factor * x) for x in ends), bound=True)
        for name, factor in (
            ("equal", 1.0),
            (f"± {percent(BAND)}", 1 + BAND),
            (f"± {percent(BAND)}", 1 - BAND),
        )
    ]
    within = sum(abs(predicted / known - 1) <= BAND for known, predicted in every)
    return Figure(
        id="predicted",
        kind="predicted",
        title=f"Predicted over known, in {unit}",
        panels=(
            Lines(
                f"predicted-{unit.replace('/', '_')}",
                "",
                _axis("known", unit, every),
                _axis("predicted", unit, every),
                (
                    *bounds,
                    *(
                        Curve(name, tuple(Mark(*pair) for pair in own), joined=False, style=style)
                        for style, (name, own) in enumerate(by_name.items())
                    ),
                ),
            ),
        ),
        fewest=1,
        alt=f"{count(len(every), 'prediction')} over what is known: {within} within "
        f"{percent(BAND)} of it.",
        notes=(f"Dashed: predicted as known, and {percent(BAND)} more and less.",),
    )
