"""The report of a validation: what was predicted over what is known, and how far it is off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from haloscope.analysis.predictions import Errors, PredictedCell, PredictedTime
from haloscope.quantities import count, percent
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
) -> Document:
    """Its figures, one a unit, and tables. pairs: predictions by what they are called."""
    drawn = tuple(figure for figure in _figures(pairs) if figure.shows_enough)
    numbered = [replace(table, id=f"{table.id}-{k}") for k, table in enumerate(tables, start=1)]
    return Document(
        title=title,
        heading="What was found",
        summary=f"{count(sum(map(len, pairs.values())), 'prediction')}.",
        findings=tuple(_findings(pairs)),
        sections=(Section("predicted", "Predicted and known", drawn, tuple(numbered)),),
        left_out=tuple(f"Not simulated: {why}" for why in failures),
        machine=(),
        toolchains=(),
        method=(
            "An error is what was predicted over what is known, less one. Cells that may have set "
            "numbers of the cluster file show how well it was fitted, all others how well it "
            "predicts.",
        ),
        provenance=tuple(provenance),
    )


def of_cells(cells: Sequence[PredictedCell]) -> dict[str, list[PredictedCell]]:
    """Cells by whether they may have set numbers of the cluster file."""
    names = {FITTED: True, ONLY_PREDICTED: False}
    found = {name: [c for c in cells if c.fitted == fitted] for name, fitted in names.items()}
    return {name: own for name, own in found.items() if own}


def _findings(pairs: Mapping[str, Sequence[PredictedCell | PredictedTime]]) -> Iterator[Finding]:
    for name, own in pairs.items():
        found = Errors.of(own)
        if found.median is not None and found.worst is not None:
            yield Finding(
                f"{name[0].upper()}{name[1:]}: {percent(found.median)} off at the median of "
                f"{found.number}, {percent(found.worst)} at worst."
            )


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
                Axis(f"known ({unit})", "log"),
                Axis(f"predicted ({unit})", "log"),
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
        notes=(f"Dashed: as predicted, and {percent(BAND)} more and less.",),
    )
