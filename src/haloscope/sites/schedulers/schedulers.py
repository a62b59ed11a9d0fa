# SPDX-License-Identifier: BSD-3-Clause
"""The supported batch systems, by their name in site files."""

from __future__ import annotations

from haloscope.sites.schedulers.flux import Flux
from haloscope.sites.schedulers.lsf import Lsf
from haloscope.sites.schedulers.pbs import Pbs
from haloscope.sites.schedulers.scheduler import Scheduler
from haloscope.sites.schedulers.slurm import Slurm
from haloscope.sites.schema import BatchSite

SCHEDULERS: dict[str, type[Scheduler]] = {one.name: one for one in (Slurm, Pbs, Lsf, Flux)}
ASKABLE = tuple(dict.fromkeys(key for one in SCHEDULERS.values() for key in one.asked_by))
"""The keys of a site file that at least one batch system supports as an option of its jobs."""


def of(site: BatchSite) -> Scheduler:
    """Return the batch system of a site."""
    return SCHEDULERS[site.scheduler](site.environment)
