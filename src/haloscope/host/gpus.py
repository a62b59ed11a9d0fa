# SPDX-License-Identifier: BSD-3-Clause
"""The GPUs that this machine's drivers tell of, read from /proc and /sys."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from haloscope.host.machine import ROOT

_NVIDIA = "proc/driver/nvidia"
_AMD = "sys/class/kfd/kfd/topology/nodes"


@dataclass(frozen=True)
class GpuFound:
    """One GPU: its maker's name of it, and "cuda" or "hip", by which it is programmed."""

    name: str
    device: str


def gpus(root: Path = ROOT) -> list[GpuFound]:
    """All of them, NVIDIA's first; empty where no driver tells of any."""
    found = []
    for file in sorted((root / _NVIDIA / "gpus").glob("*/information")):
        model = re.search(r"^Model:\s*(.+?)\s*$", _read(file), re.MULTILINE)
        found.append(GpuFound(model[1] if model else "a GPU of NVIDIA", "cuda"))
    for node in sorted((root / _AMD).glob("*"), key=lambda path: path.name.zfill(4)):
        said = dict(line.split(" ", 1) for line in _read(node / "properties").splitlines())
        if int(said.get("simd_count", "0")) > 0:  # a node without is a processor
            found.append(GpuFound(f"AMD {_read(node / 'name').strip() or 'GPU'}", "hip"))
    return found


def driver(root: Path = ROOT) -> str | None:
    """The version of NVIDIA's driver, or of AMD's; None where there is neither."""
    nvidia = re.search(r"Kernel Module\D*([\d.]+)", _read(root / _NVIDIA / "version"))
    if nvidia:
        return f"NVIDIA {nvidia[1]}"
    amd = _read(root / "sys/module/amdgpu/version").strip()
    return f"amdgpu {amd}" if amd else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
