# SPDX-License-Identifier: BSD-3-Clause
"""Gain of a mapping computed from the traffic: a randomly numbered sparse matrix on a fat tree.

usage: .venv/bin/python bench/mapping.py [--on helios] [--edge 8]

The matrix is a 7-point stencil in cubes of EDGE^3 rows, one per rank. The cubes are numbered at
random, so block mapping places ranks that exchange no data on the same node. `haloscope advise`
counts the messages between ranks in one simulation and computes mappings for this traffic. It rates
each mapping by the bytes on its busiest link, and then simulates the mappings. The counts include
the set-up of the matrix.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path

import numpy as np
from advice import haloscope
from scipy.io import mmwrite
from scipy.sparse import coo_matrix, csr_matrix
from turns import write_page

from haloscope.quantities import count, seconds, size

NODES, PPN = 64, 16
GRID = (16, 8, 8)
AIM = 1.3


def numbered(edge: int, seed: int) -> csr_matrix:
    """A 7-point stencil over cubes of rows, the cubes numbered at random."""
    shape = tuple(edge * extent for extent in GRID)
    at = np.indices(shape).reshape(3, -1)
    order = [*range(NODES * PPN)]
    random.Random(seed).shuffle(order)
    cube = np.ravel_multi_index(tuple(at // edge), GRID)
    row = np.asarray(order)[cube] * edge**3 + np.ravel_multi_index(tuple(at % edge), (edge,) * 3)
    number = row.reshape(shape)
    pairs = []
    for axis in range(3):
        low = np.take(number, range(shape[axis] - 1), axis).ravel()
        high = np.take(number, range(1, shape[axis]), axis).ravel()
        pairs += [(low, high), (high, low)]
    rows = np.concatenate([row, *(one for one, _ in pairs)])
    columns = np.concatenate([row, *(other for _, other in pairs)])
    values = np.concatenate([np.full(row.size, 6.0), np.full(rows.size - row.size, -1.0)])
    return coo_matrix((values, (rows, columns))).tocsr()


def main() -> None:
    """Ask for advice, write docs/bench/mapping.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--on", default="helios")
    parser.add_argument("--edge", type=int, default=8)
    arguments = parser.parse_args()
    matrix = numbered(arguments.edge, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "matrix.mtx"
        mmwrite(file, matrix)
        asked = ["advise", "spmv", f"matrix={file}", "overlap=none", "repetitions=1"]
        asked += ["--tasks", str(NODES * PPN), "--most-nodes", str(NODES), "--on", arguments.on]
        answer = json.loads(haloscope(*asked, "--json", "--out", f"{folder}/advice"))
    options = {one["mapping"]: one for one in answer["options"] if one["layout"]["threads"] == 1}
    block = options["block"]
    lines = [
        f"The matrix has {count(matrix.shape[0], 'row')} and {matrix.nnz:,} nonzeros, and "
        f"{NODES * PPN} ranks run on {NODES} nodes of {arguments.on}. {len(answer['options'])} "
        "layouts were compared.",
        "The column 'predicted' lists the bytes on the busiest link with block mapping, divided "
        "by those with the mapping of the row. The column 'simulated' lists the same ratio of "
        "the simulated times.",
        "",
        "| mapping | between nodes | bytes x links | busiest link | predicted | product "
        "| simulated |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, one in options.items():
        load, busiest = one["traffic"], block["traffic"]["busiest_link"]
        lines.append(
            f"| {name} | {size(load['between_nodes'])} | {size(load['byte_hops'])} | "
            f"{size(load['busiest_link'])} | {busiest / load['busiest_link']:.2f}x | "
            f"{seconds(one['time_s'])} | {block['time_s'] / one['time_s']:.2f}x |"
        )
    best = max(block["time_s"] / one["time_s"] for one in options.values())
    verdict = "met" if best >= AIM else "not met"
    advised = answer["advised"]["mapping"]
    lines += [
        "",
        f"haloscope advises the mapping '{advised}'. Its speedup over block mapping is "
        f"{best:.2f}x. The aim of {AIM}x is {verdict}.",
    ]
    title = "Mapping a randomly numbered matrix, simulated"
    write_page("mapping", title, lines, __doc__.split("\n\n", 2)[2].replace("\n", " ").strip())


if __name__ == "__main__":
    main()
