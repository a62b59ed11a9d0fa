# SPDX-License-Identifier: BSD-3-Clause
"""Memory for a case, and the largest size that it is enough for: what errors about it suggest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from haloscope.quantities import size
from haloscope.study.case import Case

Fits = Callable[[Mapping[str, Any]], bool]
FEW = 64
"""FEW are the sizes that are tried from the largest that fits on: kernels want even numbers, or
multiples of 16 bytes."""


class _Arrays(Protocol):
    """How much memory a case takes, summed over ranks, and what of it is in that of GPUs."""

    @property
    def memory_bytes(self) -> int: ...
    @property
    def device_bytes(self) -> int: ...


class _Forecast(_Arrays, Protocol):
    """And what its kernel refuses."""

    @property
    def problems(self) -> Sequence[object]: ...


class _Sized(Protocol):
    @property
    def given(self) -> Mapping[str, Any]: ...
    @property
    def params(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Room:
    """Memory for the arrays of one case.

    bytes: free on each of so many nodes. of: what it is, "memory a node". instead: what helps too,
    besides a smaller case. owner: a simulated node, which has that much whatever is free here.
    here: whether it is this machine's, for what a simulation fills. gpus: whether it is that of so
    many GPUs, not of nodes.
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
        """Of all nodes, or GPUs."""
        return self.bytes * self.nodes

    @property
    def free(self) -> str:
        """In words, what there is."""
        of = self.of.removesuffix(" a node").removesuffix(" a GPU")
        if self.owner:
            return f"{self.owner} has {size(self.bytes)} of {of}"
        return f"{size(self.bytes)} of {of} are free"

    def taken(self, arrays: _Arrays) -> int:
        """What a case takes of it in all, in bytes."""
        return arrays.device_bytes if self.gpus else arrays.memory_bytes

    def share(self, case: Case) -> str:
        """In words, what a case needs of each node, or GPU."""
        return size(self.taken(case) / self.nodes)

    def refusal(
        self, case: Case, needs: Callable[[Mapping[str, Any]], _Forecast]
    ) -> tuple[str, str]:
        """What is wrong with a case that is too large, and what to do.

        needs: what one with other parameters takes.
        """
        largest = largest_that_fits(
            case,
            lambda given: self.taken(needs(given)) <= self.total_bytes,
            lambda given: not needs(given).problems,
        )
        smaller = f"give {largest} at most" if largest else "make it smaller"
        there = size(self.bytes)
        there = f"{self.owner} has {there}" if self.owner else f"{there} are free"
        what = f"{case.label} needs {self.share(case)} of {self.of}, {there}"
        return what, f"{smaller}, or {self.instead}"


def largest_that_fits(case: _Sized, fits: Fits, accepted: Fits = lambda given: True) -> str | None:
    """key=value of the largest size that fits, all else as given; None where none is known.

    The size is a whole mesh (size=400x400x400, whose shape is kept), the edge of a cube (L) or of
    a square (n). fits: whether a case with other parameters does; what it takes grows with them.
    accepted: whether its kernel has nothing against them, such as an odd number.
    """

    def largest(key: str, most: int, value: Callable[[int], object]) -> int | None:
        def given(number: int) -> Mapping[str, Any]:
            return {**case.given, key: value(number)}

        return _largest(most, lambda one: fits(given(one)), lambda one: accepted(given(one)))

    size = str(case.params.get("size", ""))
    if size.replace("x", "").isdigit():
        extents = [int(extent) for extent in size.split("x")]
        longest = max(extents)

        def scaled(edge: int) -> str:
            return "x".join(str(max(1, extent * edge // longest)) for extent in extents)

        edge = largest("size", longest, scaled)
        return f"size={scaled(edge)}" if edge else None
    key = next((key for key in ("L", "n") if isinstance(case.params.get(key), int)), None)
    if key is None:
        return None
    found = largest(key, case.params[key], lambda value: value)
    return f"{key}={found}" if found else None


def _largest(
    too_large: int, fits: Callable[[int], bool], accepted: Callable[[int], bool]
) -> int | None:
    """The largest number from 1 on that fits, below one that does not; None if there is none.

    Of the largest few, that which is accepted.
    """
    low, high = 0, too_large
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return next((one for one in range(low, max(0, low - FEW), -1) if accepted(one)), None)
