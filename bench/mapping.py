# SPDX-License-Identifier: BSD-3-Clause
"""What a mapping made for the traffic gains: a randomly numbered sparse matrix on a fat tree.

usage: .venv/bin/python bench/mapping.py [--on helios] [--edge 8]

The matrix is a 7-point stencil in cubes of EDGE^3 rows, one per rank. The cubes are numbered at
random, so that block mapping puts ranks that exchange nothing on a node. What a product sends
between ranks follows from the matrix. Each mapping is judged by it first, as advise --profile does;
then products are simulated with it.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from advice import haloscope
from scipy.io import mmwrite
from scipy.sparse import coo_matrix, csr_matrix
from turns import write_page

from haloscope.advice import counted_bytes, requests
from haloscope.advice.candidates import Candidate
from haloscope.advice.counted_bytes import CountedBytes
from haloscope.analysis.dossier import open_folder
from haloscope.clusters import file as cluster_file
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


def traffic(matrix: csr_matrix, ranks: int) -> CountedBytes:
    """The bytes between ranks in one product: each column of another rank once, 8 bytes."""
    each = matrix.shape[0] // ranks
    pairs = matrix.tocoo()
    to, column = pairs.row // each, pairs.col
    apart = column // each != to
    needed = np.unique(np.stack([to[apart], column[apart]]), axis=1)
    sent = np.full(needed.shape[1], 8)
    found = coo_matrix((sent, (needed[1] // each, needed[0])), shape=(ranks, ranks))
    return CountedBytes(found.tocsr(), 0)


def mappings(sent: CountedBytes, cluster: str) -> Iterator[tuple[str, Candidate]]:
    """Block, round robin, METIS' cut, and SharedMap's where its library is there."""
    where = cluster_file.find(cluster)
    made = {
        "METIS": counted_bytes.by_graph(sent, NODES),
        "SharedMap": counted_bytes.by_hierarchy(sent, NODES, where),
    }
    for name in ("block", "round_robin"):
        yield name.replace("_", " "), Candidate(NODES * PPN, NODES, 1, "spread", name)
    for name, nodes in made.items():
        if nodes is not None:
            listed = ",".join(map(str, nodes))
            yield name, Candidate(NODES * PPN, NODES, 1, "spread", listed)


def main() -> None:
    """Predict, simulate, write docs/bench/mapping.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--on", default="helios")
    parser.add_argument("--edge", type=int, default=8)
    arguments = parser.parse_args()
    matrix = numbered(arguments.edge, seed=1)
    sent = traffic(matrix, NODES * PPN)
    cluster = cluster_file.find(arguments.on)
    tried = dict(mappings(sent, arguments.on))
    with tempfile.TemporaryDirectory() as folder:
        times = simulated(Path(folder), matrix, arguments.on, tried)
    loads = {
        name: counted_bytes.load(sent, requests.layout(one).nodes_of_ranks, cluster)
        for name, one in tried.items()
    }
    block, first = loads["block"], times["block"]
    lines = [
        f"{count(matrix.shape[0], 'row')}, {matrix.nnz:,} nonzeros, {NODES * PPN} ranks on {NODES} "
        f"nodes of {cluster.name}.",
        "Predicted: the bytes of the busiest node with block mapping over those with this one.",
        "",
        "| mapping | between nodes | between switches | busiest node | predicted | product "
        "| simulated |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, load in loads.items():
        switches = "" if load.between_switches is None else size(load.between_switches)
        lines.append(
            f"| {name} | {size(load.between_nodes)} | {switches} | {size(load.busiest)} | "
            f"{block.busiest / load.busiest:.2f}x | {seconds(times[name])} | "
            f"{first / times[name]:.2f}x |"
        )
    best = max(first / one for one in times.values())
    verdict = "met" if best >= AIM else "not met"
    lines += ["", f"Aim: {AIM}x over block mapping, {verdict}: {best:.2f}x."]
    title = "Mapping a randomly numbered matrix, simulated"
    write_page("mapping", title, lines, __doc__.split("\n\n", 2)[2].replace("\n", " ").strip())


def simulated(
    folder: Path, matrix: csr_matrix, cluster: str, tried: dict[str, Candidate]
) -> dict[str, float]:
    """Seconds of a product with each mapping."""
    mmwrite(folder / "matrix.mtx", matrix)
    words = ['title = "Mappings"\nlaunches = 1\n']
    for one in tried.values():
        keys = ", ".join(
            f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
            for key, value in one.keys().items()
        )
        params = f'matrix = "{folder}/matrix.mtx", overlap = "none", repetitions = 1'
        words.append(f'[[runs]]\nkernel = "spmv"\nparams = {{ {params} }}\nlayout = {{ {keys} }}\n')
    (folder / "study.toml").write_text("\n".join(words))
    out = folder / "out"
    haloscope("run", str(folder / "study.toml"), "--on", cluster, "--no-report", "--out", str(out))
    cases = open_folder(out).cases
    return {
        name: case.time_s
        for name, one in tried.items()
        for case in cases
        if case.settings.get("mapping") == one.mapping
    }


if __name__ == "__main__":
    main()
