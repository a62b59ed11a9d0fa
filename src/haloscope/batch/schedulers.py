# SPDX-License-Identifier: BSD-3-Clause
"""The supported batch systems, by their name in site files."""

from __future__ import annotations

from haloscope.batch.flux import Flux
from haloscope.batch.lsf import Lsf
from haloscope.batch.pbs import Pbs
from haloscope.batch.scheduler import Scheduler
from haloscope.batch.slurm import Slurm
from haloscope.sites.schema import BatchSite


def of(site: BatchSite) -> Scheduler:
    """Return the batch system of a site."""
    match site.scheduler:
        case "slurm":
            return Slurm(site.environment)
        case "pbs":
            return Pbs()
        case "lsf":
            return Lsf()
        case "flux":
            return Flux()
