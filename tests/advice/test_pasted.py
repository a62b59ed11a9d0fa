# SPDX-License-Identifier: BSD-3-Clause
"""What advise prints to paste puts every rank where the mapping says, seen from inside ranks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import lab_jobs
import pytest

from haloscope.advice import requests
from haloscope.advice.candidates import Candidate
from haloscope.lab.cluster import RunningLab
from haloscope.toolchains import library

pytestmark = [pytest.mark.lab, lab_jobs.LIMIT]

NODES = [1, 0, 2, 1, 0, 2]
ADVISED = Candidate.of(6, 3, mapping=",".join(map(str, NODES)))
WHERE = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {  /* argv[1]: a file with the order of ranks; none: the world's */
  int world, ranks, rank, key = 0;
  char host[256], all[64][256];
  MPI_Comm own;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1) {
    FILE* order = fopen(argv[1], "r");
    for (int i = 0; i <= world; ++i) fscanf(order, "%d,", &key);
    fclose(order);
  }
  MPI_Comm_split(MPI_COMM_WORLD, 0, argc > 1 ? key : world, &own);
  MPI_Comm_rank(own, &rank);
  gethostname(host, sizeof host);
  MPI_Gather(host, 256, MPI_CHAR, all, 256, MPI_CHAR, 0, own);
  for (int i = 0; rank == 0 && i < ranks; ++i) printf("%s\n", all[i]);
  MPI_Finalize();
  return 0;
}
"""


def test_each_printed_command_places_ranks_on_their_nodes(lab: RunningLab, tmp_path: Path) -> None:
    (tmp_path / "where.cpp").write_text(WHERE)
    for name, content in requests.files(ADVISED).items():
        (tmp_path / name).write_text(content)
    lines, block = requests.launchers(ADVISED), Candidate.of(6, 3)
    ways = {
        "Slurm": f"{lines['Slurm']} --mpi=pmix ./system",
        "MPI_Comm_split": f"{requests.launchers(block)['Slurm']} --mpi=pmix ./system "
        f"{requests.ORDER_FILE}",
    }
    for one in library.available():
        if one.family == "openmpi":
            built = [str(one.mpicxx), "-w", "-o", one.name, "where.cpp"]
            subprocess.run(built, cwd=tmp_path, check=True)
            way = " ".join(one.version.split(".")[0].split()[:3])  # Open MPI 4
            ways[way] = lines[way].replace("mpirun", str(one.mpirun)) + f" ./{one.name}"
    text = ["#!/bin/bash", requests.sbatch_line(ADVISED), requests.script(ADVISED)]
    text += ["export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]
    text += [f"{line} > '{way}'" for way, line in ways.items()]
    (tmp_path / "job.sh").write_text("\n".join([*text, "true"]) + "\n")

    asked = [f"--chdir={tmp_path}", f"--output={tmp_path}/said", str(tmp_path / "job.sh")]
    lab_jobs.completed(*asked)

    hosts = (tmp_path / "nodes").read_text().split()
    expected = {way: [hosts[node] for node in NODES] for way in ways}
    found = {way: (tmp_path / way).read_text().split() for way in ways}
    assert found == expected, (tmp_path / "said").read_text()
