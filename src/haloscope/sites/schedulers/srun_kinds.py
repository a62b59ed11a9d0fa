# SPDX-License-Identifier: BSD-3-Clause
"""The MPI plugins of a site's srun (srun --mpi=list), and which of them it can load."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from haloscope.sites.schedulers import slurm
from haloscope.sites.schedulers.asking import RefusedError
from haloscope.sites.schedulers.slurm import Slurm

LOADED = ("pmix", "pmi2", "cray_shasta")
"""LOADED are the plugins that MPI libraries use, in order of preference. Slurm lists every plugin
it was built with, even if a library is missing, such as pmix without libpmix2.
"""
_CANT_LOAD = re.compile(
    r"can ?not load|couldn't load|cannot create (mpi )?context|invalid MPI type", re.IGNORECASE
)
"""Before 22.05 srun used other words."""
NO_PMIX = "install the PMIx library on all nodes (Debian, Ubuntu: apt install libpmix2)"


@dataclass(frozen=True)
class Kinds:
    """The MPI plugins of srun. listed: all. broken: those that it cannot load, with reasons.

    default: the plugin of the cluster's configuration (MpiDefault), or None.
    """

    listed: tuple[str, ...]
    broken: Mapping[str, str]
    default: str | None = None

    @property
    def usable(self) -> list[str]:
        """Plugins that start ranks of MPI libraries here, the best one first."""
        preferred = _preferred(self.default)
        return [kind for kind in preferred if kind in self.listed and kind not in self.broken]


def asked(commands: Slurm, also: str | None = None) -> Kinds:
    """Query the plugins of srun. Errors as of `Slurm.output`."""
    # before Slurm 22.05 the list is on standard error
    listed = slurm.mpi_kinds(commands.output("srun", "--mpi=list", also_errors=True))
    default = _default(commands)
    tried = [kind for kind in dict.fromkeys([*_preferred(default), also]) if kind in listed]
    broken = {kind: why for kind in tried if (why := _broken(commands, kind))}
    return Kinds(tuple(listed), broken, default)


def _preferred(default: str | None) -> list[str]:
    """Return the plugins that MPI libraries may use, the cluster's default first."""
    return [*dict.fromkeys([*([default] if default else []), *LOADED])]


def _broken(commands: Slurm, kind: str) -> str | None:
    """Return why srun cannot load a plugin, or None. No job is started."""
    try:
        commands.output("srun", f"--mpi={kind}", "--test-only", "--ntasks=1", "true")
    except RefusedError as error:
        return cause(str(error))
    return None  # refused for another reason, such as the account or the partition


def cause(said: str) -> str | None:
    """Return the first line in which srun reports that it cannot load a plugin, or None."""
    lines = [line for line in said.splitlines() if _CANT_LOAD.search(line)]
    return lines[0].rpartition(": ")[2] if lines else None


def _default(commands: Slurm) -> str | None:
    kind = (commands.configured("MpiDefault") or "").removeprefix("mpi/")
    return None if kind in ("none", "(null)", "") else kind


def notes(kinds: Kinds) -> list[str]:
    """Return a note for each plugin that is listed but cannot be loaded."""
    others = f", others with srun --mpi={kinds.usable[0]}" if kinds.usable else ""
    return [
        f"srun lists {kind}, but cannot load it ({why}). MPI libraries that need {kind} are "
        f"started with their own mpirun{others}."
        for kind, why in kinds.broken.items()
    ]
