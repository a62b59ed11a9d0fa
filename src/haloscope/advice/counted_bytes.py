# SPDX-License-Identifier: BSD-3-Clause
"""Counted traffic between ranks, the network load of a mapping, and optimised mappings."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pymetis
from scipy.sparse import coo_matrix, csr_matrix

from haloscope.clusters.network import NetworkLevel
from haloscope.clusters.schema import Cluster
from haloscope.errors import Problem, UserError
from haloscope.layout import shares
from haloscope.quantities import listed
from haloscope.study.values import COUNT_LIMIT

_COLUMNS = ("from", "to", "bytes", "from_world", "to_world")


@dataclass(frozen=True)
class CountedBytes:
    """Bytes between the ranks of one world, as counted by `haloscope profile`.

    matrix: bytes from row to column, without those that ranks send to themselves. left_out: bytes
    within and between other worlds.
    """

    matrix: csr_matrix
    left_out: int

    @property
    def ranks(self) -> int:
        """Number of ranks of the world."""
        return int(self.matrix.shape[0])


@dataclass(frozen=True)
class Load:
    """Load that a mapping of ranks puts on the network, in bytes.

    between_nodes: bytes sent from one node to another. byte_hops: those bytes times the links of
    their routes. busiest_link: bytes in one direction of the most loaded link, if routes of a fat
    tree use parallel links equally.
    """

    between_nodes: int
    byte_hops: int
    busiest_link: float


def read(path: Path) -> CountedBytes:
    """Read the traffic of the largest world from `traffic.csv`, or from a folder that contains it.

    Raise UserError for an invalid file, or if no bytes were sent.
    """
    file = path / "traffic.csv" if path.is_dir() else path
    remedy = "give a folder written by haloscope profile, or its traffic.csv"
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                what = f"missing {'column' if len(missing) == 1 else 'columns'} {listed(missing)}"
                raise UserError(Problem(f"--profile {file}", what, remedy))
            rows = [tuple(int(row[name] or 0) for name in _COLUMNS) for row in reader]
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        what = f"cannot read this file: {why}"
        raise UserError(Problem(f"--profile {file}", what, remedy)) from error
    wrong = (row for row in rows if min(row) < 0 or max(row[:2]) >= COUNT_LIMIT)
    if (row := next(wrong, None)) is not None:
        values = ", ".join(
            f"{name} = {value}" for name, value in zip(_COLUMNS, row[:3], strict=False)
        )
        what = f"a row contains a value that is out of range: {values}"
        raise UserError(Problem(f"--profile {file}", what, remedy))
    sizes: dict[int, int] = {}
    for _, _, sent, world, to_world in rows:
        if world == to_world:
            sizes[world] = sizes.get(world, 0) + sent
    own = [row for row in rows if row[3] == row[4] == max(sizes, key=sizes.__getitem__, default=0)]
    own = [row for row in own if row[0] != row[1] and row[2]]
    if not own:
        what = "the profile contains no messages between different ranks"
        raise UserError(
            Problem(f"--profile {file}", what, "profile a run whose ranks exchange messages")
        )
    found = of_pairs([row[:3] for row in own], 1 + max(max(row[0], row[1]) for row in own))
    return replace(found, left_out=sum(row[2] for row in rows) - int(found.matrix.sum()))


def of_pairs(pairs: Sequence[Sequence[int]], ranks: int) -> CountedBytes:
    """Return the traffic of `ranks` ranks from triples of sender, receiver, and bytes."""
    apart = [one for one in pairs if one[0] != one[1]]
    senders, receivers, amounts = zip(*apart, strict=True) if apart else ((), (), ())
    found = coo_matrix((amounts, (senders, receivers)), shape=(ranks, ranks), dtype=np.int64)
    return CountedBytes(found.tocsr(), 0)


def load(traffic: CountedBytes, nodes_of_ranks: Sequence[int], cluster: Cluster) -> Load:
    """Return the network load of a mapping on the first nodes of a cluster."""
    pairs = traffic.matrix.tocoo()
    node = np.asarray(nodes_of_ranks)
    apart = node[pairs.row] != node[pairs.col]
    sender, receiver = node[pairs.row[apart]], node[pairs.col[apart]]
    sent = pairs.data[apart].astype(np.int64)
    network = cluster.network
    if network is None or not sent.size:
        return Load(int(sent.sum()), 0, 0.0)
    if network.topology == "torus":
        hops, busiest = _on_torus(network.dimensions, sender, receiver, sent)
    else:
        levels = network.levels or (NetworkLevel(children=cluster.nodes),)
        hops, busiest = _on_tree(levels, sender, receiver, sent)
    return Load(int(sent.sum()), hops, busiest)


_Numbers = npt.NDArray[np.int64]


def _on_tree(
    levels: Sequence[NetworkLevel], sender: _Numbers, receiver: _Numbers, sent: _Numbers
) -> tuple[int, float]:
    """Return byte hops and the bytes of the busiest link of a tree, from the nodes up."""
    hops, busiest, size, switches = 0, 0.0, 1, 1
    for level in levels:
        away = sender // size != receiver // size
        links = switches * level.parents * level.links
        for end in (sender, receiver):
            through = np.bincount(end[away] // size, sent[away])
            busiest = max(busiest, float(through.max(initial=0)) / links)
        hops += 2 * int(sent[away].sum())
        size, switches = size * level.children, switches * level.parents
    return hops, busiest


def _on_torus(
    dimensions: Sequence[int], sender: _Numbers, receiver: _Numbers, sent: _Numbers
) -> tuple[int, float]:
    """Return the same for a torus. Routes follow the dimensions in turn, as in SimGrid."""
    hops, busiest, stride, at = 0, 0.0, 1, sender.copy()
    for length in dimensions:
        ahead = (receiver // stride - at // stride) % length
        step = np.where(2 * ahead <= length, 1, -1)
        steps = np.minimum(ahead, length - ahead)
        hops += int((steps * sent).sum())
        carried = np.zeros(2 * prod(dimensions))
        for taken in range(int(steps.max())):
            going = taken < steps
            here = at[going] // stride % length
            np.add.at(carried, 2 * at[going] + (step[going] > 0), sent[going])
            at[going] += ((here + step[going]) % length - here) * stride
        busiest, stride = max(busiest, float(carried.max())), stride * length
    return hops, busiest


def least_seconds(found: Load, cluster: Cluster) -> float | None:
    """Return a lower bound on the time of all messages: bytes of the busiest link / its
    bandwidth.
    """
    network = cluster.network
    return (
        None if network is None else found.busiest_link / network.link_bandwidth_bytes_per_s.value
    )


def made_for(traffic: CountedBytes, nodes: int, cluster: Cluster) -> Mapping[str, list[int]]:
    """Return mappings computed for this traffic, by name: the node of every rank.

    graph: minimum cut by METIS. hierarchy: SharedMap's, if its library is installed and the nodes
    have equal numbers of ranks.
    """
    found = {"graph": by_graph(traffic, nodes)}
    if (shared := by_hierarchy(traffic, nodes, cluster)) is not None:
        found["hierarchy"] = shared
    return found


def by_graph(traffic: CountedBytes, nodes: int) -> list[int]:
    """Return the node of every rank such that few bytes are sent between nodes (METIS).

    Each node gets the number of ranks that shares() gives it. METIS' parts are adjusted by the
    moves that add the fewest bytes between nodes.
    """
    both = (traffic.matrix + traffic.matrix.T).tocsr()
    adjacency = pymetis.CSRAdjacency(both.indptr, both.indices)
    _, parts = pymetis.part_graph(nodes, adjacency, eweights=_weights(both), recursive=nodes <= 8)
    return _evened(both, parts, shares(traffic.ranks, nodes))


FAR = 10
"""FAR is the cost of a byte relative to the next lower level of the machine. SharedMap minimises
the sum over bytes.
"""


def by_hierarchy(
    traffic: CountedBytes, nodes: int, cluster: Cluster, seed: int = 1
) -> list[int] | None:
    """Return the node of every rank such that ranks with much traffic share a switch (SharedMap).

    None without the library (optional dependency `mapping`), if nodes have unequal numbers of
    ranks, or if the job leaves switches of a fat tree partly filled.
    """
    try:
        from chszlablib import Decomposition, Graph
    except ImportError:
        return None
    each, left = divmod(traffic.ranks, nodes)
    levels = [each, *_below_switches(cluster, nodes)]
    if left or prod(levels) != traffic.ranks:
        return None
    both = (traffic.matrix + traffic.matrix.T).tocoo()
    once = both.row < both.col
    ends = zip(both.row[once].tolist(), both.col[once].tolist(), strict=True)
    weights = _weights(both)[once].tolist()
    edges = [(*pair, weight) for pair, weight in zip(ends, weights, strict=True)]
    graph = Graph.from_edge_list(edges, num_nodes=traffic.ranks)
    distances = [FAR**level for level in range(len(levels))]
    found = Decomposition.process_map(graph, levels, distances, mode="strong", seed=seed)
    parts = (np.asarray(found.assignment) // each).tolist()
    return _evened(both.tocsr(), parts, shares(traffic.ranks, nodes))


def _below_switches(cluster: Cluster, nodes: int) -> list[int]:
    """Return how a job's nodes are divided among switches: nodes per switch, then switches."""
    network = cluster.network
    if network is None or network.topology != "fat_tree":
        return [nodes]
    below = network.levels[0].children
    return [below, nodes // below] if nodes > below and nodes % below == 0 else [nodes]


def _weights(both: coo_matrix | csr_matrix) -> npt.NDArray[np.int64]:
    """Return the weights of edges in bytes, scaled so that their sums fit."""
    most = max(1, int(both.data.max()))
    weights: npt.NDArray[np.int64] = np.maximum(1, both.data * 1_000_000 // most).astype(np.int64)
    return weights


def _evened(both: csr_matrix, parts: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Move vertices until the parts have exactly these sizes; the largest parts get the largest
    sizes.
    """
    found = np.asarray(parts).copy()
    number = len(sizes)
    there = np.bincount(found, minlength=number)
    rank = np.empty(number, int)
    rank[np.argsort(-there, kind="stable")] = np.arange(number)  # the largest part becomes 0
    found = rank[found]
    there = np.bincount(found, minlength=number)
    targets = np.asarray(sorted(sizes, reverse=True))
    while (there > targets).any():
        over = int(np.argmax(there - targets))
        room = np.flatnonzero(there < targets)
        best: tuple[int, int, int] | None = None
        for vertex in np.flatnonzero(found == over):
            row = slice(both.indptr[vertex], both.indptr[vertex + 1])
            to = np.bincount(found[both.indices[row]], both.data[row], number)
            target = int(room[np.argmax(to[room])])
            loss = int(to[over] - to[target])
            if best is None or loss < best[0]:
                best = (loss, int(vertex), target)
        assert best is not None
        _, moved, to_part = best
        found[moved] = to_part
        there[over] -= 1
        there[to_part] += 1
    return [int(node) for node in found]
