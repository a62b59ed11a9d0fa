# SPDX-License-Identifier: BSD-3-Clause
"""Published times of sums of three-dimensional arrays: tables I to III of the report."""

from __future__ import annotations

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.published import Library, Reference, source
from haloscope.quantities import number

_SPLITS = {"balanced": "even", "topology": "topology"}
"""Our distributions by the report's: a = 0 and a != 0."""


def published_sum(case: MeasuredCase, library: Library) -> Reference | None:
    """The published interval of a sum's size, ranks, topology and split; None where there is none.

    value: the middle of it.
    """
    size = str(case.settings["size"]).split("x")
    shape = str(case.settings["topology"]).split("x")
    split = _SPLITS.get(str(case.settings["distribution"]))
    for table in library.tables(("matrix_sum",)):
        facts = [str(table.facts.get(key)) for key in ("nx", "ny", "nz", "ranks")]
        for row in table.rows if facts == [*size, str(case.ranks)] else ():
            if [str(row[key]) for key in ("px", "py", "pz")] == shape and row["split"] == split:
                low, high = (float(str(row[key])) for key in ("time_low_s", "time_high_s"))
                text = f"[{number(low)}, {number(high)}] s"
                return Reference((low + high) / 2, text, low, high, source(table))
    return None
