"""Star forests by message size, and what the report on Summit printed of them."""

from __future__ import annotations

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.published import Library, Reference, source
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import printed_seconds

PETSC_DEFAULT = "B"
"""The synchronisation that PETSc takes by itself, of those in Table 2."""

OF_GPUS = "Published times are of GPU memory: how they grow can be compared, the times can not."
"""What is said wherever these stand beside ours."""

PRINTED = {
    "same-cache": "intra_socket",
    "same-socket": "intra_socket",
    "other-socket": "inter_socket",
    "other-node": "inter_node",
}
"""Placements of two ranks as the paper's tables call them."""


def there_and_back(case: MeasuredCase) -> dict[int, Swept]:
    """The points of a case by size: the time of each is that of a step, there and back."""
    return {point.size_bytes: point for point in sweep(case)}


def published_latency(case: MeasuredCase, at: int, library: Library) -> Reference | None:
    """What the paper printed for a size, or for n; GPU memory, so not to be raced against."""
    if case.settings.get("topology", "3x3") not in ("2d", "3x3"):
        return None
    nodes = case.settings.get("nodes")
    apart = "other-node" if isinstance(nodes, int) and nodes > 1 else "same-socket"
    where = {
        "size_bytes": at,
        "n": at,
        "placement": PRINTED.get(str(case.settings.get("placement") or apart)),
        "option": PETSC_DEFAULT,
        "kernel": case.kernel,
        "nodes": nodes,
    }
    for table in library.tables(("pingpong", "neighbours")):
        facts = str(table.facts.get("kernel", case.kernel)).replace("sf_dmda", "sf_grid")
        keys = {key: where[key] for key in table.keys if key in where}
        if facts != case.kernel or len(keys) < len(table.keys):
            continue
        cell = table.cell("latency_s", **keys)  # type: ignore[arg-type]
        if cell is not None and isinstance(cell.value, float):
            text = printed_seconds(cell.value, table.resolution_s)
            return Reference(cell.value, text, cell.value, cell.value, source(table))
    return None
