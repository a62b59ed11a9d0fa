# SPDX-License-Identifier: BSD-3-Clause
"""The launcher of an MPI library's ranks in a site's jobs: the site's, or the library's own.

srun can lack what a library needs (usually PMIx's library), or start each rank as a separate
process. Therefore each launcher is tried with two ranks that exchange messages, on the job's first
node.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from haloscope.run.prepare import probing
from haloscope.run.prepare.probing import NodesAsked
from haloscope.sites.schedulers.srun_kinds import cause
from haloscope.sites.schema import BatchSite
from haloscope.toolchains.build import Build
from haloscope.toolchains.launching.launch import starter
from haloscope.toolchains.transport import Family

_log = logging.getLogger(__name__)

SPEAKS: Mapping[Family, tuple[str, ...]] = {
    "openmpi": ("pmix",),
    "mpich": ("pmi2", "pmix", "cray_shasta"),
    "impi": ("pmi2", "pmix"),
}
"""SPEAKS are the srun plugins that each family of MPI libraries supports, besides the
site file's.
"""


def started(built: Build, site: BatchSite, where: NodesAsked) -> Build:
    """Return a build with the first launcher whose ranks reach each other on a node."""
    ways = [*_ways(built, site)]
    failed = list[str]()
    for way in ways if len(ways) > 1 else ():
        problem = probing.probe(way, None, where.first(1)).problem
        if problem is None:
            for line in failed:
                _log.warning(f"{line}; {starter(way.toolchain)} is used instead")
            return way
        why = cause(problem) or problem
        failed.append(f"{way.toolchain.name}: {starter(way.toolchain)} cannot start ranks: {why}")
    return ways[0]


def _ways(built: Build, site: BatchSite) -> Iterator[Build]:
    """Yield a build with each launcher that may start its ranks, that of the site file first."""
    own = built.toolchain
    if site.launcher == "jsrun":
        yield _by(built, "jsrun", "jsrun")
        return
    if site.launcher == "srun":
        for kind in dict.fromkeys([site.mpi, *SPEAKS.get(own.family, ())]):
            yield _by(built, "srun", f"srun-{kind}")
    if site.launcher == "mpirun" or own.launcher is None:
        yield built
    if site.launcher == "srun":
        yield _by(built, "srun", "srun")  # the cluster's default plugin


def _by(built: Build, program: str, launcher: str) -> Build:
    started_by = replace(built.toolchain, mpirun=Path(program), launcher=launcher)
    return replace(built, toolchain=started_by)
