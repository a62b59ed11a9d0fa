# SPDX-License-Identifier: BSD-3-Clause
"""Cells of published tables with messages in GPU memory, as simulated cases.

For launches the paper has an example, which is predicted with its assumptions.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from haloscope.analysis.validation.predictions import LATENCY, PredictedCell
from haloscope.clusters.quantity import Quantity, SetBy
from haloscope.clusters.schema import Cluster
from haloscope.layout import Layout
from haloscope.papers.tables import PaperTable
from haloscope.predict.unpredicted import Unpredicted
from haloscope.study.case import Value
from haloscope.topics.contrast import PRINTED_OVERLAPS
from haloscope.topics.star_forests import OPTIONS
from haloscope.topics.star_forests.parts import FIGURE_15

_LAYOUTS = MappingProxyType(
    {
        "intra_gpu": Layout(ppn=2),
        "intra_socket": Layout(ppn=2),
        "inter_socket": Layout(ppn=2, bind="spread"),
        "inter_node": Layout(nodes=2),
    }
)
"""Layouts of two ranks, by the paper's names of placements."""
_KERNELS = MappingProxyType({"sf_dmda": "sf_grid"})
"""Kernels with another name here."""
_REACH = 20_000
"""_REACH is the largest distance from the diagonal in the generated matrix that represents the
published one, of which only rows and nonzeros are known (assumed). With a tenth of it all three
times are 0.3 % shorter, with seven times as much 2.5 % longer; b is 16 us earlier than a with each.
"""
_NO_TIME_S = 1e-12
"""_NO_TIME_S represents a synchronisation that takes no time: quantities must be positive."""
_SIDE = 3
"""_SIDE is the number of ranks along each axis of the published grid."""


def unpredicted(table: PaperTable, said: Mapping[str, Any]) -> Unpredicted:
    """Return a cell and its case: all sizes of two ranks in one case, each subgrid in a separate
    one.

    said: facts of the table, and keys and value of the cell.
    """
    kernel = _KERNELS.get(said["kernel"], said["kernel"])
    published = said["time_s"] if "time_s" in said else said["latency_s"]
    cell = PredictedCell(
        *(table.id, LATENCY, {key: said[key] for key in table.keys}, float(published)),
        step=table.resolution_s or 0.0,
    )
    if kernel == "launches":
        name = f"{said['operation']}_s"
        return Unpredicted(
            *(cell, kernel, FIGURE_15, Layout()), lambda record: float(record["result"][name])
        )
    given: dict[str, Value] = {"memory": "device"}
    if kernel == "sf_grid":
        ppn = _SIDE * _SIDE // said["nodes"]
        given |= {"n": said["n"], "topology": f"{_SIDE}x{_SIDE}"}
        return _at(cell, kernel, given, Layout(nodes=said["nodes"], ppn=ppn), said["n"])
    if kernel == "spmv":
        rows, nonzeros = said["rows"], said["nonzeros"]
        given |= {"matrix": "random", "n": rows, "row_length": round(nonzeros / rows)}
        given |= {"bandwidth": _REACH, "overlap": PRINTED_OVERLAPS[said["overlap"]]}
        layout = Layout(nodes=said["nodes"], ppn=said["ranks"] // said["nodes"], bind="spread")
        return Unpredicted(cell, kernel, given, layout)
    sizes = sorted({int(str(row["size_bytes"])) for row in table.rows})
    given["sizes"] = ",".join(map(str, sizes))
    if said.get("placement") == "intra_gpu":
        given["gpus_shared"] = 2
    if "option" in said:
        given["sync"] = next(sync for sync, option in OPTIONS.items() if option == said["option"])
    return _at(cell, kernel, given, _LAYOUTS[said["placement"]], said["size_bytes"])


def as_assumed(table: PaperTable, cluster: Cluster) -> Cluster:
    """Return the cluster as assumed by an example of the paper; unchanged for measured tables."""
    launch_us, gpu = table.facts.get("launch_us"), cluster.node.gpu
    if launch_us is None or gpu is None:
        return cluster
    source = f"{table.paper}, section 6: an assumption of the paper"
    costs = {"launch_s": float(launch_us) * 1e-6, "stream_sync_s": _NO_TIME_S}
    cells = SetBy(paper=table.paper, tables=(table.id,))
    assumed = {
        name: Quantity(value=value, source=source, set_by=(cells,)) for name, value in costs.items()
    }
    node = cluster.node.model_copy(update={"gpu": gpu.model_copy(update=assumed)})
    return cluster.model_copy(update={"node": node})


def _at(
    cell: PredictedCell, kernel: str, given: Mapping[str, Value], layout: Layout, point: int
) -> Unpredicted:
    """Return a case's latency at one of its points. point: its size in bytes, or n."""

    def latency_s(record: Mapping[str, Any]) -> float:
        found = {one.get("n", one["size_bytes"]): one for one in record["points"]}
        return float(found[point]["result"]["latency_s"])

    return Unpredicted(cell, kernel, given, layout, latency_s)
