# SPDX-License-Identifier: BSD-3-Clause
"""Published latencies of messages round a ring: formula 1 of the ORFEO report."""

from __future__ import annotations

from haloscope.analysis.published import Library, Reference
from haloscope.models.ring import RingLevel
from haloscope.quantities import printed_seconds

_PLACEMENTS = {
    "same-socket": "intra_socket",
    "other-socket": "inter_socket",
    "other-node": "inter_node",
}
"""Our levels by the report's."""


def published_latency(cluster: str | None, level: RingLevel, library: Library) -> Reference | None:
    """What was published of a level of the cluster that is simulated; None where nothing was.

    Of as many processes, as the report's level goes on to hardware threads where ours does not.
    """
    nodes = {
        table.facts.get("node")
        for paper in library.papers
        for table in paper.tables.values()
        if cluster is not None and table.facts.get("cluster_file") == cluster
    }
    for table in library.tables(("ring",)):
        for row in table.rows:
            first, last = int(str(row["ranks_from"])), int(str(row["ranks_to"]))
            alike = row["placement"] == _PLACEMENTS.get(level.name) and row["node"] in nodes
            if alike and first <= level.last_ranks and level.first_ranks <= last:
                value, half = float(str(row["latency_s"])), (table.resolution_s or 0.0) / 2
                text = printed_seconds(value, 2 * half)
                ends = value - half, value + half
                return Reference(value, text, *ends, f"{table.paper}, formula 1")
    return None
