# SPDX-License-Identifier: BSD-3-Clause
"""Kernels in a GPU's memory against the bandwidth of a copy within it, and what cluster files take
of a GPU: copies, launches, and synchronisations.

usage: .venv/bin/python bench/devices.py [KERNEL ...] [--toolchain system+cuda] [--launches 3]

Needs one NVIDIA GPU, with a driver that runs programs of the CUDA compiler that haloscope finds.
Kernels of two ranks share the GPU, and their messages pass through the host's memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

from turns import ROOT, kept, taken, write_page

from haloscope.toolchains import gpu_compilers
from haloscope.toolchains.library import DEFAULT, usual

LIMITS = {
    "memory_bandwidth_bytes_per_s": (
        "copy bandwidth within GPU memory (read and write)",
        1e9,
        "GB/s",
    ),
    "copy_in_bytes_per_s": ("copy bandwidth from pinned host memory", 1e9, "GB/s"),
    "copy_out_bytes_per_s": ("copy bandwidth to pinned host memory", 1e9, "GB/s"),
    "launch_s": ("host time of a kernel launch", 1e-6, "us"),
    "launch_latency_s": ("additional time to launch a kernel and wait for it", 1e-6, "us"),
    "stream_sync_s": ("time to synchronise with an idle stream", 1e-6, "us"),
    "device_sync_s": ("time to synchronise with an idle GPU", 1e-6, "us"),
    "query_s": ("time to query the memory type of an address", 1e-6, "us"),
}
"""LIMITS are by their keys in a cluster file's [node.gpu], where it has them, with their units."""


@dataclass(frozen=True)
class Setting:
    """A case. many: what its parameter takes in turn. ranks: two share the GPU."""

    kernel: str
    key: str
    many: Sequence[object]
    params: Mapping[str, object] = field(default_factory=dict)
    ranks: int = 1

    def cases(self) -> list[dict[str, object]]:
        """The parameters of each, those first that tell it from others."""
        return [{self.key: one, **self.params} for one in self.many]


TWO = {"mpi": "staged", "gpus_shared": 2}
SETTINGS = (
    Setting("jacobi3d", "L", (128, 256, 512)),
    Setting("jacobi3d", "L", (512,), {"precision": "float"}),
    Setting("poisson_cg", "n", (1024, 4096, 8192), {"variant": "textbook", "iterations": 20}),
    Setting("spmv", "n", (100, 160), {"matrix": "3d27"}),
    Setting("spmv", "n", (200,), {"matrix": "3d7"}),
    Setting("spmv", "n", (4000000,), {"matrix": "random", "bandwidth": 20000}),
    Setting("launches", "size", ("16K", "1M", "64M")),
)
FORESTS = (
    Setting("sf_unpack", "sizes", ("8M",), TWO, 2),
    Setting("sf_scatter", "sizes", ("8M",), TWO, 2),
    Setting("sf_grid", "n", (1024, 4096)),
)
ON_FORESTS = ("pack", "scatter", "unpack")


def measured(setting: Setting, params: Mapping[str, object], chosen: Any) -> list[dict[str, Any]]:
    """The records of launches of a case, all of which were verified."""
    command = [
        str(ROOT / "haloscope"), "once", setting.kernel, "memory=device",
        *(f"{key}={value}" for key, value in params.items()), "--ranks", str(setting.ranks),
        f"repetitions={chosen.repetitions}", "--toolchain", chosen.toolchain,
        "--launches", str(chosen.launches), "--json",
    ]  # fmt: skip
    print(" ".join(command[1:]), flush=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}{done.stdout}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def row(what: Sequence[object], seconds: float, moved: float, copy: float) -> str:
    """A line of a table: a time, what it moved, and its share of the copy's bandwidth."""
    rate = moved / seconds
    numbers = (1e6 * seconds, 1e-6 * moved, 1e-9 * rate)
    cells = [f"{one:.0f}" if one >= 1000 else f"{one:.4g}" for one in numbers]
    cells.append(f"{rate / copy:.0%}")
    return "| " + " | ".join(map(str, (*what, *cells))) + " |"


def words(params: Mapping[str, object]) -> str:
    """Parameters as a user gives them."""
    return ", ".join(f"`{key}={value}`" for key, value in params.items())


def steps(setting: Setting, copy: float, chosen: Any) -> list[str]:
    """A step of each case against the copy; of launches, both of its chains."""
    lines = []
    for params in setting.cases():
        records = measured(setting, params, chosen)
        points = [record["points"] for record in records]
        if not points[0]:
            seconds = median(chain(*(record["times_s"] for record in records)))
            moved = records[0]["work"]["bytes"]
            lines.append(row((setting.kernel, words(params)), seconds, moved, copy))
        for same in zip(*points, strict=True):
            seconds = median(chain(*(point["times_s"] for point in same)))
            what = f"{words(params)}, {same[0]['operation']}"
            lines.append(row((setting.kernel, what), seconds, same[0]["bytes"], copy))
    return lines


def parts(setting: Setting, copy: float, chosen: Any) -> list[str]:
    """The moves of a forest's step by themselves, each with its launch and its wait."""
    lines = []
    for params in setting.cases():
        records = measured(setting, {**params, "parts": "yes"}, chosen)
        moved = records[0]["points"][0]["shape"]["moved_bytes"]
        for name, bytes_ in moved.items():
            if not bytes_:
                continue
            times = chain(*(part["times_s"] for each in records for part in each["parts"]
                            if part["name"] == name))  # fmt: skip
            read_and_written = bytes_ * (3 if adds(setting, name) else 2)
            what = (setting.kernel, words(params), name)
            lines.append(row(what, median(times), read_and_written, copy))
    return lines


def adds(setting: Setting, move: str) -> bool:
    """Is what a move reaches read, too, to be added to?"""
    if move.endswith(" pack"):
        return False
    return setting.kernel != "sf_grid" or move.startswith("reduce")


def limits(folder: Path) -> dict[str, Any]:
    """Copies, launches and synchronisations, by device_limits.cu."""
    program = folder / "device_limits"
    source = ROOT / "bench" / "device_limits.cu"
    compiler = str(gpu_compilers.find("cuda"))
    command = [compiler, "-O3", "-std=c++20", "-arch=native", str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"device_limits failed: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Run what is asked for, write docs/bench/devices.md."""
    names = [*dict.fromkeys(each.kernel for each in (*FORESTS, *SETTINGS))]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--toolchain", default=f"{usual() or DEFAULT}+cuda")
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=", ".join(names))
    chosen = parser.parse_args()
    if unknown := set(chosen.kernels) - set(names):
        parser.error(f"no kernel {', '.join(unknown)}; there are {', '.join(names)}")
    with tempfile.TemporaryDirectory() as folder:
        found = limits(Path(folder))
    copy = found["memory_bandwidth_bytes_per_s"]
    sections = kept("devices")
    when = f"The GPU is an {found['gpu']} with a driver for CUDA {found['driver_cuda']}. {taken()}"

    def keep(title: str, head: Sequence[str], lines: Sequence[str]) -> None:
        sections[title] = [title, "", when, "", *head, *lines, ""]

    how = (
        f"Each figure is the median over {chosen.repetitions} repetitions in each of "
        f"{chosen.launches} launches. The results were verified. Bandwidths are computed from the "
        "bytes that the algorithm moves: each value that a device kernel reads or writes is "
        "counted once."
    )
    keep("## Limits", ["| limit | value | key in a cluster file |", "|---|---|---|"], [
        f"| {text} | {found[key] / unit:.4g} {name} | `{key}` |"
        for key, (text, unit, name) in LIMITS.items()
    ])  # fmt: skip
    columns = "time, us | moved, MB | GB/s | share of the copy |"
    for name in chosen.kernels or names:
        lines = [*chain(*(steps(one, copy, chosen) for one in SETTINGS if one.kernel == name))]
        head = [f"| kernel | parameters | {columns}", "|---|---|---|---|---|---|"]
        if not lines:
            lines = [*chain(*(parts(one, copy, chosen) for one in FORESTS if one.kernel == name))]
            head = [f"| kernel | parameters | part | {columns}", "|---|---|---|---|---|---|---|"]
        keep(f"## {name}", head, lines)
        page = write_page("devices", "Kernels in GPU memory", [*chain(*sections.values())], how)
        print(page, flush=True)


if __name__ == "__main__":
    main()
