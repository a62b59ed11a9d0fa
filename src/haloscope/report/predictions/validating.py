# SPDX-License-Identifier: BSD-3-Clause
"""The report of a validation: predicted over known values, and their errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from haloscope.analysis.validation.predictions import (
    RELATIVE,
    Errors,
    KeptError,
    KeptPredictions,
    PredictedCell,
    PredictedTime,
)
from haloscope.analysis.validation.published import called
from haloscope.findings.finding import Finding
from haloscope.grouped import grouped
from haloscope.quantities import count, listed, percent
from haloscope.report.document import Document, Section
from haloscope.report.predictions.prediction_errors import FITTED, ONLY_PREDICTED
from haloscope.topics import arranged, predicted
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, Mark, second_ticks
from haloscope.topics.common.notebook import REPLICATES
from haloscope.topics.common.table import Table

BAND = 0.1


def of_paper(
    title: str,
    cells: Sequence[PredictedCell],
    tables: Sequence[Table],
    provenance: Sequence[tuple[str, str]],
    clusters: Mapping[str, Sequence[str]],
    left_out: Sequence[str] = (),
) -> Document:
    """Return the report on predictions of published cells: a figure per unit and reading."""
    shown = [one for one in cells if one.predicted is None or one.telling]
    figures: list[Figure] = []
    for reading, own in grouped(shown, _read).items():
        pairs = grouped(own, lambda one: FITTED if one.fitted else ONLY_PREDICTED)
        figures += _figures(pairs, "published", reading)
    method = (
        "Error: predicted / published - 1.",
        "Cells that were used to set values in the cluster file show the quality of the fit; "
        "all others show the quality of the prediction.",
    )
    names = sorted({name for own in clusters.values() for name in own})
    return _document(
        f"{title}, simulated on {listed(names)}",
        sum(one.predicted is not None for one in cells),
        [*_of_tables(cells, clusters), *_of_fitted(cells)],
        figures,
        tables,
        [*left_out, *_not_simulated(cells), *_short(cells)],
        method,
        provenance,
    )


def of_machine(
    times: Sequence[PredictedTime],
    tables: Sequence[Table],
    kept: KeptPredictions,
    provenance: Sequence[tuple[str, str]],
) -> Document:
    """Return the report on predictions of times measured on this machine: one figure."""
    pairs = grouped(times, lambda one: one.kernel)
    method = (
        "Error: predicted / measured - 1.",
        "Launches of the calibration and of the predicted cases alternate. No predicted "
        "case is part of the calibration.",
    )
    return _document(
        "How accurate are predictions of this machine from its calibration?",
        len(times),
        [*predicted.of_machine(kept)],
        list(_figures(pairs, "measured")),
        tables,
        predicted.not_simulated(kept),
        method,
        provenance,
    )


def _document(
    title: str,
    number_of: int,
    found: Sequence[Finding],
    figures: Sequence[Figure],
    tables: Sequence[Table],
    left_out: Sequence[str],
    method: Sequence[str],
    provenance: Sequence[tuple[str, str]],
) -> Document:
    drawn = [figure for figure in figures if figure.shows_enough]
    if len(drawn) > 1:
        drawn = [replace(figure, id=f"{figure.id}-{k}") for k, figure in enumerate(drawn, 1)]
    numbered = [replace(table, id=f"{table.id}-{k}") for k, table in enumerate(tables, start=1)]
    return Document(
        title=title,
        summary=f"{count(number_of, 'prediction')}.",
        findings=tuple(arranged(found)),
        sections=(Section("predicted", "Predicted and known", tuple(drawn), tuple(numbered)),),
        left_out=tuple(left_out),
        machine=(),
        toolchains=(),
        method=tuple(method),
        provenance=tuple(provenance),
    )


def _of_tables(
    cells: Sequence[PredictedCell], clusters: Mapping[str, Sequence[str]]
) -> Iterator[Finding]:
    for table in dict.fromkeys(cell.table for cell in cells):
        own = [cell for cell in cells if cell.table == table and not cell.fitted]
        where = f", simulated on {listed(clusters[table])}" if table in clusters else ""
        yield from _by_reading(f"Prediction error, {called(table)}{where}", own, f"error.{table}")


def _of_fitted(cells: Sequence[PredictedCell]) -> Iterator[Finding]:
    own = [cell for cell in cells if cell.fitted]
    question = "Error of cells that were used to set values in the cluster file"
    yield from _by_reading(question, own, "fitted")


def _by_reading(question: str, cells: Sequence[PredictedCell], kind: str) -> Iterator[Finding]:
    readings = grouped(cells, _read)
    relative = any(cell.kind == RELATIVE for cell in cells)
    for reading, own in readings.items():
        named = reading and (relative or len(readings) > 1)
        if _known(own):
            found = _off(f"{question}, {reading}" if named else question, own)
            yield replace(found, kind=f"{kind}.{reading}" if named else kind)


def _read(cell: PredictedCell) -> str:
    if cell.kind != RELATIVE:
        return cell.reading
    return f"{cell.reading}, the time over that on {count(int(str(cell.keys['over'])), 'node')}"


def _known(own: Sequence[PredictedCell]) -> bool:
    return Errors.of(own).median is not None


def _off(question: str, own: Sequence[PredictedCell]) -> Finding:
    kept = [KeptError("", "", one.error) for one in own if one.error is not None]
    return predicted.off(question, kept, signs=not any(one.fitted for one in own))


def _not_simulated(cells: Sequence[PredictedCell]) -> Iterator[str]:
    why = Counter(cell.problem or "no reason recorded" for cell in cells if cell.predicted is None)
    for reason, number_of in why.items():
        yield f"Not simulated: {count(number_of, 'cell')}: {reason}"


def _short(cells: Sequence[PredictedCell]) -> Iterator[str]:
    """Yield notes on cells printed with too few digits for an error, which are in no figure."""
    short = [cell for cell in cells if not cell.telling and cell.predicted is not None]
    if short:
        alike = sum(bool(cell.as_printed) for cell in short)
        yield (
            f"Without an error and not drawn: {count(len(short), 'cell')}, because their "
            f"last printed digit is too coarse; {alike} would be printed as published."
        )


def _figures(
    pairs: Mapping[str, Sequence[PredictedCell | PredictedTime]], known: str, reading: str = ""
) -> Iterator[Figure]:
    units: dict[str, dict[str, list[Mark]]] = {}
    for name, own in pairs.items():
        for one in own:
            unit, mark = _mark(one)
            if mark is not None:
                units.setdefault(unit, {}).setdefault(name, []).append(mark)
    for unit, by_name in units.items():
        yield _figure(unit, by_name, known, reading)


def _mark(one: PredictedCell | PredictedTime) -> tuple[str, Mark | None]:
    """Return the unit, and predicted over known if a logarithmic axis can show both."""
    drawn = None
    if isinstance(one, PredictedTime):
        known, predicted, unit = one.measured.value, one.predicted_s, "s"
    else:
        known, predicted, unit, drawn = one.published, one.predicted or 0.0, one.unit, one.drawn
    if min(known, predicted) <= 0:
        return unit, None
    if drawn is None:
        return unit, Mark(known, predicted)
    return unit, Mark(known, predicted, drawn.low, drawn.high)


def _axis(what: str, unit: str, every: Sequence[float]) -> Axis:
    """Return a logarithmic axis; for seconds each tick has a unit, because their range is large."""
    if unit != "s":
        return Axis(what if unit == "times" else f"{what} ({unit})", "log")
    return Axis(what, "log", second_ticks(every))


_UNITS = {"s": "", "times": ""}
"""Units in titles; empty if the ticks have them or the reading names them."""


def _figure(unit: str, by_name: Mapping[str, Sequence[Mark]], known: str, reading: str) -> Figure:
    """Return a figure of predicted over known, and of their ratio, which shows errors of some per
    cent.
    """
    every = [mark for own in by_name.values() for mark in own]
    values = [value for mark in every for value in (mark.x, mark.y)]
    x = _axis(known, unit, values)
    ratios = {name: [_over_known(mark) for mark in own] for name, own in by_name.items()}
    within = sum(abs(mark.y - 1) <= BAND for own in ratios.values() for mark in own)
    over = f"Predicted / {known}"
    name = unit.replace("/", "_")
    return Figure(
        kind="predicted",
        title=", ".join(text for text in (over, _UNITS.get(unit, f"in {unit}"), reading) if text),
        panels=(
            Lines(
                f"predicted-{name}",
                over,
                x,
                _axis("predicted", unit, values),
                (*_bands(min(values), max(values), lambda x: x), *_scattered(by_name)),
            ),
            Lines(
                f"ratio-{name}",
                "Ratio",
                x,
                Axis(f"predicted / {known}", "linear", from_zero=False),
                (*_bands(min(values), max(values), lambda _: 1.0), *_scattered(ratios)),
            ),
        ),
        fewest=1,
        alt=f"{count(len(every), 'prediction')} against {known} values: {within} within "
        f"{percent(BAND)}.",
        notes=(
            f"Dashed: predicted = {known}; dotted: ± {percent(BAND)}.",
            *([f"Bars: {REPLICATES}"] if any(m.low is not None for m in every) else []),
        ),
    )


def _over_known(mark: Mark) -> Mark:
    low, high = (None if end is None else end / mark.x for end in (mark.low, mark.high))
    return Mark(mark.x, mark.y / mark.x, low, high)


def _bands(low: float, high: float, equal: Callable[[float], float]) -> Iterator[Curve]:
    for name, factor in (
        ("equal", 1.0),
        (f"± {percent(BAND)}", 1 + BAND),
        (f"± {percent(BAND)}", 1 - BAND),
    ):
        marks = tuple(Mark(x, factor * equal(x)) for x in (low, high))
        yield Curve(name, marks, bound=True)


def _scattered(by_name: Mapping[str, Sequence[Mark]]) -> Iterator[Curve]:
    """Yield each kind of prediction with its own colour; cells of all pages have the same."""
    for style, (name, own) in enumerate(by_name.items()):
        yield Curve(name, tuple(own), joined=False, style=_STYLES.get(name, style))


_STYLES = {FITTED: 0, ONLY_PREDICTED: 1}
