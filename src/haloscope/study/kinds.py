# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of tables and figures that a study can request: one line per kind.

To add one, add its line here, write a function of cases and context in the folder of its topic,
and add it to `topics/tables.py`, to `topics/figures.py`, or to both. A report without requests has
all kinds in this order.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from haloscope.layout import CORES, PROCESSES


@dataclass(frozen=True)
class Options:
    """What a study's [[tables]] or [[figures]] table requests besides the kind.

    where: settings to keep, each a value or a list of values: { n = [1024] }. title: replaces the
    kind's title. published: id of the published table to compare with, if there are several.
    """

    where: Mapping[str, object] = field(default_factory=dict)
    title: str | None = None
    published: str | None = None


@dataclass(frozen=True)
class Wish:
    """One [[tables]] or [[figures]] table of a study: a kind and its options."""

    kind: str
    options: Options = field(default_factory=Options)


@dataclass(frozen=True)
class Kind:
    """A kind of table, of figure, or of both, and its section of a report.

    kernels: the kernels whose cases it shows; all if none is named.
    programs: whether it shows external programs; without kernels, it shows nothing else.
    rest:    whether it also shows kernels that no kind names.
    over:    settings of which at least one must vary among the cases of a kernel.
    having:  a setting that a case must have, or a parameter that must not be 0.
    """

    name: str
    topic: str
    table: bool = False
    figure: bool = False
    kernels: tuple[str, ...] = ()
    programs: bool = False
    rest: bool = False
    over: tuple[str, ...] = ()
    having: str | None = None

    def shows(self, kernel: str, programs: Container[str]) -> bool:
        """Whether it shows cases of a kernel. programs: those that are external programs."""
        if (self.programs and kernel in programs) or (self.rest and without_kind(kernel)):
            return True
        return kernel in self.kernels or not (self.kernels or self.programs)

    @property
    def shown(self) -> list[str]:
        """The names of what it shows; [] for any kernel."""
        return [
            *self.kernels,
            *(["external programs"] if self.programs else []),
            *(["kernels without a table of their own"] if self.rest else []),
        ]


_SOLVER = ("poisson_cg",)
_FACES = ("jacobi3d",)
_FFT = ("fft_pencil",)
_HEAT = ("fe_heat",)
_DYNAMICS = ("lammps_rhodo", "md_pppm")
_MESSAGES = ("pingpong",)
_STAR_FORESTS = ("sf_pingpong", "sf_newpingpong", "sf_unpack", "sf_scatter")
_LIBRARIES = ("toolchain", "transport", "placement", *PROCESSES, "places")

KINDS = (
    Kind("stream", "memory", table=True, figure=True, kernels=("stream",)),
    Kind("bandwidth", "memory", table=True, kernels=_SOLVER),
    Kind("pingpong", "pingpong", table=True, figure=True, kernels=_MESSAGES),
    Kind("fits", "pingpong", table=True, figure=True, kernels=(*_MESSAGES, "loggp"), programs=True),
    Kind("libraries", "pingpong", table=True, kernels=_MESSAGES, over=_LIBRARIES),
    Kind("transports", "pingpong", figure=True, kernels=_MESSAGES, over=_LIBRARIES),
    Kind("ring", "ring", table=True, figure=True, kernels=("ring",)),
    Kind("sum3d", "sum3d", table=True, kernels=("sum3d",)),
    Kind("collectives", "collectives", table=True, figure=True, kernels=("collectives",)),
    Kind("guidelines", "collectives", table=True, kernels=("collectives", *_FACES)),
    Kind("convergence", "convergence", table=True, kernels=_SOLVER),
    Kind("surfaces", "convergence", figure=True, kernels=_SOLVER, having="surface"),
    Kind("walltime_grid", "walltime", table=True, kernels=_SOLVER),
    Kind("hybrid_grid", "walltime", table=True, figure=True, kernels=_SOLVER, over=("ppn",)),
    Kind("bind", "walltime", table=True, figure=True, kernels=_SOLVER, over=("bind",)),
    Kind("clusters", "walltime", table=True, kernels=_SOLVER),
    Kind("overlay", "walltime", figure=True, kernels=_SOLVER),
    Kind("memory_by_ranks", "walltime", table=True, kernels=_SOLVER, over=CORES),
    Kind("scaling", "scaling", table=True, figure=True, over=CORES, having="n"),
    Kind("scaling_law", "scaling", table=True, figure=True, over=(*CORES, "n")),
    Kind(
        "exchange",
        "exchange",
        table=True,
        figure=True,
        kernels=(*_SOLVER, *_FACES),
        over=("exchange",),
    ),
    Kind("jacobi", "jacobi", table=True, figure=True, kernels=("jacobi3d",)),
    Kind("roofline", "jacobi", figure=True, kernels=("jacobi3d",)),
    Kind("iterations", "iterations", table=True, figure=True, kernels=_SOLVER),
    Kind("sf_latency", "star_forests", table=True, figure=True, kernels=_STAR_FORESTS),
    Kind("sf_grid", "star_forests", table=True, figure=True, kernels=("sf_grid",)),
    Kind("split_phase", "star_forests", table=True, figure=True, having="parts"),
    Kind("launches", "launches", table=True, kernels=("launches",)),
    Kind("timeline", "timeline", figure=True, having="timeline"),
    Kind("one_node", "mapping", table=True, having="tasks"),
    Kind("weak_scaling", "mapping", table=True, figure=True, having="tasks"),
    Kind("mapping", "mapping", table=True, figure=True, having="tasks"),
    Kind("characterization", "mapping", table=True, figure=True, having="tasks"),
    Kind("overlap", "spmv", table=True, figure=True, kernels=("spmv",), over=("overlap",)),
    Kind("spmv", "spmv", table=True, figure=True, kernels=("spmv",)),
    Kind("fft", "fft", table=True, kernels=_FFT),
    Kind("transpose", "fft", table=True, figure=True, kernels=_FFT, over=("transpose",)),
    Kind("layout", "fft", table=True, kernels=_FFT, over=("layout",)),
    Kind("heat", "heat", table=True, kernels=_HEAT),
    Kind("operator", "heat", table=True, kernels=_HEAT, over=("operator",)),
    Kind("phases", "phases", table=True, figure=True),
    Kind("sections", "phases", table=True, figure=True, kernels=_DYNAMICS),
    Kind("stragglers", "phases", table=True),
    Kind("variability", "variability", table=True, figure=True),
    Kind("tails", "tails", table=True),
    Kind("points", "programs", table=True, figure=True, programs=True),
    Kind("results", "programs", table=True, programs=True, rest=True),
    Kind("summary", "summary", table=True),
)

TOPICS = {
    "memory": "Memory bandwidth",
    "pingpong": "Messages between two processes",
    "ring": "Messages around a ring",
    "sum3d": "Scatter, add, gather",
    "collectives": "Collective operations",
    "star_forests": "Star forests",
    "launches": "Kernel launches on a device",
    "timeline": "Timeline of one step by rank",
    "convergence": "Convergence",
    "walltime": "Wall time",
    "scaling": "Speedup and efficiency",
    "spmv": "Sparse matrix-vector product",
    "fft": "Three-dimensional Fourier transforms",
    "heat": "Finite-element heat conduction",
    "mapping": "Mapping of tasks to nodes",
    "jacobi": "Three-dimensional Jacobi iteration",
    "iterations": "Variants of the conjugate gradient method",
    "exchange": "Halo exchange methods",
    "phases": "Time by phase",
    "variability": "Variability between launches",
    "tails": "Slow repetitions",
    "programs": "Results",
    "summary": "All cases",
}

FINDINGS = {
    "predictions": "error of the predictions made by haloscope validate local",
    "memory_bandwidth": "memory bandwidth (triad) on the smallest and the largest number of cores",
    "parallel_regions": "time to start a parallel region",
    "solver_bandwidth": "memory bandwidth of the Poisson solver relative to the triad",
    "order_of_accuracy": "order of accuracy of the Poisson solver",
    "convergence": "errors and numbers of iterations compared with published values",
    "serial_time": "time of a serial solve relative to published times",
    "variants": "comparison of variants of the conjugate gradient method",
    "processes_per_node": "fastest number of processes per node",
    "speedup": "speedup on the largest number of cores",
    "turning_points": "number of processes beyond which the time no longer decreases",
    "layouts": "fastest layout of processes and threads",
    "alternatives": "fastest value of exchange, overlap, transpose, layout, operator, or bind",
    "published_exchanges": "comparison of halo exchanges in published tables",
    "sparse_products": "time of a sparse matrix-vector product",
    "jacobi_model": "error of the model of the Jacobi iteration",
    "jacobi_bound": "rate of the Jacobi iteration relative to the limit of memory bandwidth",
    "heat": "time of a heat conduction solve by phase",
    "transforms": "fastest process grid for a Fourier transform",
    "sums": "fastest way to sum arrays over processes",
    "collectives": "times of the fastest and slowest collective operations, and their growth",
    "guidelines": "performance guidelines of collective operations",
    "halo_guidelines": "time of halo exchanges relative to plain messages",
    "characterization": "comparison of few and many nodes, by data per task and number of tasks",
    "mapping": "fastest mapping of tasks to nodes",
    "weak_scaling": "growth of the time with the number of tasks, for the same work per task",
    "sections": "time by section of LAMMPS",
    "libraries": "fastest MPI library or transport by message size",
    "ring": "time of a message around a ring",
    "pingpong": "latency and bandwidth between two processes",
    "message_streams": "highest message rate and bandwidth of streams",
    "gpu_messages": "bandwidth of messages between GPUs",
    "forest_overhead": "overhead of a star forest over messages between GPUs",
    "startup": "message sizes whose time from device memory is mostly start-up",
    "device_settings": "effect of settings on star forests in device memory",
    "forests_or_messages": "time of star forest operations relative to plain messages",
    "synchronisation": "cost of a synchronisation between device kernels",
    "grid_halos": "time of a halo exchange on a grid",
    "longest_part": "longest part of a star forest operation by message size",
    "additional_work": "time to add received values, and to update leaves on the sending rank",
}
"""Findings that a study can name as its answer, by name, with their subjects."""


_TIMED = ("empty", "parallel_region")
"""Kernels whose only result is the time of a step, which every report has."""


def without_kind(kernel: str) -> bool:
    """Return whether no kind of table names a kernel, so that `results` shows what it declares."""
    return kernel not in _TIMED and not any(kernel in kind.kernels for kind in KINDS)


def named(name: str) -> Kind:
    """Return the kind with a name. Raise KeyError without one."""
    return {kind.name: kind for kind in KINDS}[name]


def tables() -> tuple[str, ...]:
    """Return the names of all kinds of tables, in order."""
    return tuple(kind.name for kind in KINDS if kind.table)


def figures() -> tuple[str, ...]:
    """Return the names of all kinds of figures, in order."""
    return tuple(kind.name for kind in KINDS if kind.figure)


def of_topic(topic: str) -> tuple[str, ...]:
    """Return the names of the kinds in a section."""
    return tuple(kind.name for kind in KINDS if kind.topic == topic)
