# SPDX-License-Identifier: BSD-3-Clause
"""Run every comparison with another program, and make docs/performance.md of their pages.

usage: .venv/bin/python bench/all.py [SCRIPT ...] [--short | --page]

Scripts: those of COMPARISONS; all by default. --short has fewer rounds: ten minutes on two cores,
instead of an hour. --page runs none. Each script writes its page in docs/bench; what is not run
stays there as it is, with its machine and date. docs/bench/ratios.csv keeps the last ratios of each
machine.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import median
from typing import TypeVar

from turns import ROOT

PAGE = ROOT / "docs" / "performance.md"
KEPT = ROOT / "docs" / "bench" / "ratios.csv"
T = TypeVar("T")


@dataclass(frozen=True)
class Comparison:
    """A script: the kernel, the Debian packages of its peer, and its words for both lengths."""

    kernel: str
    long: str = ""
    short: str = ""
    packages: tuple[str, ...] = ()


_PETSC = ("petsc-dev",)
COMPARISONS: Mapping[str, Comparison] = {
    "poisson_cg": Comparison("poisson_cg", "--rounds 9", "--rounds 2", _PETSC),
    "spmv": Comparison("spmv", "--rounds 9", "3d27 --rounds 2", _PETSC),
    "star_forest": Comparison(
        "star forests", "--rounds 5", "pingpong unpack scatter setup --rounds 2", _PETSC
    ),
    "fft": Comparison("fft_pencil", "--rounds 5", "--rounds 1", ("libfftw3-mpi-dev",)),
    "fe_heat": Comparison("fe_heat", "--rounds 5", "--rounds 1"),
    "jacobi3d": Comparison("jacobi3d", "--rounds 7", "--rounds 1"),
    "pingpong_imb": Comparison("pingpong", "--launches 130", "--launches 10"),
}
"""COMPARISONS are the scripts whose pages have a peer or a bound, in the order of the table."""


@dataclass(frozen=True)
class Line:
    """A comparison. against: the peer, or the bound. ratio: above 1 is faster than it."""

    kernel: str
    case: str
    against: str
    ratio: float
    spread: str
    is_bound: bool
    machine: str
    command: str
    page: str

    @property
    def processor(self) -> str:
        """The machine without the date."""
        return self.machine.rpartition(", ")[0]

    @property
    def date(self) -> str:
        """When it was measured: YYYY-MM-DD."""
        return self.machine.rpartition(", ")[2]

    @property
    def comparison(self) -> tuple[str, ...]:
        """What a later run on the same machine replaces."""
        return self.kernel, self.case, self.against, self.processor

    @property
    def row(self) -> str:
        """The line of its kernel's table in Markdown; a ratio to a peer below 1 stands out."""
        shown = f"**{self.ratio:.3g}**" if self.is_below else f"{self.ratio:.3g}"
        shown += " (slower)" * self.is_slower
        return f"| {' | '.join((self.case, self.against, shown, self.spread))} |"

    @property
    def is_below(self) -> bool:
        """Whether the ratio to a peer is below 1."""
        return self.ratio < 1 and not self.is_bound

    @property
    def is_slower(self) -> bool:
        """Whether ours takes longer than the peer in the whole range of the ratio."""
        return self.is_below and (not self.spread or _number(self.spread.split(" to ")[1]) < 1)

    @property
    def source(self) -> str:
        """Where and how it was measured."""
        return (
            f"Measured on {self.processor} on {self.date}\n"
            f"with [`{self.command}`](bench/{self.page}.md)."
        )


_PEER = re.compile(r"\b(Petsc|PETSc|FFTW|textbook|stored)[^/]* / ")
_WRITTEN = (
    r"^This page was written by `(?:python )?(.*?)` on (\S+) .*? at commit \S+, on (.*?) with Linux"
)
_OWN_DATE = re.compile(
    r"^(?:.*? )?(\d{4}-\d\d-\d\d) [\d:]+ UTC(?:,? (?:at )?commit [\w-]+)?(?:;| on) (.+?)"
    r"(?:, load| with \d+(?: processors|$))"
)


def lines_of(name: str, text: str) -> Iterator[Line]:
    """What a page has of peers and bounds."""
    kernel, section, head = COMPARISONS[name].kernel, "", [""]
    called = re.search(_WRITTEN.replace(" ", r"\s+"), text, re.M | re.S)
    if called is None:
        sys.exit(f"docs/bench/{name}.md: no command, or no machine; run bench/{name}.py")
    machine = f"{' '.join(called[3].split())}, {called[2]}"
    for line in text.splitlines():
        if line.startswith("#"):
            section = line.lstrip("# ") if line.startswith("##") else ""
        elif own := _OWN_DATE.match(line):
            machine = f"{own[2]}, {own[1]}"
            section = section.removesuffix(f", {own[2]}")
        elif not line.startswith("|"):
            head = [""]
        elif not line.startswith("|---"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if head == [""]:
                head = cells
                continue
            found = _ratio(dict(zip(head, cells, strict=True)), head[0])
            if found is not None:
                case = ", ".join(filter(None, (section, found[0])))
                yield Line(kernel, case, *found[1:], machine, " ".join(called[1].split()), name)


def _ratio(row: Mapping[str, str], first: str) -> tuple[str, str, float, str, bool] | None:
    """Case, peer or bound, ratio, its spread, and whether it is a bound; None for other rows."""
    name = row[first]
    case = f"{name} {first}".strip()
    if "faster by" in row:
        return case, "PETSc", _number(row["faster by"]), row["range"], False
    if "sf_pingpong, us" in row:
        ratio = _number(row["PETSc, us"]) / _number(row["sf_pingpong, us"])
        return case, "PETSc", ratio, "", False
    if "IMB-MPI1" in row:
        low, high = (1 / _number(end) for end in row["interval"].split(" to "))
        return name, "IMB-MPI1", 1 / _number(row["ratio"]), f"{high:.3g} to {low:.3g}", False
    if row.get("share"):
        return name, "triad", _number(row["share"]), "", True
    if first == "what" and row["median"].endswith(" x"):
        if " / triad" in name:
            return name.replace(" / triad", ""), "triad", _number(row["median"]), row["range"], True
        if peer := _PEER.search(name):
            against = peer[1].replace("Petsc", "PETSc")
            return name, against, _number(row["median"]), row["range"], False
    return None


LIMITS = "| result | target | measured | bound | limiting factor | next step |"
"""LIMITS is the head of a page's table of targets above earlier results; it is written by hand."""


def limits_of(name: str, text: str) -> list[str]:
    """The lines of a page's table of limits, each behind its kernel."""
    lines = iter(text.splitlines())
    kernel = COMPARISONS[name].kernel
    return [
        f"| {kernel} {line}"
        for start in lines
        if start == LIMITS
        for line in itertools.takewhile(lambda one: one.startswith("|"), lines)
        if not line.startswith("|---")
    ]


def _number(text: str) -> float:
    return float(text.split()[0])


def every_line(pages: Mapping[str, str]) -> list[Line]:
    """The comparisons of the pages, and those that earlier pages had of other machines."""
    new = [line for name, text in pages.items() for line in lines_of(name, text)]
    again = {line.comparison for line in new}
    with KEPT.open(encoding="utf-8", newline="") as file:
        kept = [
            Line(**{**row, "ratio": float(row["ratio"]), "is_bound": row["is_bound"] == "True"})  # type: ignore[arg-type]
            for row in csv.DictReader(file)
        ]
    every = [*new, *(line for line in kept if line.comparison not in again)]
    order = [one.kernel for one in COMPARISONS.values()]
    return sorted(every, key=lambda line: order.index(line.kernel))


def keep(found: Iterable[Line]) -> None:
    """Write docs/bench/ratios.csv."""
    with KEPT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([one.name for one in fields(Line)])
        writer.writerows(astuple(line) for line in found)


def read_pages() -> dict[str, str]:
    """The pages of the scripts."""
    return {
        name: (ROOT / f"docs/bench/{name}.md").read_text(encoding="utf-8") for name in COMPARISONS
    }


def table(pages: Mapping[str, str], found: Sequence[Line]) -> list[str]:
    """docs/performance.md, from the pages' tables of limits and from all comparisons."""
    below = sum(line.is_below for line in found)
    slower = sum(line.is_slower for line in found)
    peers = sum(not line.is_bound for line in found)
    return [
        "# Performance",
        "",
        "This page compares kernels with other programs and with the memory bandwidth of the same",
        "machine (triad). A ratio is the other program's time divided by haloscope's time, or the",
        "achieved share of a bound. "
        f"Of {peers} comparisons with another program, {below} have a ratio below 1 and are",
        f"bold. In {slower} of these {below}, haloscope is slower in all rounds. A ratio applies",
        "only to the machine on which it was measured. `bench/all.py` runs the scripts and",
        "writes this page from their results.",
        *_by_machine(found),
        *_by_kernel(found),
        "",
        "## Limits",
        "",
        "For each target, the table lists the measured value, the bound, and the limiting factor.",
        "Every target was higher than the results at the time when it was set.",
        "",
        f"| kernel {LIMITS}",
        "|---" * 7 + "|",
        *(line for name, text in pages.items() for line in limits_of(name, text)),
    ]


def _by_machine(found: Sequence[Line]) -> Iterator[str]:
    """A table for each machine, the latest first: a row for each kernel and peer or bound."""
    machines = _groups(found, lambda one: one.processor)
    for processor, own in sorted(machines, key=lambda pair: max(one.date for one in pair[1]))[::-1]:
        first, last = min(one.date for one in own), max(one.date for one in own)
        yield from (
            "",
            f"## On {processor}",
            "",
            f"Measured on {first}." if first == last else f"Measured from {first} to {last}.",
            "",
            "| kernel | compared with | comparisons | below 1 | slower | lowest ratio | median "
            "| highest |",
            "|---" * 8 + "|",
        )
        for (kernel, against), rows in _groups(own, lambda one: (one.kernel, one.against)):
            ratios = [one.ratio for one in rows]
            below = sum(one.is_below for one in rows)
            marked = [f"**{below}**" if below else "0", str(sum(one.is_slower for one in rows))]
            yield (
                f"| {kernel} | {against} | {len(rows)} | "
                + " | ".join(["", ""] if rows[0].is_bound else marked)
                + f" | {min(ratios):.3g} | {median(ratios):.3g} | {max(ratios):.3g} |"
            )


def _by_kernel(found: Sequence[Line]) -> Iterator[str]:
    """A section of each kernel, with a table of each run of its script."""
    for kernel, own in _groups(found, lambda one: one.kernel):
        yield from ("", f"## {kernel}")
        for source, rows in _groups(own, lambda one: one.source):
            yield from (
                "",
                *source.splitlines(),
                "",
                "| case | compared with | ratio | range |",
                "|---|---|---|---|",
            )
            yield from (one.row for one in rows)


def _groups(found: Iterable[Line], key: Callable[[Line], T]) -> Iterable[tuple[T, list[Line]]]:
    """Lines by a key, in the order of their first."""
    groups: dict[T, list[Line]] = {}
    for line in found:
        groups.setdefault(key(line), []).append(line)
    return groups.items()


def require(packages: Sequence[str]) -> None:
    """Install the Debian packages of peers that are missing, or say how."""
    query = ["dpkg-query", "--show", "--showformat=${db:Status-Status}"]
    missing = [
        one
        for one in packages
        if shutil.which(query[0]) is None
        or subprocess.run([*query, one], capture_output=True, text=True, check=False).stdout
        != "installed"
    ]
    install = ["apt-get", "install", "--yes", *missing]
    if missing and (os.geteuid() or shutil.which(install[0]) is None):
        sys.exit(f"missing: {', '.join(missing)}. Debian, Ubuntu: sudo {' '.join(install)}")
    if missing:
        subprocess.run(install, check=True)


def main() -> None:
    """Run the scripts, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help=", ".join(COMPARISONS))
    parser.add_argument("--short", action="store_true", help="fewer rounds")
    parser.add_argument("--page", action="store_true", help="run nothing")
    asked = parser.parse_args()
    if unknown := [name for name in asked.scripts if name not in COMPARISONS]:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(COMPARISONS)}")
    names = [] if asked.page else asked.scripts or list(COMPARISONS)
    require([*dict.fromkeys(one for name in names for one in COMPARISONS[name].packages)])
    for name in names:
        words = COMPARISONS[name].short if asked.short else COMPARISONS[name].long
        script = str(Path(__file__).with_name(f"{name}.py").relative_to(ROOT))
        print(f"{script} {words}", flush=True)
        subprocess.run([sys.executable, script, *words.split()], check=True, cwd=ROOT)
    pages = read_pages()
    found = every_line(pages)
    keep(found)
    PAGE.write_text("\n".join(table(pages, found)) + "\n", encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
