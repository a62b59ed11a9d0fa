# SPDX-License-Identifier: BSD-3-Clause
"""GPU awareness of an MPI library, as reported to a small test program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from haloscope.host import process
from haloscope.layout import Layout
from haloscope.toolchains.launching.job import Job
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.library import Toolchain

TIMEOUT_S = 60
"""TIMEOUT_S is the time limit of a compiler or a launcher, in seconds."""

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
"""_SOURCE calls the query functions of Open MPI and MPICH, any of which may be missing: HIP in one
is called ROCm in the other.
"""


def asked(toolchain: Toolchain, folder: Path) -> Mapping[str, bool | None]:
    """Return the library's answer for "cuda" and "hip"; None if it has no query function.

    folder: for the small program. Empty if it could not be built or run.
    """
    source, program = folder / "aware.cpp", folder / "aware"
    source.write_text(_SOURCE, encoding="utf-8")
    compiled = [str(toolchain.mpicxx), str(source), "-o", str(program)]
    launched, environment = launch_command(toolchain, Job(Layout()), [str(program)])
    output = ""
    for command in (compiled, launched):
        ended = process.run(command, environment, TIMEOUT_S)
        if ended.code != 0 or ended.timed_out:
            return {}
        output = ended.output
    line = next((one for one in output.splitlines() if one.startswith('{"cuda"')), "{}")
    answer: dict[str, bool | None] = json.loads(line)
    return answer
