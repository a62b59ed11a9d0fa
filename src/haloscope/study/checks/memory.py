# SPDX-License-Identifier: BSD-3-Clause
"""Check the memory of a case; find the largest size that fits, which errors suggest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from haloscope.quantities import size
from haloscope.study.case import Case
from haloscope.study.program import Forecast

Fits = Callable[[Mapping[str, Any]], bool]
FEW = 64
"""Some kernels accept only even numbers, or multiples of 16 bytes."""


@dataclass(frozen=True)
class Room:
    """Memory for the arrays of one case.

    bytes: free on each node. nodes: how many nodes, or GPUs. of: its name, "memory per node".
    instead: the remedy besides a smaller case. owner: the simulated node that has this memory.
    here: whether it is memory of this machine that a simulation needs. gpus: whether it is memory
    of GPUs, not of nodes.
    """

    bytes: int
    nodes: int
    of: str
    instead: str
    owner: str | None = None
    here: bool = False
    gpus: bool = False

    @property
    def total_bytes(self) -> int:
        """The memory of all nodes, or GPUs."""
        return self.bytes * self.nodes

    @property
    def free(self) -> str:
        """Return a sentence with the size of this memory."""
        of = self.of.removesuffix(" per node").removesuffix(" per GPU")
        if self.owner:
            return f"{self.owner} has {size(self.bytes)} of {of}"
        return f"only {size(self.bytes)} of {of} is free"

    def taken(self, arrays: Case | Forecast) -> int:
        """Return how much of it a case needs, in bytes."""
        return arrays.device_bytes if self.gpus else arrays.memory_bytes

    def share(self, case: Case) -> str:
        """Return the size that a case needs per node, or per GPU, as text."""
        return size(self.taken(case) / self.nodes)

    def refusal(
        self, case: Case, needs: Callable[[Mapping[str, Any]], Forecast]
    ) -> tuple[str, str]:
        """Return what is wrong with a case that is too large, and what to do."""
        largest = largest_that_fits(
            case.given,
            case.params,
            lambda given: self.taken(needs(given)) <= self.total_bytes,
            lambda given: not needs(given).problems,
        )
        smaller = f"use at most {largest}" if largest else "reduce the problem size"
        available = size(self.bytes)
        available = f"{self.owner} has {available}" if self.owner else f"{available} is free"
        what = f"{case.label} needs {self.share(case)} of {self.of}, but {available}"
        return what, f"{smaller}, or {self.instead}"


def largest_that_fits(
    given: Mapping[str, Any], params: Mapping[str, Any], fits: Fits, accepted: Fits
) -> str | None:
    """Return key=value of the largest size that fits, or None if there is none.

    The size is a mesh (size=400x400x400, whose shape is kept), the edge of a cube (L), or of a
    square (n). given, params: of a case that is too large. fits: whether a case with other
    parameters fits; its needs grow with the size.
    accepted: whether the kernel accepts them: some refuse odd numbers.
    """

    def largest(key: str, most: int, value: Callable[[int], object]) -> int | None:
        def asked(number: int) -> Mapping[str, Any]:
            return {**given, key: value(number)}

        return _largest(most, lambda one: fits(asked(one)), lambda one: accepted(asked(one)))

    size = str(params.get("size", ""))
    if size.replace("x", "").isdigit():
        extents = [int(extent) for extent in size.split("x")]
        longest = max(extents)

        def scaled(edge: int) -> str:
            return "x".join(str(max(1, extent * edge // longest)) for extent in extents)

        edge = largest("size", longest, scaled)
        return f"size={scaled(edge)}" if edge else None
    key = next((key for key in ("L", "n") if isinstance(params.get(key), int)), None)
    if key is None:
        return None
    found = largest(key, params[key], lambda value: value)
    return f"{key}={found}" if found else None


def _largest(
    too_large: int, fits: Callable[[int], bool], accepted: Callable[[int], bool]
) -> int | None:
    """Return the largest accepted number that fits, or None if there is none.

    Only the FEW largest that fit are tried.
    """
    low, high = 0, too_large
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return next((one for one in range(low, max(0, low - FEW), -1) if accepted(one)), None)
