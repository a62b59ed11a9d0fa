# SPDX-License-Identifier: BSD-3-Clause
"""docs/clusters.md and docs/sites.md, made from the models that read such files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any, get_args

from keys_page import HEAD, HEAD_WITH_TYPES, introduction, rows
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from haloscope.clusters.file import UNITS
from haloscope.clusters.network import (
    Algorithm,
    Messages,
    Mpi,
    Network,
    NetworkLevel,
    Others,
    Overheads,
)
from haloscope.clusters.node import (
    Cache,
    Gpu,
    GpuMessages,
    KernelRate,
    Memory,
    Node,
    NodeSpread,
    ParallelRegion,
    Protocol,
    Socket,
    SocketLink,
    SocketMemory,
    Unbound,
)
from haloscope.clusters.quantity import Quantity, SetBy
from haloscope.clusters.schema import Cluster
from haloscope.sites.schedulers.schedulers import ASKABLE, SCHEDULERS
from haloscope.sites.schema import BatchSite, Partition

DOCS = Path(__file__).parents[3] / "docs"
Tables = tuple[tuple[str, type[BaseModel]], ...]
CLUSTERS: Tables = (
    ("The file", Cluster),
    ("`[node]`", Node),
    ("`[[node.memory]]`", Memory),
    ("`[[node.caches]]`", Cache),
    ("`[[node.kernels]]`", KernelRate),
    ("`[[node.regions]]`", ParallelRegion),
    ("`[node.spread]`", NodeSpread),
    ("`[[node.unbound]]`", Unbound),
    ("`[node.socket]`", Socket),
    ("`[[node.socket.memory]]`", SocketMemory),
    ("`[node.socket.link]`", SocketLink),
    ("`[node.gpu]`", Gpu),
    ("`[[node.gpu.messages]]`", GpuMessages),
    ("`[network]`", Network),
    ("`[[network.levels]]`", NetworkLevel),
    ("`[others]`", Others),
    ("`[mpi]`", Mpi),
    ("`[mpi.collectives.OPERATION]`", Algorithm),
    ("`[[messages]]`", Messages),
    ("`[[messages.protocols]]` and `[[node.gpu.messages.protocols]]`", Protocol),
    ("`[overheads]`", Overheads),
    ("Quantities", Quantity),
    ("`set_by` of a quantity", SetBy),
)
SITES: Tables = (("The file", BatchSite), ("`[[partitions]]`", Partition))
NAMED_BY_FILE = {Cluster: ("name",), BatchSite: ("name",)}
"""NAMED_BY_FILE are keys that no file has: a cluster and a site are called as their files."""
ABOUT_CLUSTERS = """\
# Cluster files

Describe a machine in a file, to simulate studies on it (`--on NAME`) and to compare measurements
with its limits. `haloscope cluster list` lists the built-in files (folder [clusters](../clusters)).
Your own files are `clusters/NAME.toml` in the current folder, or any path that ends in `.toml`.

```
haloscope calibrate                  write a file of this machine
haloscope cluster show NAME          draw a cluster file
haloscope validate PAPER             compare predictions with a paper
```

Every number has a source. A quantity is a table with a value and a source. The suffix of the
key determines the unit:

```
core_flops_per_s = { value = 2.1e9, source = "calibrated 2026-11-25" }
```

`python tests/support/pages/machine_pages.py` generates this page from `src/haloscope/clusters`.

## From a data sheet to a file

1. Copy [cluster.toml](examples/cluster/cluster.toml) to `clusters/NAME.toml`. It contains the
   minimum for a simulation of several nodes. All other tables below are optional.
2. Replace each number and its source. Write "assumed: ..." if a number is not in the data sheet.
3. `haloscope cluster show NAME` checks the file, and draws the nodes and their network.
4. `haloscope once poisson_cg n=1024 --on NAME --nodes 2` simulates a case.

| number | where to find it |
|---|---|
| `node.cores`, `sockets`, `memory_bytes`, `caches` | data sheet, or `lscpu` on a node |
| `core_flops_per_s` | `haloscope calibrate` on a node, or clock rate x operations per cycle |
| `node.memory` | `haloscope calibrate` on a node |
| `link_bandwidth_bytes_per_s` | data sheet of the network card: bits per second / 8 - headers |
| `link_latency_s` | MPI latency between two nodes (`pingpong`) / number of links between them |
| `topology`, `levels` | web page of the computing centre, for example [cab](../clusters/cab.toml) |
| `messages` | `haloscope calibrate`, or the OSU latency and bandwidth of two ranks on a node |

A file written from a data sheet is not validated against a paper. Running `haloscope calibrate` on
one of the nodes yields more accurate numbers ([how far to trust a simulation](trust.md)).
"""
ABOUT_SITES = """\
# Site files

A site file describes a cluster with a batch system, so that studies run there as jobs (`--on NAME`;
see [batch systems](batch.md)). `haloscope site detect` queries Slurm and writes `sites/NAME.toml`.
For other batch systems, write the file by hand. `haloscope site check NAME` compares a site file
with the batch system.

```
source = "the centre's pages, 2026-11"
scheduler = "pbs"
partition = "normal"
launcher = "mpirun"

[[partitions]]
name = "normal"
nodes = 512
cores = 64
memory_mb = 240000
max_minutes = 720
```

`python tests/support/pages/machine_pages.py` generates this page from `sites/schema.py`.
"""


TITLES = {"Quantities": "A quantity"}
"""TITLES are the subjects of the introductions that are not the titles."""
VALUES = {"bool": "true or false", "float": "number", "int": "integer"}
"""VALUES are the types of keys that take one value; all others are texts."""


def kind(field: FieldInfo) -> str:
    """What a key of a cluster file takes: a quantity, a table, several of them, or a value."""
    models = [*_models(field.annotation)]
    several = "tuple" in str(field.annotation) or "dict" in str(field.annotation)
    if Quantity in models:
        return "quantity"
    if models:
        return "tables" if several else "table"
    values = str(field.annotation)
    found = (word for name, word in VALUES.items() if re.search(rf"\b{name}\b", values))
    return "list" if several else next(found, "text")


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def tables(those: Tables, *, typed: bool) -> Iterator[str]:
    """A section a table: what it is, and its keys, with their types."""
    for title, model in those:
        text = introduction(TITLES.get(title, title), " ".join((model.__doc__ or "").split()))
        yield from ("", f"## {title}", "", *wrap(text, 100), "")
        yield from HEAD_WITH_TYPES if typed else HEAD
        yield from rows(model, NAMED_BY_FILE.get(model, ()), kind if typed else None)


def clusters_page() -> str:
    """The whole page of cluster files."""
    lines = [ABOUT_CLUSTERS.rstrip(), *tables(CLUSTERS, typed=True), "", "## Units", ""]
    lines += ["| key suffix | unit | smallest value | largest value |", "|---|---|---|---|"]
    lines += [
        f"| `_{end}` | {unit} | {least:g} | {most:g} |"
        for end, (unit, least, most) in UNITS.items()
    ]
    return "\n".join(lines) + "\n"


def sites_page() -> str:
    """The whole page of site files."""
    lines = [ABOUT_SITES.rstrip(), *tables(SITES, typed=False), "", "## Options of jobs", ""]
    lines += [
        "The table lists the option that passes each key to the batch system. Keys "
        "marked `refused` are not allowed in the site files of that batch system.",
        "",
    ]
    lines += [f"| key | {' | '.join(SCHEDULERS)} |", f"|---|{'---|' * len(SCHEDULERS)}"]
    for key in ASKABLE:
        options = (one.asked_by.get(key) for one in SCHEDULERS.values())
        lines.append(
            f"| `{key}` | {' | '.join(f'`{one}`' if one else 'refused' for one in options)} |"
        )
    return "\n".join(lines) + "\n"


PAGES = {DOCS / "clusters.md": clusters_page, DOCS / "sites.md": sites_page}
"""PAGES are the pages that this module writes."""

if __name__ == "__main__":
    for path, page in PAGES.items():
        path.write_text(page(), encoding="utf-8")
