# SPDX-License-Identifier: BSD-3-Clause
"""GPUs as drivers describe them: which one it is, and what it is next to."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_machine import FakeMachine

from haloscope.host import gpus
from haloscope.host.gpus import GpuFound

UUID = "GPU-6f1c3a52-9d0e-4b3a-8a53-0c8d7e3f1b2a"
INFORMATION = """\
Model: \t\t NVIDIA H100 80GB HBM3
IRQ:   \t\t 18
GPU UUID: \t {uuid}
Video BIOS: \t 96.00.99.00.01
Bus Type: \t PCIe
DMA Size: \t 52 bits
DMA Mask: \t 0xfffffffffffff
Bus Location: \t 0000:b7:00.0
Device Minor: \t 5
GPU Excluded:\t No"""
"""INFORMATION is a file of NVIDIA's driver (550.54)."""
KFD = "sys/class/kfd/kfd/topology/nodes"


def nvidia(root: Path, uuid: str) -> FakeMachine:
    fake = FakeMachine(root)
    fake.write("proc/driver/nvidia/gpus/0000:b7:00.0/information", INFORMATION.format(uuid=uuid))
    return fake.write("sys/bus/pci/devices/0000:b7:00.0/numa_node", "1")


def test_an_nvidia_gpu_is_identified_by_uuid_and_address(tmp_path: Path) -> None:
    (found,) = gpus.gpus(nvidia(tmp_path, UUID).root)

    assert found == GpuFound("NVIDIA H100 80GB HBM3", "cuda", UUID, "0000:b7:00.0", 1)


def test_a_uuid_hidden_by_the_driver_is_queried_from_nvidia_smi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = nvidia(tmp_path, "GPU-????????-????-????-????-????????????").root
    assert [one.uuid for one in gpus.gpus(root)] == [None]
    smi = tmp_path / "bin" / "nvidia-smi"
    smi.parent.mkdir()
    smi.write_text(f"#!/bin/sh\necho '00000000:B7:00.0, {UUID}'\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{smi.parent}:/bin")
    monkeypatch.setattr(gpus, "ROOT", root)

    assert [one.uuid for one in gpus.gpus(root)] == [UUID]


def test_an_amd_gpu_is_identified_by_its_number_and_address(tmp_path: Path) -> None:
    fake = FakeMachine(tmp_path)
    lines = ["cpu_cores_count 0", "simd_count 440", "location_id 53504", "domain 0"]
    fake.write(f"{KFD}/4/properties", "\n".join([*lines, "unique_id 11952110318276574021"]))
    fake.write(f"{KFD}/4/name", "aldebaran")
    fake.write("sys/bus/pci/devices/0000:d1:00.0/numa_node", "-1")

    assert gpus.gpus(fake.root) == [
        GpuFound("AMD aldebaran", "hip", f"GPU-{11952110318276574021:016x}", "0000:d1:00.0", None)
    ]


def test_text_in_place_of_numbers_is_not_an_amd_gpu(tmp_path: Path) -> None:
    fake = FakeMachine(tmp_path)
    fake.write(f"{KFD}/4/properties", "simd_count many\nlocation_id x\ndomain y\nunique_id z")
    fake.write(f"{KFD}/5/properties", "simd_count 440\nlocation_id x\ndomain y\nunique_id z")

    assert gpus.gpus(fake.root) == [GpuFound("AMD GPU", "hip", None, "0000:00:00.0", None)]


@pytest.mark.parametrize("text", ["#!/no/such/python3\n", "\x7fnothing\n", "#!/bin/sh\nexit 9\n"])
def test_a_broken_nvidia_smi_returns_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    root = nvidia(tmp_path, "GPU-????????-????-????-????-????????????").root
    smi = tmp_path / "bin" / "nvidia-smi"
    smi.parent.mkdir()
    smi.write_text(text)
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{smi.parent}:/bin")
    monkeypatch.setattr(gpus, "ROOT", root)

    assert [one.uuid for one in gpus.gpus(root)] == [None]
