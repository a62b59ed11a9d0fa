# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the bench scripts: run competitors in turn (A B A B ...), write what was measured.

The unit is the launch. Every round runs each competitor once, so that a slow change of the machine
falls on all of them alike; the figure of merit is the ratio within a round, its median over rounds.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HEADER = ["| what | median | range | target | |", "|---|---|---|---|---|"]
"""HEADER is above the lines of targets."""


@dataclass(frozen=True)
class Target:
    """One line of a bench's verdict: a figure, what it should reach, and which way is good."""

    what: str
    figures: Sequence[float]
    target: float
    at_most: bool = False
    unit: str = "x"

    def row(self) -> str:
        """The line of the result table: median, range over rounds, target, met or not."""
        middle = median(self.figures)
        met = middle <= self.target if self.at_most else middle >= self.target
        word = "at most" if self.at_most else "at least"
        return (
            f"| {self.what} | {middle:.3g} {self.unit} "
            f"| {min(self.figures):.3g} to {max(self.figures):.3g} "
            f"| {word} {self.target:g} {self.unit} | {'met' if met else 'not met'} |"
        )


def once(kernel: str, *, ranks: int = 1, threads: int = 1, **params: object) -> dict[str, Any]:
    """One launch of a kernel through haloscope itself; its record."""
    command = [
        str(ROOT / "haloscope"), "once", kernel, *(f"{k}={v}" for k, v in params.items()),
        "--ranks", str(ranks), "--threads", str(threads), "--json",
    ]  # fmt: skip
    if ranks * threads > (os.cpu_count() or 1):
        command.append("--oversubscribe")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}{done.stdout}")
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def petsc_flags() -> list[str] | None:
    """What a compiler needs to build against the system's PETSc; None where it is not there."""
    found = sorted(Path("/usr/lib/petscdir").glob("*/*/lib/pkgconfig"))
    env = {**os.environ, "PKG_CONFIG_PATH": os.pathsep.join(map(str, found))}
    command = ["pkg-config", "--cflags", "--libs", "PETSc"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    return done.stdout.split() if done.returncode == 0 else None


def in_turn(competitors: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Seconds (or any figure) of every competitor, one a round."""
    figures: dict[str, list[float]] = {name: [] for name in competitors}
    for number in range(rounds):
        for name, run in competitors.items():
            figures[name].append(run())
            print(f"round {number + 1}/{rounds}  {name:40s} {figures[name][-1]:.6g}", flush=True)
    return figures


def ratios(over: Sequence[float], under: Sequence[float]) -> list[float]:
    """over/under, round by round."""
    return [a / b for a, b in zip(over, under, strict=True)]


def processor() -> str:
    """The processor's model, as /proc/cpuinfo names it; with its numbers if the name has none."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    said = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = said.get("model name") or platform.processor() or "unknown processor"
    if any(map(str.isdigit, name)) or not {"cpu family", "model"} <= said.keys():
        return name
    return f"{name} (family {said['cpu family']}, model {said['model']})"


WIDTH = 150
NOTES = "## Notes"  # the section of a page that is written by hand


def kept(name: str) -> dict[str, list[str]]:
    """The measured sections that are on docs/bench/NAME.md: a part can be taken again."""
    return {title: lines for title, lines in _sections(name).items() if title != NOTES}


def _sections(name: str) -> dict[str, list[str]]:
    """What is on docs/bench/NAME.md, by title."""
    page = ROOT / "docs" / "bench" / f"{name}.md"
    sections: dict[str, list[str]] = {}
    title = ""
    for line in page.read_text().splitlines() if page.exists() else []:
        title = line if line.startswith("## ") else title
        if title:
            sections.setdefault(title, []).append(line)
    for lines in sections.values():  # the page's last one has no empty line below it
        lines += [""] if lines[-1] else []
    return sections


def taken(rounds: int | None = None) -> str:
    """When, where, and at which commit a section was measured, and the load of the machine."""
    several = f" in {rounds} rounds" if rounds else ""
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC at commit {commit()}"
    load = f"{os.cpu_count()} processors and a load average of {os.getloadavg()[0]:.1f}"
    return f"The results were measured{several} on {when} on {processor()} with {load}."


def commit() -> str:
    """The checkout's commit; with -dirty where more than results, which lie in docs, differs."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(ROOT), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return f"{git('rev-parse', '--short', 'HEAD') or 'unknown'}{'-dirty' if changed else ''}"


IN_TURN = (
    "The programs run alternately. Each figure is the median over rounds, with its range. Ratios "
    "are computed per round, so their median may differ from the ratio of the medians."
)


def command() -> str:
    """What was called: folders of results elsewhere by their own names."""
    words = [Path(word).name if word.startswith("/") else word for word in sys.argv[1:]]
    return " ".join(["python", sys.argv[0], *words])


def write_page(name: str, title: str, body: Sequence[str], how: str = IN_TURN) -> Path:
    """Write docs/bench/NAME.md: what was run, where, when and what came out."""
    head = [
        f"# {title}",
        "",
        f"This page was written by `{command()}` on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC at "
        f"commit {commit()}, on {processor()} with {platform.system()} {platform.release()}.",
        "",
        *how.split("\n"),
        "",
    ]
    return write_lines(name, [*head, *body])


def wrapped(line: str) -> str:
    """A line of a page, in several where it is long; tables and commands are not broken."""
    if len(line) <= WIDTH or line.startswith(("|", "#")):
        return line
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def write_lines(name: str, lines: Sequence[str]) -> Path:
    """Write docs/bench/NAME.md; its section of notes, which is written by hand, stays."""
    long = "\n".join([*lines, "", *_sections(name).get(NOTES, [])]).rstrip("\n")
    text = "\n".join(map(wrapped, long.split("\n")))
    page = ROOT / "docs" / "bench" / f"{name}.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(re.sub(r"\n{3,}", "\n\n", text) + "\n", encoding="utf-8")
    return page
