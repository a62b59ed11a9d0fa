# SPDX-License-Identifier: BSD-3-Clause
"""The ways in which a site's srun starts ranks (srun --mpi=list), and which of them it can load."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from haloscope.batch import slurm
from haloscope.batch.asking import RefusedError
from haloscope.batch.slurm import Slurm

LOADED = ("pmix", "pmi2", "cray_shasta")
"""LOADED are the kinds that MPI libraries use, in the order of preference. Slurm lists all that it
was built with, also those whose own library is missing, as pmix without libpmix2."""
_CANT_LOAD = re.compile(r"can ?not load|Couldn't load|Cannot create context|Invalid MPI type")
"""_CANT_LOAD is how srun says that it has no such kind, or can't load it."""
NO_PMIX = "install PMIx's library on all nodes (Debian, Ubuntu: apt install libpmix2)"
"""NO_PMIX is what to do where pmix can't be loaded."""


@dataclass(frozen=True)
class Kinds:
    """What srun has. listed: as it lists them. broken: those that it can't load, with its words.

    default: the kind that the cluster's configuration names (MpiDefault); None where it names none.
    """

    listed: tuple[str, ...]
    broken: Mapping[str, str]
    default: str | None = None

    @property
    def usable(self) -> list[str]:
        """The kinds that start ranks of MPI libraries here, the best one first."""
        preferred = dict.fromkeys([*([self.default] if self.default else []), *LOADED])
        return [kind for kind in preferred if kind in self.listed and kind not in self.broken]


def asked(commands: Slurm) -> Kinds:
    """The kinds of the srun that answers here. Errors as of `Slurm.told`."""
    # before Slurm 22.05 the list is on standard error
    listed = slurm.mpi_kinds(commands.told("srun", "--mpi=list", also_errors=True))
    broken = {kind: why for kind in LOADED if kind in listed if (why := _broken(commands, kind))}
    return Kinds(tuple(listed), broken, _default(commands))


def _broken(commands: Slurm, kind: str) -> str | None:
    """Why srun can't load a kind; None where it can. No job is made."""
    try:
        commands.told("srun", f"--mpi={kind}", "--test-only", "--ntasks=1", "true")
    except RefusedError as error:
        return cause(str(error))
    return None  # it would also be refused for an account or a partition, which says nothing of it


def cause(said: str) -> str | None:
    """The first of srun's words that say that it can't load a kind; None where none do."""
    lines = [line for line in said.splitlines() if _CANT_LOAD.search(line)]
    return lines[0].rpartition(": ")[2] if lines else None


def _default(commands: Slurm) -> str | None:
    for line in commands.told("scontrol", "show", "config").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "MpiDefault":
            return None if value.strip() in ("none", "(null)", "") else value.strip()
    return None


def notes(kinds: Kinds) -> list[str]:
    """What to know of kinds that are listed and can't be loaded, a sentence each."""
    others = f"srun --mpi={kinds.usable[0]}" if kinds.usable else "no kind of srun"
    return [
        f"srun lists {kind} and can't load it: {why}. MPI libraries that need it are started by "
        f"their own mpirun; others by {others}."
        for kind, why in kinds.broken.items()
    ]
