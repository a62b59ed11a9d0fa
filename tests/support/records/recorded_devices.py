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


def parted_forest(**params: Any) -> Raw:
    """A launch of sf_grid between GPUs of Summit's nodes, whose steps take what their parts do.

    An operation begins with 2 us; a launch takes 12 us, a wait 4 us, messages 9 us. The device
    packs and unpacks in no time, and scatters 1 ns a byte.
    """
    begin, wait, launch, message = 2 * US, 4 * US, 12 * US, 9 * US
    given = {"memory": "device", "mpi": "gpu_aware", "sync": "default_stream", **params}
    raw = star_forest("sf_grid", ranks=9, nodes=9, messages=4, **given)
    points, parts = [], []
    for index, point in enumerate(raw["points"]):
        shape = {**point["shape"], "waits": {"bcast": 1, "reduce": 1}}
        done = {"pack": 0.0, "scatter": 1e-9 * shape["local_bytes"], "unpack": 0.0}
        times = {"messages": 2 * message, "begin": begin, "wait": wait}
        for move, time_s in done.items():
            for operation in ("bcast", "reduce"):
                times[f"{operation} {move} launch"] = launch
                times[f"{operation} {move}"] = launch + time_s + wait
        parts += [
            {"point": index, "name": name, "steps": 1, "times_s": [time_s]}
            for name, time_s in times.items()
        ]
        # while the device scatters, the host launches the unpack, begins again, and packs
        hosts = max(message, launch) + launch + begin + launch
        whole = 2 * (max(hosts, launch + done["scatter"]) + wait)
        result = {"latency_s": whole / 2}
        points.append({**point, "shape": shape, "times_s": [whole], "result": result})
    simulated = {"clock": "simulated", "device": "simulated", "points": points, "parts": parts}
    return {**raw, **simulated}


def forest_on_device(kernel: str, *, launch: int = 0, **params: Any) -> Raw:
    """One launch of a star-forest kernel on an emulated device."""
    given = {"memory": "device", "mpi": "gpu_aware", "sync": "default_stream", **params}
    return {**star_forest(kernel, launch=launch, **given), "device": "emulated"}
