# SPDX-License-Identifier: BSD-3-Clause
"""Random small studies: cases of all kernels with any launches, tables and figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from recorded import (
    Raw,
    bad,
    collectives,
    fft,
    heat,
    of_case,
    overheads,
    pingpong,
    poisson,
    record,
    ring,
    spmv,
    star_forest,
    stream,
)
from recorded_devices import forest_on_device, launches
from recorded_grids import jacobi, sum3d

from haloscope.study import kinds

SIMULATED: Raw = {
    "clock": "simulated",
    "simulation": {
        "cluster": "stampede2",
        "verified": False,
        "cached": False,
        "iterations": None,
        "of_iterations": None,
        "iterations_from": None,
    },
    "toolchain": {"name": "simgrid"},
}
LAYOUTS = [(1, 1, 1), (2, 1, 1), (4, 1, 1), (4, 2, 1), (8, 4, 1), (1, 1, 2), (2, 1, 2), (4, 4, 1)]
"""Ranks, nodes, threads."""
OPERATIONS = ("bcast", "reduce", "allreduce", "allgather", "gather", "scatter", "alltoall")


@st.composite
def solves(draw: st.DrawFn) -> Raw:
    """The settings of a solve of Poisson's equation."""
    ranks, nodes, threads = draw(st.sampled_from(LAYOUTS))
    where = {"ranks": ranks, "nodes": nodes, "threads": threads}
    how = {
        "variant": draw(st.sampled_from(["fused", "textbook"])),
        "exchange": draw(st.sampled_from(["blocking", "nonblocking", "sendrecv"])),
        "layout": {"bind": draw(st.sampled_from(["close", "spread"]))},
        "surface": draw(st.sampled_from([0, 0, 0, 5])),
    }
    clock = SIMULATED if draw(st.sampled_from([False, False, False, True])) else {}
    return {"n": draw(st.sampled_from([64, 128, 256])), **where, **how, **clock}


GRIDS = [(1, 1, 1), (1, 1, 1), (2, 1, 1), (2, 2, 1), (4, 1, 1)]
"""Ranks along x, y and z; models take one rank alone."""


@st.composite
def sweeps(draw: st.DrawFn) -> Raw:
    """The settings of Jacobi's sweeps, over meshes that caches hold, and that none does."""
    how = {
        "variant": draw(st.sampled_from(["plain", "streaming"])),
        "exchange": draw(st.sampled_from(["nonblocking", "persistent"])),
    }
    where = {"layout": {"bind": draw(st.sampled_from(["close", "spread"]))}}
    clock = SIMULATED if draw(st.sampled_from([False, False, False, True])) else {}
    mesh = {"grid": draw(st.sampled_from(GRIDS)), "edge": draw(st.sampled_from([60, 200]))}
    return {**mesh, "params": how, **where, **clock}


@st.composite
def jobs(draw: st.DrawFn) -> Raw:
    """The settings of a solve by a number of tasks, on few nodes or on many."""
    tasks, nodes = draw(st.sampled_from([(4, 1), (4, 2), (4, 4), (16, 1), (16, 4), (16, 16)]))
    mapping = draw(st.sampled_from(["block", "round_robin", "random"]))
    where: Raw = {
        "tasks": tasks,
        "mapping": mapping,
        "bind": draw(st.sampled_from(["close", "spread"])),
    }
    if mapping == "random":
        where["mapping_seed"] = draw(st.integers(1, 2))
    return {"n": 256, "ranks": tasks, "nodes": nodes, "layout": where}


@dataclass(frozen=True)
class Made:
    """A case of a study: what makes a launch of it, and with which settings."""

    kernel: str
    given: Raw

    def launch(self, number: int) -> Raw:
        """The record of one launch."""
        given = {**self.given, "launch": number}
        if self.kernel.startswith("sf_"):
            made = forest_on_device if "sync" in given else star_forest
            return made(self.kernel, **given)
        return _RECORDS[self.kernel](given)


def _collectives(given: Raw) -> Raw:
    each = {(op, size): 1e-6 + 1e-9 * size for op in OPERATIONS for size in (8, 64, 4096)}
    return collectives(each, **given)


def _pingpong(given: Raw) -> Raw:
    warmed = given.pop("warmed", 0)
    raw = pingpong(**given)
    return of_case(raw, params={**raw["params"], "warmup": warmed})


def _ring(given: Raw) -> Raw:
    return ring(0.8e-6 * given["ranks"] * (1 + 0.01 * given["launch"]), **given)


def _region(given: Raw) -> Raw:
    found = {"region_s": 2e-6 * given["threads"]}
    return record(
        "parallel_region", {}, [1e-4 * (1 + 0.01 * given["launch"])], result=found, **given
    )


SENT = ("comm", "movers", "borders", "shake", "grid", "remap")
"""What a step of md_pppm sends, apart."""


def _step(given: Raw) -> Raw:
    """A step of what LAMMPS sends, half of it in messages."""
    time = 0.1 * (1 + 0.01 * given["launch"])
    spread = {
        key: dict.fromkeys(("min", "mean", "max"), time / 2) for key in ("time_s", "median_s")
    }
    phases = [{"name": "comm", "calls": 1, "bytes": 0.0, "flops": 0.0, "model_s": None, **spread}]
    bricks = f"{given['ranks']}x1x1"
    found: Raw = {"atoms": 32000.0, "bricks": bricks, "grid": "20x20x27", "pencils": "1x1"}
    found |= {"ghosts": 9000, "computation": "left out"}
    sent = [f"{name}_{what}" for name in SENT for what in ("messages", "bytes")]
    result = {**found, **dict.fromkeys(sent, 6.0)}
    return record("md_pppm", {}, [time], phases=phases, result=result, **given)


_RECORDS: dict[str, Callable[[Raw], Raw]] = {
    "collectives": _collectives,
    "fe_heat": lambda given: heat(**given),
    "fft_pencil": lambda given: fft(**given),
    "jacobi3d": lambda given: jacobi(given.pop("grid"), **given),
    "launches": lambda given: launches(70.0 + given["launch"], 95.0, given["launch"]),
    "loggp": lambda given: overheads(given["launch"]),
    "md_pppm": _step,
    "parallel_region": _region,
    "pingpong": _pingpong,
    "poisson_cg": lambda given: poisson(given.pop("n"), **given),
    "ring": _ring,
    "spmv": lambda given: spmv(**given),
    "stream": lambda given: stream(**given),
    "sum3d": lambda given: sum3d(**given),
}


MAKERS = st.one_of(
    solves().map(lambda given: Made("poisson_cg", given)),
    solves().map(lambda given: Made("poisson_cg", given)),  # scaling takes several
    st.sampled_from([1, 2]).map(lambda ranks: Made("stream", {"ranks": ranks})),
    st.sampled_from(["imb", "osu", "stream"]).map(lambda mode: Made("pingpong", {"mode": mode})),
    st.sampled_from(["tcp", "shm"]).map(lambda name: Made("pingpong", {"transport": name})),
    st.just(Made("loggp", {})),
    jobs().map(lambda given: Made("poisson_cg", given)),
    jobs().map(lambda given: Made("poisson_cg", given)),  # mappings take several, too
    st.sampled_from([1, 2, 4]).map(lambda threads: Made("parallel_region", {"threads": threads})),
    st.sampled_from([1, 2, 4]).map(lambda ranks: Made("md_pppm", {"ranks": ranks})),
    st.sampled_from(["same-core", "same-socket", "other-socket"]).map(
        lambda placement: Made("pingpong", {"layout": {"placement": placement}})
    ),
    st.sampled_from(["mpich", "openmpi"]).map(
        lambda name: Made("pingpong", {"toolchain": {"name": name, "mpi": name}})
    ),
    st.sampled_from(["pipelined", "pairwise"]).map(
        lambda transpose: Made("fft_pencil", {"transpose": transpose})
    ),
    st.sampled_from([1, 2, 4]).map(lambda ranks: Made("spmv", {"ranks": ranks})),
    st.sampled_from([2, 3, 4]).map(lambda ranks: Made("ring", {"ranks": ranks})),
    st.sampled_from([2, 4]).map(lambda ranks: Made("collectives", {"ranks": ranks})),
    st.sampled_from(["sf_scatter", "sf_pingpong"]).map(lambda kernel: Made(kernel, {})),
    st.sampled_from(["gpu_aware", "staged"]).map(  # which means nothing in the host's memory
        lambda way: Made("sf_grid", {"n": "4:64", "mpi": way})
    ),
    st.sampled_from([0, 9]).map(lambda warmup: Made("pingpong", {"warmed": warmup})),
    st.sampled_from(["default_stream", "stream_aware", "typed"]).map(
        lambda sync: Made("sf_pingpong", {"sync": sync})
    ),
    st.just(Made("launches", {})),
    st.sampled_from(["csr", "matrix_free"]).map(lambda way: Made("fe_heat", {"operator": way})),
    sweeps().map(lambda given: Made("jacobi3d", given)),
    st.sampled_from(["balanced", "topology", "subblock"]).map(
        lambda distribution: Made("sum3d", {"distribution": distribution})
    ),
)

WAYS = ("measured", "lost", "unlike")
"""Launches as they are; the last of them bad; or each as much slower as chance has it."""
OUTCOMES = ("failed", "wrong", "timeout", "misplaced")


@dataclass(frozen=True)
class AnyStudy:
    """Records of a few cases, and the requested kinds of tables and figures."""

    raws: list[Raw]
    tables: list[str]
    figures: list[str]


@st.composite
def studies(draw: st.DrawFn) -> AnyStudy:
    """Any few cases, each with some launches, and any kinds, or no word of these."""
    chosen = draw(st.lists(MAKERS, min_size=1, max_size=5, unique_by=repr))
    raws = [raw for made in chosen for raw in _launches(draw, made)]
    if draw(st.booleans()):
        return AnyStudy(raws, [], [])
    asked = st.lists(st.sampled_from(kinds.tables()), min_size=1, max_size=6, unique=True)
    shown = st.lists(st.sampled_from(kinds.figures()), min_size=1, max_size=4, unique=True)
    return AnyStudy(raws, draw(asked), draw(shown))


def _launches(draw: st.DrawFn, made: Made) -> list[Raw]:
    raws = [made.launch(number) for number in range(draw(st.sampled_from([1, 2, 3, 6, 8])))]
    if raws[0]["clock"] == "wall" and draw(st.integers(0, 3)) == 0:
        raws = [{**raw, "layout": {**raw["layout"], "oversubscribed": True}} for raw in raws]
    elif raws[0]["clock"] == "wall" and "device" not in raws[0] and draw(st.integers(0, 3)) == 0:
        raws = _simulated(raws, replicates=draw(st.booleans()))
    raws = [_in_job(raw, draw(st.integers(1, 3))) for raw in raws] if _by_jobs(draw, raws) else raws
    way = draw(st.sampled_from(WAYS))
    if way == "lost":
        raws[-1] = bad(raws[-1], draw(st.sampled_from(OUTCOMES)), "as chance had it")
    if way == "unlike":
        return [slower(raw, draw(st.floats(0.4, 4))) for raw in raws]
    return raws


def _simulated(raws: list[Raw], *, replicates: bool) -> list[Raw]:
    """The first launch on a simulated cluster, or all on nodes that are drawn anew."""
    if not replicates:
        return [of_case(raws[0], **SIMULATED)]
    spread = {"nodes": 0.02, "phases": 0.0, "seed": 1}
    drawn = {**SIMULATED, "simulation": {**SIMULATED["simulation"], "spread": spread}}
    return [of_case(raw, **drawn) for raw in raws]


def _by_jobs(draw: st.DrawFn, raws: list[Raw]) -> bool:
    """Whether a batch system gave the nodes of these launches, job by job."""
    return raws[0]["clock"] == "wall" and draw(st.sampled_from([False, False, True]))


def _in_job(raw: Raw, job: int) -> Raw:
    where = {"site": "lab", "scheduler": "slurm", "partition": "all", "nodes": ["n1"]}
    return {**raw, "allocation": {**where, "job": str(job), "switches": None, "restarts": 0}}


def slower(raw: Raw, factor: float) -> Raw:
    """A launch whose every time is so many times as long, and every rate as much less."""

    def slowed(found: Raw) -> Raw:
        return {key: _longer(key, value, factor) for key, value in found.items()}

    def timed(one: Raw) -> Raw:
        slow = {**one, "times_s": [factor * time for time in one["times_s"]]}
        return {**slow, "result": slowed(one["result"])} if "result" in one else slow

    changed = timed(raw)
    changed["points"] = [timed(point) for point in raw["points"]]
    changed["parts"] = [timed(part) for part in raw.get("parts", [])]
    changed["phases"] = [
        {
            **phase,
            **{
                name: {key: factor * time for key, time in phase[name].items()}
                for name in ("time_s", "median_s")
                if phase.get(name)
            },
        }
        for phase in raw["phases"]
    ]
    return changed


def _longer(key: str, value: Any, factor: float) -> Any:
    if not isinstance(value, int | float):
        return value
    if key.endswith("_per_s") or key == "mlups":
        return value / factor
    return value * factor if key.endswith("_s") else value
