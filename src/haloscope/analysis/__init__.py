# SPDX-License-Identifier: BSD-3-Clause
"""Analysis of recorded cases: samples, sweeps, fits, comparisons, as data for reports."""

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

_P = ParamSpec("_P")
_T = TypeVar("_T")
_forgetting: list[Callable[[], None]] = []


def remembered(most: int) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Keep the last `most` results of a function until `forget` is called."""

    def around(function: Callable[_P, _T]) -> Callable[_P, _T]:
        keeping = lru_cache(maxsize=most)(function)
        _forgetting.append(keeping.cache_clear)
        return cast("Callable[_P, _T]", keeping)

    return around


def forget() -> None:
    """Forget all results: they keep their cases, and these all records, in memory."""
    for one in _forgetting:
        one()
