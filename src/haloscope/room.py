"""The largest size of a case that a node has memory for: what an error about memory suggests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

Fits = Callable[[Mapping[str, Any]], bool]


class _Sized(Protocol):
    @property
    def given(self) -> Mapping[str, Any]: ...
    @property
    def params(self) -> Mapping[str, Any]: ...


def largest_that_fits(case: _Sized, fits: Fits) -> str | None:
    """key=value of the largest size that fits, all else as given; None where none is known.

    The size is a whole mesh (size=400x400x400, whose shape is kept), the edge of a cube (L) or of
    a square (n). fits: whether a case with other parameters does; what it takes grows with them.
    """
    size = str(case.params.get("size", ""))
    if size.replace("x", "").isdigit():
        extents = [int(extent) for extent in size.split("x")]
        longest = max(extents)

        def scaled(edge: int) -> str:
            return "x".join(str(max(1, extent * edge // longest)) for extent in extents)

        edge = _largest(longest, lambda edge: fits({**case.given, "size": scaled(edge)}))
        return f"size={scaled(edge)}" if edge else None
    key = next((key for key in ("L", "n") if isinstance(case.params.get(key), int)), None)
    if key is None:
        return None
    found = _largest(case.params[key], lambda value: fits({**case.given, key: value}))
    return f"{key}={found}" if found else None


def _largest(too_large: int, fits: Callable[[int], bool]) -> int | None:
    """The largest number from 1 on that fits, below one that does not; None if there is none."""
    low, high = 0, too_large
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low or None
