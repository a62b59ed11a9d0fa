# SPDX-License-Identifier: BSD-3-Clause
"""Whether an MPI library says that it takes addresses of a GPU's memory: asked by a program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from haloscope.host import process
from haloscope.toolchains.job import Job
from haloscope.toolchains.launch import launch_command
from haloscope.toolchains.library import Toolchain

TIMEOUT_S = 60
"""TIMEOUT_S is how long a compiler or a launcher may take, in seconds."""

_SOURCE = """\
#include <mpi.h>
#include <cstdio>
extern "C" {
[[gnu::weak]] int MPIX_Query_cuda_support();
[[gnu::weak]] int MPIX_Query_rocm_support();
[[gnu::weak]] int MPIX_Query_hip_support();
}
static const char* said(int (*query)()) {
  return query == nullptr ? "null" : query() == 1 ? "true" : "false";
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  auto* hip = MPIX_Query_rocm_support != nullptr ? MPIX_Query_rocm_support : MPIX_Query_hip_support;
  std::printf("{\\"cuda\\": %s, \\"hip\\": %s}\\n", said(MPIX_Query_cuda_support), said(hip));
  MPI_Finalize();
}
"""
"""_SOURCE asks by the functions that Open MPI and MPICH have, of which each may have none: what
is HIP's in the one is ROCm's in the other."""


def asked(toolchain: Toolchain, folder: Path) -> Mapping[str, bool | None]:
    """For "cuda" and "hip", what the library says; None where it has nothing that says so.

    folder: for the small program that asks. Empty where that could not be built or run.
    """
    source, program = folder / "aware.cpp", folder / "aware"
    source.write_text(_SOURCE, encoding="utf-8")
    compiled = [str(toolchain.mpicxx), str(source), "-o", str(program)]
    launched, environment = launch_command(toolchain, Job(ranks=1), [str(program)])
    output = ""
    for command in (compiled, launched):
        ended = process.run(command, environment, TIMEOUT_S)
        if ended.code != 0 or ended.timed_out:
            return {}
        output = ended.output
    line = next((one for one in output.splitlines() if one.startswith('{"cuda"')), "{}")
    answer: dict[str, bool | None] = json.loads(line)
    return answer
