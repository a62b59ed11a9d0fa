# SPDX-License-Identifier: BSD-3-Clause
"""The GPUs that this machine's drivers report, read from /proc and /sys."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from haloscope.host.cgroups import read
from haloscope.host.machine import ROOT

_NVIDIA = "proc/driver/nvidia"
_AMD = "sys/class/kfd/kfd/topology/nodes"
_ASKED = ("nvidia-smi", "--query-gpu=pci.bus_id,uuid", "--format=csv,noheader")
_ANSWER_S = 30.0


@dataclass(frozen=True)
class GpuFound:
    """A GPU: its product name, and "cuda" or "hip", with which it is programmed.

    uuid: its unique id, as in other tools. pci: its address. numa: the nearest NUMA node. Each is
    None if unknown.
    """

    name: str
    device: str
    uuid: str | None = None
    pci: str | None = None
    numa: int | None = None


def gpus(root: Path = ROOT) -> list[GpuFound]:
    """Return all GPUs, NVIDIA's first; empty if no driver reports any."""
    return [*_of_nvidia(root), *_of_amd(root)]


def described(root: Path = ROOT) -> list[dict[str, Any]]:
    """Return all GPUs as in a record's `machine`."""
    return [asdict(one) for one in gpus(root)]


def _of_nvidia(root: Path) -> list[GpuFound]:
    found = []
    for file in sorted((root / _NVIDIA / "gpus").glob("*/information")):
        said = _pairs(read(file) or "")
        pci = said.get("Bus Location") or file.parent.name
        uuid = said.get("GPU UUID", "?")
        uuid = uuid if "?" not in uuid else _uuids(root).get(_address(pci), "")
        name = said.get("Model") or "NVIDIA GPU"
        found.append(GpuFound(name, "cuda", uuid or None, pci, _numa(pci, root)))
    return found


def _pairs(text: str) -> dict[str, str]:
    split = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, _, value in split}


def _uuids(root: Path) -> Mapping[str, str]:
    """Return UUIDs by PCI address from nvidia-smi: the driver hides them in /proc until a GPU is
    used.
    """
    if root != ROOT or shutil.which(_ASKED[0]) is None:
        return {}
    try:
        done = subprocess.run(
            _ASKED, capture_output=True, encoding="utf-8", errors="replace", timeout=_ANSWER_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    if done.returncode != 0:  # it reports its errors on standard output
        return {}
    rows = csv.reader(done.stdout.splitlines(), skipinitialspace=True)
    return {_address(row[0]): row[1] for row in rows if len(row) == 2}


def _address(pci: str) -> str:
    """Return a PCI address as in /sys: nvidia-smi writes its domain with eight digits."""
    domain, _, rest = pci.lower().partition(":")
    return f"{domain[-4:]}:{rest}"


def _numa(pci: str, root: Path) -> int | None:
    """Return the NUMA node nearest to a GPU; None if the system does not report it (as -1)."""
    text = read(root / "sys/bus/pci/devices" / _address(pci) / "numa_node") or ""
    return int(text) if text.isdecimal() else None


def _of_amd(root: Path) -> list[GpuFound]:
    found = []
    for node in sorted((root / _AMD).glob("*"), key=lambda path: path.name.zfill(4)):
        lines = (read(node / "properties") or "").splitlines()
        said = dict(line.split(" ", 1) for line in lines if " " in line)
        if _whole(said, "simd_count"):  # a node without is a processor
            name = f"AMD {read(node / 'name') or 'GPU'}"
            pci = _pci_of_amd(said)
            number = _whole(said, "unique_id")
            uuid = f"GPU-{number:016x}" if number else None  # the format of rocminfo
            found.append(GpuFound(name, "hip", uuid, pci, _numa(pci, root) if pci else None))
    return found


def _whole(said: Mapping[str, str], key: str) -> int:
    text = said.get(key, "").strip()
    return int(text) if text.isdecimal() else 0


def _pci_of_amd(said: Mapping[str, str]) -> str | None:
    """Return the PCI address from a node's properties: bus, device, and function in one number."""
    if "location_id" not in said:
        return None
    place = _whole(said, "location_id")
    domain, bus, device = _whole(said, "domain"), place >> 8, place >> 3 & 0x1F
    return f"{domain:04x}:{bus:02x}:{device:02x}.{place & 7}"


def driver(root: Path = ROOT) -> str | None:
    """Return the version of NVIDIA's or AMD's driver; None without one."""
    if (nvidia := nvidia_driver(root)) is not None:
        return f"NVIDIA {nvidia}"
    amd = read(root / "sys/module/amdgpu/version")
    return f"amdgpu {amd}" if amd else None


def nvidia_driver(root: Path = ROOT) -> str | None:
    """Return the version of NVIDIA's driver, such as 550.54; None without one."""
    found = re.search(r"Kernel Module.*?\s(\d+\.[\d.]+)", read(root / _NVIDIA / "version") or "")
    return found[1] if found else None
