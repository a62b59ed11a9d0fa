# SPDX-License-Identifier: BSD-3-Clause
"""Records of kernels in the memory of a device, as halobench makes them."""

from __future__ import annotations

from typing import Any

from recorded import Raw, record, star_forest

US = 1e-6


def launches(pipelined_us: float, synchronised_us: float, launch: int = 0, **params: int) -> Raw:
    """One launch on an emulated device."""
    times = {"pipelined": pipelined_us * US, "synchronised": synchronised_us * US}
    points = [
        {
            "size_bytes": params.get("size", 4096),
            "operation": name,
            "result": {"chain_s": time},
            "steps": 1,
            "times_s": [time],
            "bytes": 1.0,
        }
        for name, time in times.items()
    ]
    result = {f"{name}_s": time for name, time in times.items()}
    given = {"memory": "device", "size": 4096, **params}
    whole = [sum(times.values())]
    return record("launches", given, whole, launch=launch, points=points, result=result,
                  device="emulated")  # fmt: skip


def forest_on_device(kernel: str, *, launch: int = 0, **params: Any) -> Raw:
    """One launch of a star-forest kernel on an emulated device."""
    given = {"memory": "device", "mpi": "gpu_aware", "sync": "default_stream", **params}
    return {**star_forest(kernel, launch=launch, **given), "device": "emulated"}
