"""Models of a message's time: every parameter with its interval, range and source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from haloscope.evidence import Facet, MeasuredCase, facets
from haloscope.fits import bandwidth_curve, message_models
from haloscope.models.model import Parameter
from haloscope.quantities import BYTES, BYTES_PER_SECOND, PLAIN, SECONDS, Scale, percent, size
from haloscope.tables.context import Context
from haloscope.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.tables.notebook import Notebook

_WORDS = {
    "alpha_s": "latency α",
    "latency_s": "latency L",
    "send_overhead_s": "overhead of sending o_s",
    "receive_overhead_s": "overhead of receiving o_r",
    "gap_s": "gap between messages g",
    "gap_s_per_byte": "gap between bytes G",
    "bandwidth_bytes_per_s": "bandwidth B",
    "peak_bytes_per_s": "peak bandwidth",
    "peak_bytes": "size of the peak",
    "asymptotic_bytes_per_s": "asymptotic bandwidth",
    "half_bandwidth_bytes": "half-bandwidth size n½",
    "hump_ratio": "in-cache hump, peak over asymptote",
    "hump_fall_bytes": "size where the hump falls",
}
PER_BYTE: Scale = ((1e-6, "µs/B"), (1e-9, "ns/B"), (1e-12, "ps/B"))
_SCALES: tuple[tuple[str, Scale], ...] = (
    ("_s_per_byte", PER_BYTE),
    ("_bytes_per_s", BYTES_PER_SECOND),
    ("_bytes", BYTES),
    ("_s", SECONDS),
)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table a ping-pong that has sizes enough to be fitted, and a run of loggp."""
    own = [case for case in cases if message_models(case)]
    return [_table(part, context) for part in facets(own, ())]


def _table(part: Facet, context: Context) -> Table:
    (case,) = part.cases
    notebook = Notebook(part.cases, context.all_cases)
    return Table(
        id="fits",
        kind="fits",
        title=context.title("Models of a message's time", part.label),
        columns=(
            Column("model", "model", align="left"),
            Column("piece", "sizes", align="left"),
            Column("parameter", "parameter", align="left"),
            Column("value", "value"),
            Column("misfit", "misfit"),
        ),
        rows=tuple(_rows(case, notebook)),
        notes=notebook.notes(),
        stub=2,
    )


def _rows(case: MeasuredCase, notebook: Notebook) -> Iterator[tuple[Cell, ...]]:
    for name, model in message_models(case):
        whole = f"{size(model.valid[0])} to {size(model.valid[1])}"
        misfit = plain(model.residuals.relative_rms, percent(model.residuals.relative_rms))
        for index, parameter in enumerate(model.parameters):
            yield (
                label(name if index == 0 else "", name),
                label(parameter.piece or whole),
                *_valued(parameter, case, notebook),
                misfit if index == 0 else missing(""),
            )
        notebook.note(f"{name}: {model.source}.")
        for warning in model.warnings:
            notebook.note(f"{name}: {warning}")
    if found := bandwidth_curve(case):
        whole = f"{size(found.valid[0])} to {size(found.valid[1])}"
        for index, parameter in enumerate(found.parameters):
            name = found.name if index == 0 else ""
            cells = _valued(parameter, case, notebook)
            yield (label(name, found.name), label(whole), *cells, missing(""))
        notebook.note(f"{found.name}: {found.source}.")
        for warning in found.warnings:
            notebook.note(f"{found.name}: {warning}")
    notebook.note("misfit: root mean square of the relative residuals.")


def _valued(parameter: Parameter, case: MeasuredCase, notebook: Notebook) -> tuple[Cell, Cell]:
    scale = next((s for ending, s in _SCALES if parameter.name.endswith(ending)), PLAIN)
    name = label(_WORDS.get(parameter.name, parameter.name), parameter.name)
    if not isfinite(parameter.estimate.value):
        return name, missing("unbounded")
    return name, notebook.estimate(parameter.estimate, case, scale)
