# SPDX-License-Identifier: BSD-3-Clause
"""advise --profile: find which ranks of a profiled program should share a node."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from haloscope.advice import counted_bytes, requests
from haloscope.advice.candidates import Candidate
from haloscope.advice.counted_bytes import CountedBytes, Load
from haloscope.clusters import file as cluster_file
from haloscope.clusters.schema import Cluster
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, an_integer
from haloscope.paths import in_a_shell, write_whole
from haloscope.quantities import count, percent, seconds, size

NO_DIFFERENCE = 0.02
"""NO_DIFFERENCE is the minimum relative difference in bytes between two mappings: METIS' cuts of
the same graph differ by as much.
"""


@dataclass(frozen=True)
class _Mapped:
    """A mapping with its name and its network load."""

    name: str
    candidate: Candidate
    load: Load


def advise(
    profile: Path, place: str, nodes: int | None, out: Path, *, as_json: bool, screen: Screen
) -> int:
    """Compare mappings of a profiled program's ranks on nodes of a cluster; return 0.

    Raise UserError for an invalid profile or cluster, or if the ranks do not fit.
    """
    found = counted_bytes.read(profile)
    if place not in cluster_file.ready() and not place.endswith(".toml"):
        remedy = "name a cluster file (haloscope cluster list), or give its path"
        raise UserError(Problem(f"--on {place}", "is not a cluster", remedy))
    cluster = cluster_file.find(place)
    number = _nodes(found, cluster, nodes)
    mapped = [*_mapped(found, number, cluster)]
    block = mapped[0]
    best = min(mapped, key=lambda one: (one.load.busiest_link, one.load.byte_hops))
    if best.load.busiest_link >= (1 - NO_DIFFERENCE) * block.load.busiest_link:
        best = block
    answer = _as_data(profile, cluster, found, mapped, best)
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "advice.json", json.dumps(answer, indent=1) + "\n")
    for name, content in requests.files(best.candidate).items():
        write_whole(out / name, content)
    if as_json:
        print(json.dumps(answer, indent=1))
    else:
        _show(cluster, found, mapped, best, out, screen)
    return 0


def _nodes(found: CountedBytes, cluster: Cluster, asked: int | None) -> int:
    """Return the requested number of nodes, by default the fewest."""
    fewest = -(-found.ranks // cluster.node.cores)
    most = min(found.ranks, cluster.nodes)
    number = asked or fewest
    if not fewest <= number <= most:
        what = f"{count(found.ranks, 'rank')} do not fit"
        if fewest > most:
            cores = count(cluster.nodes * cluster.node.cores, "core")
            remedy = f"use a larger cluster ({cluster.name} has {cores})"
        else:
            remedy = an_integer(fewest, most)
        raise UserError(Problem(f"{count(number, 'node')} of {cluster.name}", what, remedy))
    return number


def _mapped(found: CountedBytes, nodes: int, cluster: Cluster) -> Iterator[_Mapped]:
    """Yield every mapping that is available here, block first."""
    mappings = {"block": "block"}
    if nodes > 1:
        mappings |= {name: name for name in ("round_robin", "random")}
        made = counted_bytes.made_for(found, nodes, cluster)
        mappings |= {name: ",".join(map(str, where)) for name, where in made.items()}
    for name, mapping in mappings.items():
        seed = 1 if name == "random" else None
        one = Candidate.of(found.ranks, nodes, mapping=mapping, mapping_seed=seed)
        yield _Mapped(name, one, counted_bytes.load(found, one.nodes_of_ranks, cluster))


def _as_data(
    profile: Path, cluster: Cluster, found: CountedBytes, mapped: list[_Mapped], best: _Mapped
) -> Mapping[str, Any]:
    return {
        "schema": "haloscope.traffic-advice/1",
        "profile": str(profile),
        "on": cluster.name,
        "ranks": found.ranks,
        "nodes": best.candidate.nodes,
        "bytes": int(found.matrix.sum()),
        "bytes_of_other_worlds": found.left_out,
        "advised": best.name,
        "request": requests.as_data(best.candidate, cluster.node.sockets),
        "mappings": [
            {
                "mapping": one.name,
                **asdict(one.load),
                "least_time_s": counted_bytes.least_seconds(one.load, cluster),
            }
            for one in mapped
        ],
    }


def _show(
    cluster: Cluster,
    found: CountedBytes,
    mapped: list[_Mapped],
    best: _Mapped,
    out: Path,
    screen: Screen,
) -> None:
    block, nodes = mapped[0], best.candidate.nodes
    ranks = f"{count(found.ranks, 'rank')} on {count(nodes, 'node')} of {cluster.name}"
    total = size(int(found.matrix.sum()))
    screen.lines(f"{ranks}: {total} counted between ranks")
    if best is block:
        screen.print(
            "request: block mapping (the default). No other mapping is better.", style="bold"
        )
    else:
        name = best.name.replace("_", " ")
        share = best.load.busiest_link / block.load.busiest_link
        carries = f"carries {percent(share)} of its bytes with block mapping"
        if not best.load.busiest_link:
            carries = f"carries no bytes, and {size(block.load.busiest_link)} with block mapping"
        line = f"request: {name} mapping. The busiest link {carries}."
        screen.print(line, style="bold", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for title in ("mapping", "between nodes", "bytes x links", "busiest link", "least time"):
        table.add_column(title, justify="left" if title == "mapping" else "right")
    for one in mapped:
        least = counted_bytes.least_seconds(one.load, cluster)
        table.add_row(
            one.name.replace("_", " "),
            size(one.load.between_nodes),
            size(one.load.byte_hops),
            size(one.load.busiest_link),
            "" if least is None else seconds(least),
        )
    screen.print(table)
    screen.lines(
        "least time: the busiest link's bytes over its bandwidth. The profile has no "
        "computing times, so numbers of nodes are not compared."
    )
    if found.left_out:
        other = size(found.left_out)
        screen.lines(f"not included: {other} between or with other worlds")
    advised = best.candidate
    screen.lines(requests.sbatch_line(advised), requests.launchers(advised)["Slurm"])
    where = in_a_shell(out)
    screen.lines(
        f"other launchers: {where}/advice.json",
        f"to run a study in this layout: haloscope run STUDY --layout {where}/layout.toml",
    )
