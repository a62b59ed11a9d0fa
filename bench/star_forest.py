# SPDX-License-Identifier: BSD-3-Clause
"""Star forests against PETSc's: latency, unpacking, scattering, grid halos, set-up.

usage: .venv/bin/python bench/star_forest.py [SECTION ...] [--rounds 5] [--largest 4096]

Sections: pingpong, unpack, scatter, grid2, grid3, grid4 (so many ranks), setup; all by default.
What is not measured stays on the page as it is.

Needs Debian's petsc-dev (libpetsc-real-dev), and mpicc and mpicxx in PATH, of the MPI library that
PETSc was built with. No round is left out: medians over rounds are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

from turns import HEADER, ROOT, Target, kept, petsc_flags, ratios, taken, write_page

from haloscope.quantities import listed

SIZES = [8 << (3 * i) for i in range(7)] + [4 << 20]
SMALL = 4096
LARGE_BYTES = 1 << 20
GRIDS = [4, 16, 64, 256, 512, 1024, 2048, 4096]
LARGE = 512
STEP_BYTES = 40
SHAPES = {2: (2, 1), 3: (3, 1), 4: (2, 2)}
GRAPHS = {
    "next": "in order, roots of the next rank",
    "grid": "in order, into an array with a halo",
    "random": "random roots of random ranks",
}
Figures = dict[Any, float]
Run = Callable[[], Figures]
Least = Callable[[int], float]


def build(folder: Path) -> tuple[Path, Path]:
    """Compile the peer and the program that times set-up."""
    flags = petsc_flags()
    if flags is None:
        sys.exit("PETSc is not here: apt install libpetsc-real-dev")
    peer, setup = folder / "petsc_sf", folder / "sf_setup"
    optimised = ["-O3", "-march=native"]
    source = str(ROOT / "bench" / "petsc_sf.c")
    subprocess.run(["mpicc", *optimised, source, "-o", str(peer), *flags, "-lm"], check=True)
    for command in (["--preset", "release"], ["--build", str(ROOT / "build" / "release")]):
        folder_of_presets = ROOT / "halobench"
        subprocess.run(["cmake", *command], cwd=folder_of_presets, check=True, stdout=sys.stderr)
    parts = str(folder / "parts.a")  # of which what is needed is linked
    every = ROOT / "build/release/CMakeFiles"
    folders = ("object_*", "untimed", "halobench_sf_pingpong")
    compiled = chain.from_iterable(every.glob(f"{name}.dir/**/*.o") for name in folders)
    objects = [str(one) for one in compiled if not one.name.startswith("main.")]
    subprocess.run(["ar", "rcs", parts, *objects], check=True)
    options = [*optimised, "-std=c++20", "-fopenmp", "-DOMPI_SKIP_MPICXX"]
    include = f"-I{ROOT / 'halobench'}"
    source = str(ROOT / "bench" / "sf_setup.cpp")
    subprocess.run(["mpicxx", *options, include, source, parts, "-o", str(setup)], check=True)
    return peer, setup


def printed(ranks: int, *command: object) -> Any:
    """One launch of a program, ours or the peer's, bound alike; the JSON that it prints."""
    from haloscope.layout import Layout
    from haloscope.toolchains.launching import Job
    from haloscope.toolchains.launching.launch import launch_command
    from haloscope.toolchains.library import find

    job = Job(Layout(ppn=ranks), oversubscribe=ranks > (os.cpu_count() or 1))
    argv, env = launch_command(find("system"), job, [str(word) for word in command])
    done = subprocess.run(
        argv, env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def launch(ranks: int, *command: object) -> Figures:
    """One launch of a program that prints its figures."""
    found = printed(ranks, *command)
    return {int(key) if key.isdigit() else key: value for key, value in found.items()}


def swept(kernel: str, key: str, ranks: int, **params: object) -> Figures:
    """One launch of a kernel: the median seconds of a step, by size."""
    given = [f"{name}={value}" for name, value in params.items()]
    points = printed(ranks, ROOT / f"build/release/halobench_{kernel}", kernel, *given)["points"]
    return {point[key]: median(point["times_s"]) for point in points}


def by_size(kernel: str) -> Figures:
    """One launch of a kernel for small messages, and one for large ones, in warm caches.

    The first step of a repetition follows new values. It is the only one of 4 MiB by default, and
    a seventh slower than later ones. PETSc's test sends two untimed ones before each repetition.
    """
    large = [size for size in SIZES if size >= LARGE_BYTES]
    small = [size for size in SIZES if size < LARGE_BYTES]
    figures = swept(kernel, "size_bytes", 2, sizes=commas(small))
    return figures | swept(kernel, "size_bytes", 2, sizes=commas(large), steps=20)


def commas(numbers: list[int]) -> str:
    """A list as both programs read it."""
    return ",".join(map(str, numbers))


def alternate(rounds: int, what: str, *runs: Run) -> list[list[Figures]]:
    """All in turn, so often; the figures of each, round by round."""
    figures: list[list[Figures]] = [[] for _ in runs]
    for number in range(rounds):
        for own, run in zip(figures, runs, strict=True):
            own.append(run())
        print(f"round {number + 1}/{rounds}  {what}", file=sys.stderr, flush=True)
    return figures


def faster(ours: list[Figures], peer: list[Figures], size: int) -> list[float]:
    """How many times as fast, round by round."""
    return ratios([figures[size] for figures in peer], [figures[size] for figures in ours])


def microseconds(figures: list[Figures], size: int) -> str:
    """The median over rounds, one way."""
    return f"{0.5e6 * median(each[size] for each in figures):.3g}"


def table(name: str, ours: list[Figures], peer: list[Figures], least: Least) -> list[str]:
    """A line for each size: its ratio against its target, and both times."""
    lines = ["| " + name + " | faster by | range | target | | haloscope, us | PETSc, us |"]
    lines.append("|---|---|---|---|---|---|---|")
    for size in ours[0]:
        row = Target(str(size), faster(ours, peer, size), least(size)).row()
        lines.append(f"{row} {microseconds(ours, size)} | {microseconds(peer, size)} |")
    return [*lines, ""]


def bench_pingpong(peer: Path, rounds: int) -> list[str]:
    """What a forest adds to 8 bytes of raw ping-pong, and what PETSc's adds."""
    sizes = commas(SIZES)
    raw, sent, theirs = alternate(
        rounds,
        "pingpong",
        lambda: by_size("pingpong"),
        lambda: by_size("sf_pingpong"),
        lambda: launch(2, peer, "-test", "pingpong", "-sizes", sizes),
    )
    added = [0.5e6 * (b[8] - a[8]) for a, b in zip(raw, sent, strict=True)]
    added_by_peer = [0.5e6 * (b[8] - a[8]) for a, b in zip(raw, theirs, strict=True)]
    return [
        "## sf_pingpong, 2 ranks, one way", "", *HEADER,
        Target("sf_pingpong minus pingpong, 8 bytes", added, 0.10, at_most=True, unit="us").row(),
        Target("PETSc minus pingpong, 8 bytes", added_by_peer, median(added), unit="us").row(), "",
        "| bytes | pingpong, us | sf_pingpong, us | PETSc, us |", "|---|---|---|---|",
        *(
            f"| {size} | {microseconds(raw, size)} | {microseconds(sent, size)} "
            f"| {microseconds(theirs, size)} |"
            for size in SIZES
        ), "",
    ]  # fmt: skip


def bench_sum(peer: Path, rounds: int, test: str) -> list[str]:
    """Unpacking, or unpacking and scattering; and messages alone, which nothing can be below."""
    sizes = commas(SIZES)
    ours, theirs, alone = alternate(
        rounds,
        test,
        lambda: by_size(f"sf_{test}"),
        lambda: launch(2, peer, "-test", test, "-sizes", sizes),
        lambda: by_size("sf_newpingpong"),
    )
    title = [f"## sf_{test}: sums at the receiver, 2 ranks", ""]
    most = [
        f"{median(faster(alone, theirs, size)):.3g}x for {size} bytes "
        f"({microseconds(alone, size)} us)"
        for size in SIZES
    ]
    return [
        *title,
        *table("bytes", ours, theirs, lambda n: 1.3 if n <= SMALL else 1.0),
        "The speedup is at most the time of PETSc divided by the time of messages with new "
        "values alone (`sf_newpingpong`, measured in the same rounds). This bound is "
        f"{listed(most)}.",
        "",
    ]


def grids(ranks: int, topology: str, largest: int) -> Figures:
    """Our times of all grids; of large ones, which take seconds to check, 5 repetitions."""
    figures: Figures = {}
    for part, more in ((GRIDS[:-2], {}), (GRIDS[-2:], {"repetitions": 5})):
        chosen = [n for n in part if n <= largest]
        if chosen:
            figures |= swept("sf_grid", "n", ranks, n=commas(chosen), topology=topology, **more)
    return figures


def moved_by_stream(ranks: int, largest: int) -> Figures:
    """Seconds to move a grid's bytes without its halos, by STREAM: a copy, then an addition.

    The working set is that of the grid: 16 bytes per point. The faster kind of stores counts.
    """
    sizes = [n for n in GRIDS if LARGE <= n <= largest]
    best: dict[tuple[str, int], float] = {}
    for stores in ("plain", "streaming"):
        for operation, arrays in (("copy", 2), ("add", 3)):
            points = printed(
                ranks,
                ROOT / "build/release/halobench_stream",
                *("stream", f"operation={operation}", f"stores={stores}", "steps=20"),
                f"sizes={commas([16 * n * n * 3 // arrays for n in sizes])}",
            )["points"]
            for n, point in zip(sizes, points, strict=True):
                seconds = ranks * 8 * arrays * n * n / point["result"]["bytes_per_s"]
                best[operation, n] = min(seconds, best.get((operation, n), seconds))
    return {n: best["copy", n] + best["add", n] for n in sizes}


def bench_grid(peer: Path, rounds: int, ranks: int, largest: int) -> list[str]:
    """Halos against DMGlobalToLocal and DMLocalToGlobal; large ones against STREAM."""
    px, py = SHAPES[ranks]
    sizes = commas([n for n in GRIDS if n <= largest])
    ours, theirs, bounds = alternate(
        rounds,
        f"grid, {ranks} ranks",
        lambda: grids(ranks, f"{px}x{py}", largest),
        lambda: launch(ranks, peer, "-test", "grid", "-sizes", sizes, "-px", px, "-py", py),
        lambda: moved_by_stream(ranks, largest),
    )
    title = [f"## sf_grid, {ranks} ranks, {px}x{py}", ""]
    body = [*title, *table("n", ours, theirs, lambda n: 1.5 if n >= LARGE else 1.0)]
    rows = []
    for n in bounds[0]:
        bound, our, their = (
            0.5e6 * median(each[n] for each in figures) for figures in (bounds, ours, theirs)
        )
        rows.append(f"| {n} | {bound:.3g} | {bound / our:.2f} | {bound / their:.2f} |")
    if not rows:
        return body
    return [
        *body,
        f"Apart from halos, a step moves {STEP_BYTES} n² bytes per rank: it reads the points and "
        "writes the array with its halo, then reads both and writes the points. STREAM's copy "
        "and add "
        "of the same bytes, with the same working set, bound the speedup:",
        "",
        "| n | half of copy and add, us | share of haloscope | share of PETSc |",
        "|---|---|---|---|",
        *rows,
        "",
    ]


def bench_setup(peer: Path, setup: Path, rounds: int) -> list[str]:
    """A million leaves a rank."""
    body = ["## Set-up, 1,000,000 leaves per rank, 2 ranks", "", *HEADER]
    times = []
    for graph, words in GRAPHS.items():
        found, theirs = alternate(
            rounds,
            f"setup, {graph}",
            lambda g=graph: launch(2, setup, g),
            lambda g=graph: launch(2, peer, "-test", "setup", "-graph", g),
        )
        ours = [each["setup"] for each in found]
        alone = [each["setup"] for each in theirs]
        both = [each["graph and setup"] for each in theirs]
        body.append(Target(f"{words}: PetscSFSetUp / haloscope", ratios(alone, ours), 1.0).row())
        body.append(Target(f"{words}: with PetscSFSetGraph", ratios(both, ours), 1.0).row())
        times.append(
            f"| {words} | {1e3 * median(ours):.3g} | {1e3 * median(alone):.3g} "
            f"| {1e3 * median(both):.3g} |"
        )
    head = ["| edges | haloscope, ms | PETSc, ms | PETSc with `PetscSFSetGraph`, ms |"]
    return [*body, "", *head, "|---|---|---|---|", *times, ""]


def main() -> None:
    """Run what is asked for, write docs/bench/star_forest.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--largest", type=int, default=GRIDS[-1], help="n of sf_grid")
    names = ["pingpong", "unpack", "scatter", "grid2", "grid3", "grid4", "setup"]
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(names))
    arguments = parser.parse_args()
    rounds, largest = arguments.rounds, arguments.largest
    if unknown := set(arguments.sections) - set(names):
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join(names)}")
    sections = kept("star_forest")
    with tempfile.TemporaryDirectory() as folder:
        peer, setup = build(Path(folder))
        runs: dict[str, Callable[[], list[str]]] = {
            "pingpong": lambda: bench_pingpong(peer, rounds),
            "unpack": lambda: bench_sum(peer, rounds, "unpack"),
            "scatter": lambda: bench_sum(peer, rounds, "scatter"),
            "grid2": lambda: bench_grid(peer, rounds, 2, largest),
            "grid3": lambda: bench_grid(peer, rounds, 3, largest),
            "grid4": lambda: bench_grid(peer, rounds, 4, largest),
            "setup": lambda: bench_setup(peer, setup, rounds),
        }
        for name in arguments.sections or names:
            title, *body = runs[name]()
            sections[title] = [title, "", taken(rounds), *body]
            page = [*chain(*sections.values())]  # written now: a later section may be cut short
            print(write_page("star_forest", "Star forests compared with PETSc", page))


if __name__ == "__main__":
    main()
