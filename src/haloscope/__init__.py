# SPDX-License-Identifier: BSD-3-Clause
"""haloscope: measure and simulate the communication performance of parallel (MPI) programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    import polars

    from haloscope.records.rows import Per

__version__ = "0.1.0"
"""The version is stored only here: reading the installed package's metadata would double the time
of --help.
"""


def load(folder: str | PathLike[str], rows: Per = "launches") -> polars.DataFrame:
    """Load a result folder as a polars data frame, with the columns of `haloscope export`.

    rows: "launches" for a row per launch (per size of a launch that swept several), "repetitions"
    for a row per timed repetition. Raise UserError if the folder has no records, or if polars is
    not installed: pip install 'haloscope[data]'. Raise ValueError for other values of `rows`.
    """
    from pathlib import Path

    from haloscope.records import rows as table

    if rows not in table.PER:
        raise ValueError(f"rows = {rows!r}: expected one of {', '.join(table.PER)}")
    return table.frame(table.rows(Path(folder), rows))
