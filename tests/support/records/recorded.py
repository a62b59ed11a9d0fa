# SPDX-License-Identifier: BSD-3-Clause
"""Realistic records to test with, as a laptop with two cores would give them.

Times follow a simple machine (13 GB/s on one core, 25 on two, latency 0.45 µs) with seeded noise.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from math import pi, sin
from pathlib import Path
from statistics import median
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.grouping import group
from haloscope.layout import Layout
from haloscope.records.kernels import declared, defaults
from haloscope.records.record import Record
from haloscope.study.case import identity

Raw = dict[str, Any]

MACHINE: Raw = {
    "host": "lark",
    "cpu": "Intel(R) Core(TM) i5-6200U CPU @ 2.30GHz",
    "sockets": 1,
    "cores": 2,
    "threads_per_core": 1,
    "caches": [
        {"level": 1, "size_bytes": 32768, "shared_by": 1},
        {"level": 2, "size_bytes": 2097152, "shared_by": 1},
        {"level": 3, "size_bytes": 33554432, "shared_by": 2},
    ],
    "memory_bytes": 16 * 2**30,
    "governor": None,
    "os": "Debian GNU/Linux 12 (bookworm)",
    "busy_processors": 0.08,
    "topology": {"core": ["0", "1"], "cache": ["0-1"], "numa": ["0-1"], "socket": ["0-1"]},
}
TOOLCHAIN: Raw = {
    "name": "system",
    "mpi": "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, May 26, 2022",
    "compiler": "g++ 12.2.0",
    "flags": "-O3 -march=native -std=c++20",
    "source": "5f0c9a7be21d",
}
ITERATIONS = {32: 48, 64: 96, 128: 192, 256: 387, 512: 783, 1024: 1581, 2048: 3192, 4096: 6452}
ITERATIONS[8192] = 13033
ERRORS = {
    32: 3.01270e-3,
    64: 7.78098e-4,
    128: 1.97640e-4,
    256: 4.97970e-5,
    512: 1.24940e-5,
    1024: 3.12660e-6,
    2048: 7.80190e-7,
    4096: 1.93660e-7,
    8192: 4.7392e-8,
}
BYTES = {"textbook": 120.0, "fused": 56.0}
VECTORS = {"textbook": 4, "fused": 3}
ORDINARY: Raw = {
    "runner": "local",
    "clock": "wall",
    "outcome": "ok",
    "reason": None,
    "steps": 1,
    "warmup": 0,
    "synchronisation": "barrier",
    "points": [],
    "phases": [],
    "result": {},
    "work": {"bytes": 0.0, "flops": 0.0, "messages": 0.0},
    "memory": {
        "predicted_bytes": 33554432,
        "allocated_bytes": 25231360,
        "rss_bytes": 40000000,
        "peak_bytes": 41000000,
    },
    "timer": {"function": "MPI_Wtime", "resolution_s": 1e-9, "cost_s": 2.5e-8},
    "machine": MACHINE,
    "started": "2026-11-21T01:02:03.456Z",
    "ended": "2026-11-21T01:02:06.456Z",
    "wall_s": 2.9,
    "seed": 12345,
    "study": "quick",
    "run": 0,
    "haloscope": "0.1.0",
    "git": {"commit": "0123456789abcdef0123456789abcdef01234567", "dirty": False},
}
"""What most good launches have in common."""


def record(
    kernel: str,
    params: Raw,
    times_s: Sequence[float],
    *,
    ranks: int = 1,
    threads: int = 1,
    nodes: int = 1,
    launch: int = 0,
    **changes: Any,
) -> Raw:
    """One good record; `changes` replace its keys, `layout` and `toolchain` key by key."""
    layout = {
        "nodes": nodes,
        "ppn": ranks // nodes,
        "ranks": ranks,
        "threads": threads,
        "places": "cores",
        "bind": "close",
        "oversubscribed": False,
        "seen": [
            {"rank": r, "host": "lark", "cpus": [r], "thread_cpus": [[r]]} for r in range(ranks)
        ],
        **changes.pop("layout", {}),
    }
    toolchain = {**TOOLCHAIN, **changes.pop("toolchain", {})}
    usual = defaults(kernel) if kernel in declared() else {}
    repeated = {"repetitions": len(times_s) or 1, "warmup": 0}
    params = {**usual, **params, **repeated}
    raw = {
        "schema": 1,
        "launch": launch,
        "kernel": kernel,
        "params": params,
        "layout": layout,
        "toolchain": toolchain,
        "transport": None,
        "times_s": list(times_s),
        "command": ["mpirun", "-n", str(ranks), "halobench", kernel],
        **deepcopy(ORDINARY),
        **changes,
    }
    return {**raw, "case": case_id(raw)}


def case_id(raw: Raw) -> str:
    """The id of the case with a record's settings."""
    layout = Layout.recorded(raw["layout"])
    name = raw["toolchain"]["name"]
    return identity(raw["kernel"], raw["params"], layout, name, raw["transport"])


def bad(raw: Raw, outcome: str, reason: str) -> Raw:
    """The same launch gone wrong. Only wrong and misplaced ones have measurements."""
    if outcome in ("wrong", "misplaced"):
        return {**raw, "outcome": outcome, "reason": reason}
    nothing: Raw = {"times_s": [], "points": [], "phases": [], "result": {}}
    nothing |= {"parts": [], "timeline": []}
    return {**raw, **nothing, "outcome": outcome, "reason": reason, "stderr": "out of memory"}


def poisson(
    n: int,
    *,
    ranks: int = 1,
    threads: int = 1,
    nodes: int = 1,
    launch: int = 0,
    time_s: float | None = None,
    variant: str = "fused",
    exchange: str = "nonblocking",
    surface: int = 0,
    **changes: Any,
) -> Raw:
    """One launch of the Poisson solver; without a time, the simple machine's."""
    noise = random.Random(f"{n} {ranks} {threads} {nodes} {launch} {variant} {exchange}")
    iterations = ITERATIONS[n]
    traffic = BYTES[variant] * n * n * iterations
    if time_s is None:
        bandwidth = 12e9 * (ranks * threads) ** 0.95
        slower = 1.04 if exchange == "blocking" and ranks > 1 else 1.0
        time_s = (traffic / bandwidth + iterations * 2e-6 * (ranks > 1)) * slower
        time_s *= noise.lognormvariate(0, 0.01)
    result: Raw = {
        "iterations": iterations,
        "error_max": ERRORS[n],
        "error_max_bound": 8 / (n + 1) ** 2 + 1e-7,
        "residual_relative": 9.9e-7,
        "residual_relative_bound": 2e-6,
        "bytes_per_point_iteration": BYTES[variant],
        "points": n * n,
        "iterations_passed_over": 0,
    }
    if surface:
        result["surface"] = _surface(surface, ERRORS[n])
    params = {
        "n": n,
        "variant": variant,
        "exchange": exchange,
        "decomposition": "rows",
        "iterations": 0,
        "surface": surface,
    }
    allocated = VECTORS[variant] * 8 * n * n
    return record(
        "poisson_cg",
        params,
        [time_s],
        ranks=ranks,
        threads=threads,
        nodes=nodes,
        launch=launch,
        **{
            "phases": _phases(time_s, ranks, traffic),
            "result": result,
            "memory": {
                "predicted_bytes": allocated,
                "allocated_bytes": allocated,
                "rss_bytes": allocated + 12 * 2**20 * ranks,
                "peak_bytes": allocated + 13 * 2**20 * ranks,
            },
            **changes,
        },
    )


def _phases(time_s: float, ranks: int, traffic: float) -> list[Raw]:
    shares = {"sweep": 0.93} if ranks == 1 else {"sweep": 0.85, "halo": 0.05, "reduce": 0.07}
    return [
        {
            "name": name,
            "calls": 100,
            "time_s": {
                "min": 0.97 * share * time_s,
                "mean": share * time_s,
                "max": 1.02 * share * time_s,
            },
            "bytes": traffic if name == "sweep" else 0.0,
            "flops": traffic / 6 if name == "sweep" else 0.0,
            "model_s": None,
        }
        for name, share in shares.items()
    ]


def _surface(points: int, error: float) -> Raw:
    at = [k / (points - 1) for k in range(points)]
    solution = [sin(pi * x) ** 2 * sin(pi * y) ** 2 for y in at for x in at]
    return {"points": points, "solution": solution, "error": [-error * u for u in solution]}


def stream(*, ranks: int = 1, launch: int = 0, **changes: Any) -> Raw:
    """One launch of stream over working sets from 32 KiB to 256 MiB a rank."""
    noise = random.Random(f"stream {ranks} {launch}")
    points = []
    for size in (2**k for k in range(15, 29)):
        one = 60e9 if size <= 2**15 else 38e9 if size <= 2**21 else 20e9 if size <= 2**24 else 13e9
        shared = 0.95 if size > 2**21 else 1.0
        for operation, arrays, fetched, relative in (
            ("copy", 2, 1, 0.95), ("triad", 3, 1, 1.0), ("dot", 2, 0, 1.1)
        ):  # fmt: skip
            bytes_ = arrays * size / 3 * ranks
            rate = one * relative * ranks * shared ** (ranks - 1)
            times = [bytes_ / rate * noise.lognormvariate(0, 0.02) for _ in range(5)]
            points.append(
                {
                    "size_bytes": size,
                    "operation": operation,
                    "steps": 10,
                    "times_s": times,
                    "bytes": bytes_,
                    "passes": 1,
                    "result": {
                        "bytes_per_s": bytes_ / median(times),
                        "traffic_bytes": bytes_ * (arrays + fetched) / arrays,
                    },
                }
            )
    largest = {p["operation"]: p["result"]["bytes_per_s"] for p in points[-3:]}
    return record(
        "stream",
        {"sizes": "32K:256M", "operation": "all", "stores": "plain"},
        [sum(point["times_s"][k] for point in points) for k in range(5)],
        ranks=ranks,
        launch=launch,
        **{
            "points": points,
            "result": {f"{name}_bytes_per_s": value for name, value in largest.items()},
            **changes,
        },
    )


def pingpong(
    *, launch: int = 0, sizes: Iterable[int] | None = None, mode: str = "imb", **changes: Any
) -> Raw:
    """One launch of the ping-pong: latency 0.45 µs, 10 GB/s."""
    noise = random.Random(f"pingpong {launch}")
    chosen = [0, *(2**k for k in range(23))] if sizes is None else list(sizes)
    points: list[Raw] = []
    for size in chosen:
        half = 0.45e-6 + size / (10e9 if size <= 2**20 else 7.4e9)
        times = [2 * half * noise.lognormvariate(0, 0.03) for _ in range(5)]
        latency = median(times) / 2
        points.append(
            {
                "size_bytes": size,
                "operation": None,
                "steps": 2000,
                "times_s": times,
                "bytes": 2 * size,
                "messages": 2,
                "checked_messages": 20000,
                "result": {
                    "latency_s": latency,
                    "bandwidth_bytes_per_s": size / latency,
                    "messages_per_s": 1 / latency,
                },
            }
        )
    result = {
        "latency_s": points[0]["result"]["latency_s"],
        "bandwidth_bytes_per_s": max(p["result"]["bandwidth_bytes_per_s"] for p in points),
        "messages_per_s": max(p["result"]["messages_per_s"] for p in points),
    }
    return record(
        "pingpong",
        {"mode": mode, "sizes": ",".join(map(str, chosen))},
        [sum(point["times_s"][k] for point in points) for k in range(5)],
        ranks=2,
        launch=launch,
        **{"points": points, "result": result, **changes},
    )


def ring(cycle_s: float, *, ranks: int = 1, **given: Any) -> Raw:
    """One launch of the ring, whose messages take so long to be back."""
    back = ranks * (ranks - 1) // 2
    result = {
        **{"cycle_s": cycle_s, "cycle_mean_s": cycle_s, "cycle_deviation_s": None},
        **{"messages_received": 2 * ranks, "values": [-back, back]},
    }
    return record("ring", {}, [cycle_s], ranks=ranks, result=result, **given)


def overheads(launch: int) -> Raw:
    """L = 1 µs, o_s = 0.2 µs, o_r = 0.3 µs, g = 0.5 µs, G = 0.1 ns a byte."""
    points = []
    for size in (1, 64, 1024, 65536):
        beyond = 1e-10 * (size - 1)
        trip = 2 * (1.5e-6 + beyond)
        result = {
            "round_trip_s": trip,
            "burst_s": trip + 15 * (0.5e-6 + beyond),
            "delayed_s": trip + 15 * (0.2e-6 + trip),
            "delay_s": trip,
            "receive_s": 0.3e-6,
            "send_s": 0.2e-6 if size < 65536 else 1.1 * trip,
            "wait_s": trip,
        }
        times = [1e-4 * (1 + 0.01 * launch)]
        point = {"size_bytes": size, "operation": None, "steps": 1, "times_s": times, "bytes": size}
        points.append({**point, "result": result})
    found = {"burst": 16, "round_trip_s": 2 * 1.5e-6}
    changes: Raw = {"points": points, "result": found}
    return record("loggp", {"burst": 16}, [1e-3], ranks=2, launch=launch, **changes)


def quick(launches: int = 5) -> list[Raw]:
    """What the quick study gives on two cores, with some launches gone wrong."""
    raws = []
    for launch in range(launches):
        raws += [stream(ranks=ranks, launch=launch) for ranks in (1, 2)]
        raws.append(pingpong(launch=launch))
        raws += [
            poisson(n, ranks=ranks, exchange=exchange, launch=launch)
            for n in (256, 512, 1024)
            for ranks in (1, 2)
            for exchange in ("blocking", "nonblocking")
        ]
        raws += [poisson(n, variant="textbook", launch=launch) for n in (512, 1024)]
    raws[-1] = bad(raws[-1], "timeout", "not done after 600 s")
    raws[-3] = bad(raws[-3], "wrong", "error 1.2e-02 is above the bound 4 h^2 = 3.8e-06")
    return raws


def records(raws: Iterable[Raw]) -> list[Record]:
    """JSON objects as records."""
    return [Record.of(raw) for raw in raws]


def cases(raws: Iterable[Raw]) -> list[MeasuredCase]:
    """JSON objects as cases."""
    return group(records(raws))


def write_folder(folder: Path, raws: Iterable[Raw], study: str | None = None) -> Path:
    """A result folder with these records and the text of a study file."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(raw) + "\n" for raw in raws)
    (folder / "records.jsonl").write_text(lines, encoding="utf-8")
    if study is not None:
        (folder / "study.toml").write_text(study, encoding="utf-8")
    return folder


def changed(raw: Mapping[str, Any], **changes: Any) -> Raw:
    """A copy of a record with some keys replaced."""
    return {**raw, **changes}


def of_case(raw: Mapping[str, Any], **settings: Any) -> Raw:
    """The record of another case, whose id is that of the settings it then has."""
    other = {**raw, **settings}
    return {**other, "case": case_id(other)}


def star_forest(
    kernel: str = "sf_scatter",
    *,
    ranks: int = 2,
    nodes: int = 1,
    launch: int = 0,
    messages: int = 1,
    **params: Any,
) -> Raw:
    """One launch of a star-forest kernel with the parts of its steps, and the last one's timeline.

    Messages take 1 µs + 0.1 ns a byte, the rest 10 ns + 0.3 ns a byte: the scatter is longer above
    4 KiB or so. The whole is what max() makes of them. sf_grid has n² points and n in a message.
    """
    noise = random.Random(f"{kernel} {ranks} {nodes} {launch} {params}")
    grid = kernel == "sf_grid"
    points: list[Raw] = []
    parts: list[Raw] = []
    for index, n in enumerate([4, 8, 16, 32, 64] if grid else [8, 64, 512, 4096, 32768]):
        remote = 8 * n * messages if grid else n
        local = 8 * n * n if grid else n
        message = 1e-6 + 1e-10 * remote
        moves = {"pack": 1e-8 + 1e-10 * remote, "scatter": 1e-8 + 3e-10 * local, "unpack": 2e-8}
        pack, scatter, unpack = moves.values()
        # Of a pair one rank scatters, while the other unpacks what it got, packs, and sends it.
        whole = pack + max(2 * message + unpack + pack, 2 * scatter) + unpack
        whole = 2 * (pack + max(message, scatter) + unpack) if grid else whole
        names = {"messages": 2 * message} | {
            f"{op} {name}": time for op in ("bcast", "reduce") for name, time in moves.items()
        }
        parts += [
            {"point": index, "name": name, "steps": 1, "times_s": [time * noise.uniform(1, 1.02)]}
            for name, time in names.items()
        ]
        moved = {"pack": remote, "scatter": local, "unpack": remote}
        shape = {
            "messages": messages,
            "remote_bytes": remote,
            "local_bytes": local,
            "moved_bytes": {
                f"{op} {name}": moved[name] for op in ("bcast", "reduce") for name in moved
            },
        }
        point: Raw = {"size_bytes": 8 * n if grid else n, "operation": None, "shape": shape}
        more = {"n": n} if grid else {}
        times = [whole * noise.uniform(1, 1.02)]
        result = {"latency_s": times[0] / 2}
        point |= {**more, "result": result, "steps": 1, "times_s": times, "bytes": 16.0}
        points.append(point)
    spans = [["pack", 0, 1e-7, 2e-7], ["wait", 1, 3e-7, 9e-7], ["exchange", 0, 2e-7, 1e-6]]
    trace = {"clock_error_s": 4e-7, "ranks": [spans] * ranks}
    total = [sum(point["times_s"][0] for point in points)]
    raw = record(kernel, {"parts": "yes", "timeline": 8, **params}, total, ranks=ranks,
                 nodes=nodes, launch=launch)  # fmt: skip
    found = {"points": points, "parts": parts, "result": points[0]["result"]}
    return {**raw, **found, "timeline": [trace] * len(points)}


def on_device(kernel: str, **params: Any) -> Raw:
    """A launch of a star forest in an emulated device's memory."""
    return {**star_forest(kernel, memory="device", **params), "device": "emulated"}


def spmv(
    *,
    ranks: int = 1,
    threads: int = 1,
    nodes: int = 1,
    launch: int = 0,
    time_s: float | None = None,
    **params: Any,
) -> Raw:
    """One launch of the sparse product, of 27 million nonzeros in a million rows.

    27 ms on one core; on p of them, a p-th and 1 ms. The rank with the most has a tenth more
    nonzeros than the mean, and ghosts for a plane of 10,000 points on either side.
    """
    given = {"matrix": "3d27", "n": 100, "overlap": "split", "partition": "rows", **params}
    noise = random.Random(f"{given} {ranks} {threads} {nodes} {launch}")
    cores = ranks * threads
    time = (27e-3 / cores + (1e-3 if cores > 1 else 0)) if time_s is None else time_s
    time *= noise.uniform(1, 1.02)
    nonzeros = 27_000_000
    result = {
        "rows": 1_000_000,
        "nonzeros": nonzeros,
        "nonzeros_of_a_rank": nonzeros if ranks == 1 else 1.1 * nonzeros / ranks,
        "off_diagonal": 9 * 10_000 * 2 * (ranks - 1),
        "ghosts": 20_000 * (ranks - 1),
        "ghosts_of_a_rank": min(2, ranks - 1) * 10_000,
        "bytes_per_nonzero": 13.0,
    }
    phases = [
        {"name": name, "calls": 1, "bytes": 0.0, "flops": 0.0, "model_s": None,
         "time_s": {key: share * time for key in ("min", "mean", "max")}}
        for name, share in (("begin", 0.05), ("diagonal", 0.8), ("end", 0.1))
    ]  # fmt: skip
    return record("spmv", given, [time], ranks=ranks, threads=threads, nodes=nodes,
                  launch=launch, phases=phases, result=result)  # fmt: skip


def heat(
    *,
    ranks: int = 1,
    threads: int = 1,
    launch: int = 0,
    time_s: float = 6.0,
    **params: Any,
) -> Raw:
    """One launch of heat conduction on 64^3 elements: 120 iterations, a 60th of it the matrix."""
    given = {"size": "64x64x64", "operator": "csr", "iterations": 0, "tolerance": 1e-8, **params}
    time = time_s * random.Random(f"{given} {ranks} {threads} {launch}").uniform(1, 1.02)
    stored = given["operator"] == "csr"
    result = {
        **{"iterations": 120, "mean": 0.1680, "error_max": 1.13e-4, "error_max_bound": 3.66e-4},
        **{"residual_relative": 9e-9, "residual_relative_bound": 2e-8, "rows": 250_047},
        **{"nonzeros": 6_539_203 if stored else None, "imbalance": 1.0, "ghosts": 3_969 * ranks},
        **{"bytes_per_row_iteration": 417.8 if stored else 72.0, "iterations_passed_over": 0},
    }
    shares = {"generate": 1 / 120, "assemble": 1 / 120, "matvec": 0.8, "update": 0.183}
    phases = [
        {"name": name, "calls": 1, "bytes": 0.0, "flops": 0.0, "model_s": None,
         **{key: dict.fromkeys(("min", "mean", "max"), share * time)
            for key in ("time_s", "median_s")}}
        for name, share in shares.items()
        if stored or name != "generate"
    ]  # fmt: skip
    return record("fe_heat", given, [time], ranks=ranks, threads=threads, launch=launch,
                  phases=phases, result=result)  # fmt: skip


def fft(
    *,
    ranks: int = 2,
    threads: int = 1,
    launch: int = 0,
    time_s: float = 0.1,
    **params: Any,
) -> Raw:
    """One launch of the Fourier transform of 128^3 points, a fifth of it in transposes."""
    given = {
        **{"size": "128x128x128", "topology": f"{ranks}x1", "transpose": "pipelined"},
        **{"layout": "blocked", "planning": "measure", **params},
    }
    given = {"chunks": 8 if given["transpose"] == "pipelined" else 1, **given}
    time = time_s * random.Random(f"{given} {ranks} {threads} {launch}").uniform(1, 1.02)
    result = {"points": 2**21, "bytes_sent": 17_039_360.0 * (ranks > 1)}
    phases = [
        {"name": name, "calls": 1, "bytes": 0.0, "flops": 0.0, "model_s": None,
         **{key: dict.fromkeys(("min", "mean", "max"), share * time)
            for key in ("time_s", "median_s")}}
        for name, share in (("forward_zy", 0.8), ("transpose_yx", 0.15), ("transpose_xy", 0.05))
    ]  # fmt: skip
    return record("fft_pencil", given, [time], ranks=ranks, threads=threads, launch=launch,
                  phases=phases, result=result)  # fmt: skip


def collectives(
    times_s: Mapping[tuple[str, int], float],
    *,
    ranks: int = 4,
    nodes: int = 1,
    launch: int = 0,
    **changes: Any,
) -> Raw:
    """One launch of collective operations that take these seconds at these sizes, and 1 % noise."""
    noise = random.Random(f"collectives {ranks} {nodes} {launch}")
    points: list[Raw] = [
        {
            "size_bytes": size,
            "operation": operation,
            "steps": 1,
            "times_s": [time * noise.uniform(1, 1.01)],
            "bytes": float(size),
            "result": {"latency_s": time},
        }
        for (operation, size), time in times_s.items()
    ]
    sizes = ",".join(map(str, sorted({size for _, size in times_s})))
    return record(
        "collectives",
        {"operation": "all", "sizes": sizes, "call": "blocking", "synchronisation": "round_time"},
        [sum(point["times_s"][0] for point in points)],
        ranks=ranks,
        nodes=nodes,
        launch=launch,
        **{"points": points, "synchronisation": "round_time", **changes},
    )


def of_phases(
    kernel: str, seconds: Mapping[str, float], step_s: float, *, ranks: int = 1, nodes: int = 1
) -> Raw:
    """One launch with phases of so many seconds, the same on all ranks."""
    case = kernel if ranks == 1 else f"{kernel} {ranks} {nodes}"
    raw = {**poisson(64, ranks=ranks, nodes=nodes, time_s=step_s), "kernel": kernel, "case": case}
    spread = {
        name: {"min": time, "mean": time, "max": time, "count": 1} for name, time in seconds.items()
    }
    raw["phases"] = [
        {**raw["phases"][0], "name": name, "time_s": one, "median_s": one}
        for name, one in spread.items()
    ]
    return raw
