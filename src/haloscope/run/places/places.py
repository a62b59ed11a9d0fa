# SPDX-License-Identifier: BSD-3-Clause
"""The places by their names for --on: this machine, sites, and simulated clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from haloscope.errors import Problem, UserError, nearest, outside
from haloscope.run.places import Place
from haloscope.study.checks.capacity import PlaceFacts
from haloscope.study.plan import Via

KINDS = (
    "haloscope.run.places.here:Here",
    "haloscope.run.places.batched:BatchPlace",
    "haloscope.run.places.simulated:SimulatedCluster",
)
"""Every kind of place, as MODULE:CLASS; the first one that has a name is used.

Those after it are not imported: with their files' models, they take longer than a plan.
"""


def _kinds() -> Iterator[type[Place]]:
    for kind in KINDS:
        module, _, name = kind.partition(":")
        yield getattr(import_module(module), name)


def place(name: str, keep: Path | None = None, via: Via | None = None) -> Place:
    """Return the place that --on names. Raise UserError if there is none."""
    for kind in _kinds():
        if kind.has(name):
            found = kind.named(name, keep)
            return found if via is None else _by_way_of(found, via)
    from haloscope.clusters import file as cluster_file
    from haloscope.sites import file as site_file

    known = [known for kind in _kinds() for known in kind.names()]
    own = f"{cluster_file.ELSEWHERE}; {site_file.ELSEWHERE}"
    remedy = site_file.LAB_UP if name == site_file.LAB else f"{nearest(name, known)}\n    {own}"
    raise UserError(Problem(f"--on {name}", "unknown cluster or site", remedy))


def _by_way_of(found: Place, via: Via) -> Place:
    from haloscope.run.places.batched import BatchPlace
    from haloscope.run.places.simulated import SimulatedCluster

    if not isinstance(found, SimulatedCluster):
        what = f"requires a simulated cluster, but {found.name} is not simulated"
        remedy = "remove --via, or give a cluster with --on CLUSTER (haloscope list)"
        raise UserError(Problem(f"--via {via.site}", what, remedy))
    if not BatchPlace.has(via.site):
        remedy = nearest(via.site, BatchPlace.names())
        raise UserError(Problem(f"--via {via.site}", "unknown site", remedy))
    site = BatchPlace.named(via.site)
    if not site.scheduler.allocates_cores:
        what = f"requires a site with Slurm, but this site uses {site.scheduler.title}"
        remedy = "choose a site with Slurm, or remove --via to simulate on this machine"
        raise UserError(Problem(f"--via {via.site}", what, remedy))
    most = site.described.used.nodes_of_a_job
    if problems := outside("--nodes", via.nodes, most):
        what = f"out of range for partition {site.described.partition!r} of site {via.site!r}"
        raise UserError([replace(one, what=what) for one in problems])
    return replace(found, via=site)


def at_once(place: Place) -> int:
    """Return how many launches run side by side on this machine: more than one only in
    simulations.
    """
    return 1 if place.jobs_at else place.at_once


def facts(name: str) -> PlaceFacts | None:
    """Return what is known about a place from its name; None if it is unknown."""
    return next((kind.facts for kind in _kinds() if kind.has(name)), None)
