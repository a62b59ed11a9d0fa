# SPDX-License-Identifier: BSD-3-Clause
"""Print a record of `pingpong` in the formats of the OSU and Intel MPI Benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from haloscope import __version__
from haloscope.records.record import Record

KERNEL = "pingpong"


def osu(record: Record) -> Iterator[str]:
    """Return the lines of osu_latency, or of osu_bw and osu_bibw if messages stream."""
    name, head, result, factor = {
        "stream": ("Bandwidth", "Bandwidth (MB/s)", "bandwidth_bytes_per_s", 1e-6),
        "bistream": ("Bi-Directional Bandwidth", "Bandwidth (MB/s)", "bandwidth_bytes_per_s", 1e-6),
    }.get(record.params["mode"], ("Latency", "Latency (us)", "latency_s", 1e6))
    yield f"# OSU MPI {name} Test"
    yield from _comments(record)
    yield f"# {'Size':<8}{head:>18}"
    for point in record.points:
        if value := point["result"][result]:
            yield f"{point['size_bytes']:<10}{factor * value:>18.2f}"


def imb(record: Record) -> Iterator[str]:
    """Return the lines of IMB-MPI1 PingPong, or of Uniband and Biband if messages stream."""
    mode = record.params["mode"]
    name = {"stream": "Uniband", "bistream": "Biband"}.get(mode, "PingPong")
    yield from _comments(record)
    yield "#" + 51 * "-"
    yield f"# Benchmarking {name} "
    yield f"# #processes = {record.layout['ranks']} "
    yield "#" + 51 * "-"
    heads = ("t[usec]", "Mbytes/sec") if name == "PingPong" else ("Mbytes/sec", "Msg/sec")
    yield "".join(f"{head:>13}" for head in ("#bytes", "#repetitions", *heads))
    for point in record.points:
        result = point["result"]
        speed = 1e-6 * (result["bandwidth_bytes_per_s"] or 0.0)
        latency = 1e6 * (result["latency_s"] or 0.0)
        values = (latency, speed) if name == "PingPong" else (speed, result["messages_per_s"] or 0)
        numbers = "".join(f"{value:>13.2f}" for value in values)
        yield f"{point['size_bytes']:>13}{point['steps']:>13}{numbers}"
    yield ""
    yield "# All processes entering MPI_Finalize"


def _comments(record: Record) -> Iterator[str]:
    """Yield the comments: origin, and that times are medians over repetitions, not means."""
    times = len(record.times_s)
    yield f"# Printed by haloscope {__version__}: {record.kernel} mode={record.params['mode']}"
    yield f"# Median of {times} repetitions; library: {record.toolchain.get('mpi', 'unknown')}"


PRINTERS: Mapping[str, Callable[[Record], Iterator[str]]] = {"osu": osu, "imb": imb}
