# SPDX-License-Identifier: BSD-3-Clause
"""Expand a study's axes into layouts: nodes, processes per node, threads, and mappings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeVar

from haloscope.layout import CORES, Layout, is_list, shares
from haloscope.quantities import count
from haloscope.study.schema import LayoutAxes

T = TypeVar("T")


def layouts(axes: LayoutAxes, nodes: Sequence[int], cores: int) -> list[Layout]:
    """Return every layout of the axes except `placement`, for nodes with this number of cores.

    Raise ValueError, with a text for each problem, if axes contradict each other or do not divide.
    """
    problems: list[str] = []

    def valid(parts: Iterable[T]) -> list[T]:
        try:
            return list(parts)
        except ValueError as error:
            problems.extend(error.args)
            return []

    shapes = valid(_shapes(axes, nodes, cores))
    mapped = {number: valid(mappings(axes, number)) for number in nodes}
    allocated = {number: valid(allocations(axes, number)) for number in nodes}
    found = [
        replace(
            shape,
            places=places,
            bind=bind,
            thread_bind=thread_bind,
            mapping=mapping,
            mapping_seed=seed,
            allocation=allocation,
            allocation_seed=allocation_seed,
        )
        for shape, places, bind in product(shapes, axes.places, axes.bind)
        for thread_bind in thread_binds(axes, bind, shape)
        for mapping, seed in mapped[shape.nodes]
        for allocation, allocation_seed in allocated[shape.nodes]
    ]
    _refuse([*problems, *(one.problem for one in found if one.problem)])
    return found


def _refuse(problems: Iterable[str]) -> None:
    if each := dict.fromkeys(problems):
        raise ValueError(*each)


def placed(placement: str) -> Layout:
    """Return the layout of two ranks with this placement."""
    if placement == "other-node":
        return Layout(nodes=2, ppn=1, placement=placement)
    places = "threads" if placement == "same-core" else "cores"
    return Layout(ppn=2, places=places, placement=placement)


def _shapes(axes: LayoutAxes, nodes: Sequence[int], cores: int) -> Iterator[Layout]:
    few = [
        f"{count(tasks, 'task')} cannot occupy {count(n, 'node')}; give at least one task per node"
        for n, tasks in product(nodes, axes.tasks or ())
        if tasks < n
    ]
    if axes.tasks and (axes.ppn is not None or axes.cores is not None):
        few.append(
            "tasks is given together with ppn or cores; remove ppn and cores: ppn is tasks / nodes"
        )
    _refuse(few)
    for n in nodes:
        for tasks in axes.tasks or (None,):
            if tasks is None:
                shapes = shared_cores(axes, cores) if axes.cores else free(axes, cores)
            else:
                shapes = [(shares(tasks, n)[0], threads) for _, threads in free(axes, cores)]
            for ppn, threads in shapes:
                yield Layout(n, ppn, threads, tasks=tasks)


def free(axes: LayoutAxes, cores: int) -> list[tuple[int, int]]:
    """(ppn, threads) of a layout whose axes are independent of each other."""
    asked = {"ppn": axes.ppn or [1], "threads": axes.threads or [1]}
    _refuse(_divided_by(key) for key, counts in asked.items() if "divisors" in counts)
    ppn, threads = (_numbers(counts, cores) for counts in asked.values())
    return list(product(ppn, threads))


def _divided_by(key: str) -> str:
    """Return what is wrong with divisors of nothing."""
    return f"{key} = 'divisors' requires layout.cores; set cores to the number to divide"


def shared_cores(axes: LayoutAxes, cores_there: int) -> list[tuple[int, int]]:
    """(ppn, threads) of a layout that shares out a constant number of cores."""
    problems = []
    if axes.threads is not None:
        problems.append("threads and cores are both given; remove threads: it is cores / ppn")
    if "divisors" in (axes.cores or ()):
        problems.append(_divided_by("cores"))
    shapes = [
        (ppn, cores)
        for cores in _numbers(axes.cores or ["cores"], cores_there)
        for ppn in _numbers(axes.ppn or ["divisors"], cores)
    ]
    problems += [
        f"ppn = {ppn} does not divide {count(cores, 'core')}; give one of {_divisors(cores)}"
        for ppn, cores in shapes
        if cores % ppn
    ]
    _refuse(problems)
    return list(dict.fromkeys((ppn, cores // ppn) for ppn, cores in shapes))


def _divisors(cores: int) -> str:
    return ", ".join(str(one) for one in range(1, cores + 1) if cores % one == 0)


def thread_binds(axes: LayoutAxes, bind: str, shape: Layout) -> Sequence[str]:
    """Return each binding of threads; only one if all are equivalent.

    That is so for one thread, for unbound processes, and for several close processes per node.
    """
    fixed = shape.threads == 1 or bind == "none" or (bind == "close" and shape.ppn > 1)
    return (Layout.thread_bind,) if fixed else axes.thread_bind


def mappings(axes: LayoutAxes, nodes: int) -> Iterator[tuple[str, int | None]]:
    """Yield each mapping with its seed, if random; on one node all are equivalent.

    Raise ValueError for a list with a second node if there is only one, and for seeds without a
    random mapping.
    """
    problems = [
        f"mapping lists node {most}, but the layout has 1 node; give at least nodes = {most + 1}"
        for mapping in axes.mapping
        if {*axes.nodes} == {1} and is_list(mapping) and (most := max(map(int, mapping.split(","))))
    ]
    if "mapping_seed" in axes.model_fields_set and "random" not in axes.mapping:
        problems.append('mapping_seed requires mapping = "random"; set it, or remove mapping_seed')
    _refuse(problems)
    usual = [Layout.mapping] if nodes == 1 else axes.mapping
    yield from _seeded(usual, axes.mapping_seed)


def allocations(axes: LayoutAxes, nodes: int) -> Iterator[tuple[str, int | None]]:
    """Yield each allocation with its seed, if random; with one node all are equivalent."""
    if "allocation_seed" in axes.model_fields_set and "random" not in axes.allocation:
        raise ValueError(
            'allocation_seed requires allocation = "random"; set it, or remove allocation_seed'
        )
    usual = [Layout.allocation] if nodes == 1 else axes.allocation
    yield from _seeded(usual, axes.allocation_seed)


def _seeded(names: Iterable[str], seeds: Sequence[int]) -> Iterator[tuple[str, int | None]]:
    yield from ((name, seed) for name in names for seed in (seeds if name == "random" else (None,)))


def _numbers(counts: Iterable[int | str], cores: int) -> list[int]:
    """Return counts with their words resolved, ascending if there were words, each once."""
    found: list[int] = []
    for asked in counts:
        if isinstance(asked, int):
            found.append(asked)
        elif asked == "cores":
            found.append(cores)
        elif asked == "every":
            found += range(1, cores + 1)
        elif asked == "powers":
            found += [2**k for k in range(cores.bit_length()) if 2**k < cores] + [cores]
        else:
            found += [part for part in range(1, cores + 1) if cores % part == 0]
    return list(dict.fromkeys(found))


def remedy_for_a_key(key: str, *, words: bool) -> str | None:
    """Return the remedy for a parameter that is a key of the layout, or None for others.

    words: as of `expand`, for a command line, which has options for some keys only.
    """
    if key not in (*_OPTIONS, *LayoutAxes.model_fields):
        return None
    place = "tasks" if key == "ranks" else key
    if not words:
        return f"set it in the layout, as layout.{place}"
    if key in _OPTIONS:
        return f"use the option --{_OPTIONS[key]}"
    return f"set it in a study, as layout.{place} (haloscope run)"


_OPTIONS = {**{key: key for key in ("ranks", *CORES, "placement")}, "tasks": "ranks"}
