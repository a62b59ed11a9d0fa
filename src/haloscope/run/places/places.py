# SPDX-License-Identifier: BSD-3-Clause
"""The places by their names for --on: this machine, sites, and simulated clusters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from haloscope.clusters import file as cluster_file
from haloscope.errors import Problem, UserError, nearest, out_of
from haloscope.run.places import Place
from haloscope.run.places.batched import BatchPlace
from haloscope.run.places.here import Here
from haloscope.run.places.simulated import SimulatedCluster
from haloscope.sites import file as site_file
from haloscope.sites.file import LAB, LAB_UP
from haloscope.study.checks.capacity import PlaceFacts
from haloscope.study.plan import Via

KINDS: tuple[type[Place], ...] = (Here, BatchPlace, SimulatedCluster)
"""Every kind of place; the first one that has a name is used."""


def place(name: str, keep: Path | None = None, via: Via | None = None) -> Place:
    """Return the place that --on names. Raise UserError if there is none."""
    for kind in KINDS:
        if kind.has(name):
            found = kind.named(name, keep)
            return found if via is None else _by_way_of(found, via)
    known = [known for kind in KINDS for known in kind.names()]
    own = f"{cluster_file.ELSEWHERE}; {site_file.ELSEWHERE}"
    remedy = LAB_UP if name == LAB else f"{nearest(name, known)}\n    {own}"
    raise UserError(Problem(f"--on {name}", "unknown cluster or site", remedy))


def _by_way_of(found: Place, via: Via) -> Place:
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
    if word := out_of(via.nodes, 1, most := site.described.used.nodes_of_a_job):
        where = f"--nodes {via.nodes}"
        what = f"{word} for partition {site.described.partition} of site {via.site}"
        raise UserError(Problem(where, what, f"give an integer from 1 to {most:,}"))
    return replace(found, via=site)


def site_of(place: Place) -> BatchPlace | None:
    """Return the site whose jobs run the cases of a place; None if they run on this machine."""
    if isinstance(place, SimulatedCluster):
        return place.via
    return place if isinstance(place, BatchPlace) else None


def at_once(place: Place) -> int:
    """Return how many launches run side by side on this machine: more than one only in
    simulations.
    """
    return place.at_once if isinstance(place, SimulatedCluster) and place.via is None else 1


def on_this_machine(place: Place) -> Place:
    """Return a simulated cluster whose simulations run here, not in jobs; other places
    unchanged.
    """
    return replace(place, via=None) if isinstance(place, SimulatedCluster) else place


def with_folder(place: Place, folder: Path) -> Place:
    """Return a place whose jobs may write to a folder that all of its nodes see."""
    if isinstance(place, SimulatedCluster) and place.via is not None:
        return replace(place, via=replace(place.via, folder=folder))
    return replace(place, folder=folder) if isinstance(place, BatchPlace) else place


def facts(name: str) -> PlaceFacts | None:
    """Return what is known about a place from its name; None if it is unknown."""
    return next((kind.facts for kind in KINDS if kind.has(name)), None)
