"""The places there are, by the name that --on gives: this machine, sites, simulated clusters."""

from __future__ import annotations

from pathlib import Path

from haloscope.errors import Problem, UserError, nearest
from haloscope.run.batched import BatchPlace
from haloscope.run.here import Here
from haloscope.run.place import Place
from haloscope.run.simulated import SimulatedCluster
from haloscope.study.capacity import PlaceFacts

KINDS: tuple[type[Place], ...] = (Here, BatchPlace, SimulatedCluster)
"""Every kind of place; the first that has a name is meant by it."""


def place(name: str, keep: Path | None = None) -> Place:
    """The place that --on names. UserError where there is none."""
    for kind in KINDS:
        if kind.has(name):
            return kind.named(name, keep)
    known = [known for kind in KINDS for known in kind.names()]
    raise UserError(Problem(f"--on {name}", "there is no such place", nearest(name, known)))


def facts(name: str) -> PlaceFacts | None:
    """What is known of a place by its name alone; None where no place is called so."""
    return next((kind.facts for kind in KINDS if kind.has(name)), None)
