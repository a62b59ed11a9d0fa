#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's commands for tests of how srun starts ranks, by the name that this is called by.

Their words are those of Slurm 22.05 of Debian 12 without libpmix2. FAKE_SLURM is a folder; in it,
`old` has srun use the words of Slurm 20.11 and 21.08, `pmix` has PMIx's library found, `default` is
MpiDefault, `kinds` are what srun was built with, `versions` those of its plugins of PMIx, and each
srun adds its arguments and its variables of Slurm to `sruns`, a line of JSON each.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ.get("FAKE_SLURM", ""))
NO_PMIX = """\
srun: error:  mpi/pmix_v4: init: (null) [0]: mpi_pmix.c:195: pmi/pmix: can not load PMIx library
srun: error: Couldn't load specified plugin name for mpi/pmix: Plugin init() callback failed
srun: error: MPI: Cannot create context for mpi/pmix
srun: error: MPI: Unable to load any plugin
srun: error: Invalid MPI type 'pmix', --mpi=list for acceptable types
"""
NONE_SUCH = """\
srun: error: Couldn't find the specified plugin name for mpi/{0} looking at all files
srun: error: cannot find mpi plugin for mpi/{0}
srun: error: MPI: Cannot create context for mpi/{0}
srun: error: MPI: Unable to load any plugin
srun: error: Invalid MPI type '{0}', --mpi=list for acceptable types
"""


NO_PMIX_OLD = """\
srun: error:  mpi/pmix_v3: init: (null) [0]: mpi_pmix.c:139: pmi/pmix: can not load PMIx library
srun: error: Couldn't load specified plugin name for mpi/pmix: Plugin init() callback failed
srun: error: cannot create mpi context for mpi/pmix
srun: error: "--mpi=pmix" -- long invalid MPI type, --mpi=list for acceptable types.
"""
NONE_SUCH_OLD = """\
srun: error: Couldn't find the specified plugin name for mpi/{0} looking at all files
srun: error: cannot find mpi plugin for mpi/{0}
srun: error: cannot create mpi context for mpi/{0}
srun: error: "--mpi={0}" -- long invalid MPI type, --mpi=list for acceptable types.
"""


def value_of(name: str, usual: str) -> str:
    """What a file of the folder says."""
    path = FOLDER / name
    return path.read_text().strip() if path.exists() else usual


def srun(words: list[str]) -> int:
    """List kinds, refuse one, say when a job would begin, or start ranks one after the other."""
    kinds = value_of("kinds", "pmix none cray_shasta pmi2").split()
    old = (FOLDER / "old").exists()
    kind = next((one.removeprefix("--mpi=") for one in words if one.startswith("--mpi=")), "none")
    if kind == "list":
        if old:
            print(
                "srun: MPI types are...",
                *(f"srun: {one}" for one in kinds),
                sep="\n",
                file=sys.stderr,
            )
            return 0
        versions = value_of("versions", "pmix_v4")
        print("MPI plugin types are...", *(f"\t{one}" for one in kinds), sep="\n")
        print(f"specific pmix plugin versions available: {versions}")
        return 0
    slurms = {
        key: value for key, value in os.environ.items() if key.startswith(("SLURM_", "SRUN_"))
    }
    with (FOLDER / "sruns").open("a") as file:
        file.write(json.dumps({"words": words, "variables": slurms}) + "\n")
    kinds = [one.removeprefix("mpi/") for one in kinds]
    if kind not in [*kinds, *([] if old else value_of("versions", "pmix_v4").split(","))]:
        print((NONE_SUCH_OLD if old else NONE_SUCH).format(kind), end="", file=sys.stderr)
        return 1
    if kind.startswith("pmix") and not (FOLDER / "pmix").exists():
        print(NO_PMIX_OLD if old else NO_PMIX, end="", file=sys.stderr)
        return 1
    if "--test-only" in words:
        said = "srun: Job 12 to start at 2026-11-25T20:30:17 using 1 processors on nodes n1"
        print(f"{said} in partition lab", file=sys.stderr)
        return 0
    (ranks,) = (int(one.partition("=")[2]) for one in words if one.startswith("--ntasks="))
    program = words[words.index("sh") :]
    ids = range(ranks)
    return max(subprocess.run(program, env=_rank(one, kind)).returncode for one in ids)


def _rank(rank: int, kind: str) -> dict[str, str]:
    return {**os.environ, "SLURM_LOCALID": str(rank), "SLURM_MPI_TYPE": kind}


def main(command: str, words: list[str]) -> int:
    """Answer as that command of Slurm."""
    if command == "srun":
        return srun(words)
    if command == "sinfo":
        print("lab*|4:00:00|2|1|1|1|11130")
    elif words[:2] == ["show", "config"]:
        print(
            "ClusterName             = lab",
            f"MpiDefault              = {value_of('default', 'none')}",
            sep="\n",
        )
    elif command == "scontrol" and re.search("partition", " ".join(words)):
        print("PartitionName=lab MaxNodes=UNLIMITED")
    elif command == "sbatch":
        print("sbatch: Job 13 to start at 2026-11-25T20:30:17 using 1 processors", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[0]).name, sys.argv[1:]))
