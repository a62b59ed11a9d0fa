# SPDX-License-Identifier: BSD-3-Clause
"""The supported batch systems, by their name in site files."""

from __future__ import annotations

from haloscope.sites.schedulers.flux import Flux
from haloscope.sites.schedulers.lsf import Lsf
from haloscope.sites.schedulers.pbs import Pbs
from haloscope.sites.schedulers.scheduler import Scheduler
from haloscope.sites.schedulers.slurm import Slurm
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
