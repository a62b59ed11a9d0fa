# SPDX-License-Identifier: BSD-3-Clause
"""The keys of a study file: types, limits, and meanings. `study.file` reads such files."""

from __future__ import annotations

from math import prod
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from haloscope.host.machine import PLACEMENTS
from haloscope.layout import Layout, key_of
from haloscope.stats import FEWEST_FOR_INTERVAL, Rule
from haloscope.study import kinds
from haloscope.study.values import (
    CASES_LIMIT,
    COUNT_LIMIT,
    DEFAULT,
    LAUNCHES_LIMIT,
    NODE_LIMIT,
    TIME_LIMIT_S,
    Allocations,
    Binds,
    Counts,
    Launches,
    Mappings,
    OneOf,
    Placements,
    Places,
    Positives,
    Seconds,
    ThreadBinds,
    Toolchains,
    Transports,
    Values,
    papers,
)
from haloscope.toml import TomlTable


class _Model(TomlTable, strict=True):
    """A table of a study."""


def _axis(field: str, values: str, more: str = "", *, optional: bool = False) -> Any:
    """Return an axis of a field of layouts, with the field's meaning and, unless optional, its
    default.
    """
    meaning, _, _ = key_of(field).meaning.partition(":")
    default = None if optional else [getattr(Layout, field)]
    return Field(default, description=f"the {meaning}: {values}{more}")


class LayoutAxes(_Model):
    """Where ranks and threads go, every key a value or a list of values (an axis)."""

    nodes: Positives = _axis("nodes", f"integers from 1 to {COUNT_LIMIT:,}")
    ppn: Counts | None = _axis(
        "ppn",
        f"integers from 1 to {NODE_LIMIT}, 'cores', 'powers' (powers of two), 'every' "
        "(1 to cores), or 'divisors' (divisors of cores)",
        "; 1 if omitted",
        optional=True,
    )
    threads: Counts | None = _axis(
        "threads",
        f"integers from 1 to {NODE_LIMIT}, 'cores', 'powers' (powers of two), or "
        "'every' (1 to cores)",
        "; 1 if omitted",
        optional=True,
    )
    cores: Counts | None = None
    """the number of cores to use per node, which is ppn x threads: integers from 1, or 'cores' for
    all cores; omit threads if you set this key"""
    places: Places = _axis("places", "'cores', 'threads', or 'sockets' (OMP_PLACES)")
    bind: Binds = _axis(
        "bind",
        "'close' to fill one socket before the next, 'spread' to distribute "
        "processes evenly over sockets, or 'none' to let the operating system place processes and "
        "threads",
    )
    thread_bind: ThreadBinds = Field(["close"])
    """the binding of the threads of a process: 'close' to put them on neighbouring cores, or
    'spread' to distribute them over the process's share of the node, or over the whole node if
    there is only one process (OMP_PROC_BIND)"""
    placement: Placements | None = _axis(
        "placement",
        f"'all', or {', '.join(PLACEMENTS)}",
        "; replaces all other layout keys",
        optional=True,
    )
    tasks: Positives | None = None
    """the total number of processes on all nodes, distributed as evenly as possible: integers from
    1; replaces ppn"""
    mapping: Mappings = Field([Layout.mapping])
    """the mapping of ranks to nodes: 'block' to fill one node after the other, 'round_robin' to put
    consecutive ranks on different nodes, 'random' (see mapping_seed), or a list with the node of
    each rank, counted from 0, such as '0,1,1,0'"""
    mapping_seed: Positives = Field([1])
    """the seeds of random mappings: integers from 1"""
    allocation: Allocations = _axis(
        "allocation",
        "'best_fit' (nodes that a scheduler would choose among other jobs, or the first nodes of "
        "an empty cluster), 'contiguous' (the first nodes), 'by_switch' "
        "(nodes of each first-level switch in turn), 'by_pod' (nodes of each part "
        "below the top level in turn), or 'random' (see allocation_seed)",
    )
    allocation_seed: Positives = Field([1])
    """the seeds of random allocations: integers from 1"""


class Run(_Model):
    """One [[runs]] table: a kernel over the product of its axes."""

    kernel: str
    """the name of a kernel (haloscope list)"""
    name: str | None = None
    """a label for tables and figures"""
    params: dict[str, Values] = Field(default_factory=dict)
    """parameters of the kernel, as key = value or key = [values] (haloscope describe KERNEL)"""
    layout: LayoutAxes = Field(default_factory=LayoutAxes)
    """the placement of ranks and threads: nodes, ppn, tasks, threads, cores, places, bind,
    thread_bind, placement, mapping, mapping_seed, allocation, or allocation_seed"""
    toolchains: Toolchains | None = None
    """'all', or names of MPI libraries (haloscope toolchain list)"""
    transports: Transports = Field([DEFAULT])
    """'default' (the library's choice), 'all' (every transport of each library), or names of
    transports (haloscope toolchain list)"""
    launches: Launches | None = Field(
        None,
        description=f"the number of launches per case of this run, from 1 to {LAUNCHES_LIMIT:,}; "
        "replaces the number in the study",
    )
    skip_too_large: bool | None = None
    """true to skip cases that are too large or whose layout the kernel does not support, or false
    to refuse them. If omitted, such cases are skipped on simulated clusters. On this machine, they
    are skipped if they need several nodes, and refused otherwise"""
    execute: bool = False
    """true to also compute and verify the whole solution in simulated cases, which needs memory on
    this machine; measured cases always do this"""
    only_simulated: bool = False
    """true to run these cases only on simulated clusters, for example if they simulate a published
    program"""
    beyond_memory: bool = False
    """true to ignore the memory limit of simulated nodes, for published runs that exceed it. The
    plan lists these runs, and their simulation must fit in the memory of this machine"""
    several_sockets: bool = False
    """true to skip the run on machines with one socket, and on simulated clusters, because their
    files already describe messages between sockets"""

    @model_validator(mode="after")
    def _cases_can_be_counted(self) -> Run:
        axes = [*self.params.values(), self.toolchains or [], self.transports]
        axes += [value for _, value in self.layout if isinstance(value, list)]
        if (cases := prod(max(1, len(axis)) for axis in axes)) > CASES_LIMIT:
            raise PydanticCustomError("cases", "{cases}", {"cases": f"{cases:,}"})
        return self


class Element(_Model):
    """One [[tables]] or [[figures]] table: what the report is to show."""

    kind: str
    title: str | None = None
    """a title that replaces the default"""
    where: dict[str, Values] = Field(default_factory=dict)
    """settings of the cases to show, each with a value or a list of values: { n = [1024] }"""
    published: str | None = None
    """the id of a published table to show for comparison (haloscope paper)"""


class TableElement(Element):
    """One [[tables]] table of a study."""

    kind: Annotated[str, OneOf(kinds.tables)] = Field(
        description=f"one of {', '.join(kinds.tables())}"
    )


class FigureElement(Element):
    """One [[figures]] table of a study."""

    kind: Annotated[str, OneOf(kinds.figures)] = Field(
        description=f"one of {', '.join(kinds.figures())}"
    )


class Study(_Model):
    """A whole study, as its file gives it."""

    title: str
    """the subject of the study, as a string; shown in lists"""
    question: str | None = None
    """the question that the study answers, as the first line of its report; the title if omitted"""
    answer: Annotated[str, OneOf(lambda: [*kinds.FINDINGS])] | None = None
    """the name of the findings that answer the question, from the list at the end of
    docs/studies.md; findings about the first table if omitted"""
    paper: Annotated[str, OneOf(papers)] | None = None
    """the id of a paper; the report compares the results with its tables (haloscope list)"""
    launches: Launches = Field(
        1, description=f"the number of launches per case, an integer from 1 to {LAUNCHES_LIMIT:,}"
    )
    precision: float | None = Field(None, gt=0, lt=1)
    """a fraction such as 0.02: each case is launched until the confidence interval of its median is
    within this fraction of the median, and at least 'launches' times and 7 times"""
    most_launches: Annotated[int, Field(gt=FEWEST_FOR_INTERVAL, le=LAUNCHES_LIMIT)] | None = Field(
        None,
        description="the maximum number of launches per case if precision is set, from 7 to "
        f"{LAUNCHES_LIMIT:,} and at least 'launches'; 30 if omitted",
    )
    most_time_s: Seconds | None = Field(
        None,
        description="the maximum total time of the launches of a case if precision is set, in "
        f"seconds above 0, at most {TIME_LIMIT_S:,.0f}; a launch that would exceed it is not "
        "started",
    )
    replicates: Annotated[int, Field(ge=2, le=LAUNCHES_LIMIT)] | None = Field(
        None,
        description=f"the number of simulations per case, from 2 to {LAUNCHES_LIMIT:,}, with "
        "random node speeds if the cluster file describes the variability between nodes; if "
        "omitted, all nodes are identical and each case is simulated once",
    )
    minutes: Annotated[float, Field(gt=0, le=TIME_LIMIT_S / 60)] | None = None
    """the approximate duration of the study in minutes, with the number of launches in the file;
    printed by dry runs and before measurements"""
    timeout_s: Seconds = Field(
        600.0,
        description=f"the time limit per launch in seconds, above 0, at most {TIME_LIMIT_S:,.0f}",
    )
    runs: list[Run] = Field(min_length=1)
    """kernels and their axes, as one or more [[runs]] tables"""
    tables: list[TableElement] = Field(default_factory=list)
    """tables of the report, as [[tables]] tables"""
    figures: list[FigureElement] = Field(default_factory=list)
    """figures of the report, as [[figures]] tables"""

    @model_validator(mode="after")
    def _caps_have_a_rule(self) -> Study:
        caps = ("most_launches", "most_time_s")
        given = [key for key in caps if getattr(self, key) is not None]
        if given and self.precision is None:
            raise PydanticCustomError("cap", "{keys}", {"keys": " and ".join(given)})
        if self.most_launches is not None and self.most_launches < self.launches:
            raise PydanticCustomError("fewer", "{most}", {"most": self.most_launches})
        return self


MOST_LAUNCHES = 30
"""The maximum launches per case if a study requests a precision without its own maximum."""


def stopping_rule(study: Study) -> Rule | None:
    """Return the rule that stops launches of a study with precision, or None without precision."""
    if study.precision is None:
        return None
    fewest = max(FEWEST_FOR_INTERVAL + 1, study.launches)
    most = max(fewest, study.most_launches or MOST_LAUNCHES)
    return Rule(study.precision, fewest, most, study.most_time_s)
