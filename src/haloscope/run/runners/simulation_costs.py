# SPDX-License-Identifier: BSD-3-Clause
"""Costs of simulations on this machine: time and memory, forecast from earlier ones.

Simulated ranks take turns, so the time of a simulation grows with their number and, with
arithmetic, with the arrays. The memory consists of a stack and messages per rank, and of these
arrays.
"""

from __future__ import annotations

import json
import logging
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate
from math import ceil, floor
from pathlib import Path
from statistics import median
from typing import Self

from pydantic import TypeAdapter, ValidationError

from haloscope.grouped import grouped
from haloscope.quantities import count, size
from haloscope.run.progress import duration
from haloscope.study.case import Case
from haloscope.study.known_iterations import executes

_log = logging.getLogger(__name__)

FILE = "costs.jsonl"
START_S = 0.1
START_BYTES = 2**25
PER_RANK_S = {
    "fe_heat": 0.018,
    "fft_pencil": 0.012,
    "jacobi3d": 0.010,
    "md_pppm": 0.023,
    "poisson_cg": 0.0064,
    "sf_grid": 0.14,
    "spmv": 0.33,
}
"""PER_RANK_S is the model for kernels without earlier simulations here: the median over 13,519
simulations with at least 8 ranks on a Xeon core.
"""
MODEL_RANGE = 8.0
"""MODEL_RANGE is the factor within which the model predicted 90 % of 16,854 simulations of each
kernel on another day: 2.7 for spmv to 7.9 for jacobi3d. An identical simulation, run beside others,
takes up to 2.6 times (poisson_cg) and 3.5 times (fe_heat) its median in 90 % of cases.
"""
SPREAD = 2.0
"""SPREAD widens the range of earlier simulations. The range from their 5th percentile over SPREAD
to their 95th times SPREAD contains 92 % of 1,742 simulations that were forecast from other cases;
90 % of the medians are within a factor of 5.6.
"""
PER_RANK_BYTES = 2**18
NEAR = 4
"""NEAR is the ratio between numbers of ranks up to which simulations predict each other best."""
SURE = 2
"""SURE divides the cheapest earlier simulation to give the minimum cost of another one."""


@dataclass(frozen=True)
class Cost:
    """The cost of one simulation. words: the choices among its parameters, from `_words`."""

    kernel: str
    words: str
    ranks: int
    arrays_bytes: int
    wall_s: float
    peak_bytes: int

    @property
    def work(self) -> int:
        """What the time grows with."""
        return self.arrays_bytes or self.ranks

    @property
    def beyond_s(self) -> float:
        """The time in excess of that of few ranks."""
        return max(self.wall_s - START_S, 0)

    @property
    def beyond_bytes(self) -> int:
        """The memory in excess of that of few ranks and of the arrays."""
        return max(self.peak_bytes - START_BYTES - self.arrays_bytes, 0)


@dataclass(frozen=True)
class SimulationForecast:
    """The expected cost of a simulation on this machine.

    range_s: bounds that contain 9 of 10 cases. least_s, least_bytes: minimum; 0 if nothing similar
    was simulated here. earlier: number of earlier simulations it is based on; 0: the model. kept:
    whether an identical one was simulated, so that its result is cached.
    """

    time_s: float
    memory_bytes: int
    least_s: float = 0
    least_bytes: int = 0
    earlier: int = 0
    kept: bool = False
    range_s: tuple[float, float] = (0.0, 0.0)

    def __str__(self) -> str:
        """Describe it: 12 s, 40 MiB."""
        return "in cache" if self.kept else f"{duration(self.time_s)}, {size(self.memory_bytes)}"

    @property
    def source(self) -> str:
        """Describe what it is based on."""
        return count(self.earlier, "earlier simulation") if self.earlier else "a model"

    def refusal(self, timeout_s: float, memory_bytes: int) -> str | None:
        """Return why a case is not started, with the remedy; None if it may end in time."""
        if self.least_s > timeout_s:
            what = f"needs at least {duration(self.least_s)}, but timeout_s = {timeout_s:g}"
            remedy = f"set timeout_s = {2 * self.time_s:.0f}, or simulate fewer ranks"
        elif self.least_bytes > memory_bytes:
            what = f"needs at least {size(self.least_bytes)}, but this machine has "
            what += f"only {size(memory_bytes)} free"
            remedy = "simulate fewer ranks, or use a machine with more memory"
        else:
            return None
        return f"not started: the simulation {what} (estimated by {self.source}); {remedy}"


@dataclass(frozen=True)
class SimulationCosts:
    """The costs of earlier simulations, in the folder of cached results."""

    folder: Path

    def add(self, case: Case, wall_s: float, peak_bytes: int) -> None:
        """Store the cost of a simulation."""
        cost = Cost(*_like(case), case.layout.ranks, arrays_bytes(case), wall_s, peak_bytes)
        with (self.folder / FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(cost)) + "\n")

    @cached_property
    def known(self) -> Sequence[Cost]:
        """Return the stored costs, without damaged lines."""
        try:
            text = (self.folder / FILE).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ()
        found: list[Cost] = []
        one: TypeAdapter[Cost] = TypeAdapter(Cost)
        for line in text.splitlines():
            try:
                found.append(one.validate_json(line, strict=True))
            except ValidationError as error:
                _log.info("%s: %s", self.folder / FILE, error.errors()[0]["msg"])
        return [cost for cost in found if cost.ranks > 0 and cost.wall_s > 0]

    @cached_property
    def _by_kernel(self) -> Mapping[tuple[str, bool], Sequence[Cost]]:
        """Return the stored costs by kernel, and by whether the arithmetic was simulated, too."""
        return grouped(self.known, lambda one: (one.kernel, one.arrays_bytes > 0))

    @cached_property
    def _alike(self) -> dict[tuple[str, str, bool, int], _Alike | None]:
        """Return what `forecast` has looked up, as many cases of a study have the same."""
        return {}

    def _looked_up(self, kernel: str, words: str, executed: bool, ranks: int) -> _Alike | None:
        """Return the earlier simulations that predict a case; None if there are none."""
        asked = (kernel, words, executed, ranks)
        if asked not in self._alike:
            of_kernel = self._by_kernel.get((kernel, executed), ())
            alike = [one for one in of_kernel if one.words == words] or of_kernel
            self._alike[asked] = _Alike.of(alike, ranks) if alike else None
        return self._alike[asked]

    def forecast(self, case: Case) -> SimulationForecast | None:
        """Return a case's expected cost; None without a similar simulation or a model."""
        ranks, arrays = case.layout.ranks, arrays_bytes(case)
        kernel, words = _like(case)
        alike = self._looked_up(kernel, words, arrays > 0, ranks)
        if alike is None:
            if kernel not in PER_RANK_S or arrays:
                return None
            time_s = START_S + PER_RANK_S[kernel] * ranks
            memory_bytes = START_BYTES + PER_RANK_BYTES * ranks
            ends = time_s / MODEL_RANGE, time_s * MODEL_RANGE
            return SimulationForecast(time_s, memory_bytes, range_s=ends)
        return alike.forecast(arrays, arrays or ranks)


@dataclass(frozen=True)
class _Alike:
    """Earlier simulations that predict others with a number of ranks, ordered by their work.

    rates: their seconds per work, in excess of those of few ranks. memory: bytes in excess of
    arrays, for that number of ranks.
    """

    works: Sequence[int]
    rates: Sequence[float]
    memory: Sequence[float]

    @classmethod
    def of(cls, alike: Sequence[Cost], ranks: int) -> Self:
        """Choose those with the nearest numbers of ranks."""
        limit = max(NEAR, min(_apart(one.ranks, ranks) for one in alike))
        near = sorted(
            (one for one in alike if _apart(one.ranks, ranks) <= limit), key=lambda one: one.work
        )
        return cls(
            [one.work for one in near],
            [one.beyond_s / one.work for one in near],
            [one.beyond_bytes * ranks / one.ranks for one in near],
        )

    @cached_property
    def _least(self) -> Sequence[tuple[float, float]]:
        """Return the smallest rate and memory of the first simulation, of the first two, ..."""
        return [*zip(accumulate(self.rates, min), accumulate(self.memory, min), strict=True)]

    @cached_property
    def _ordered(self) -> Sequence[float]:
        return sorted(self.rates)

    @cached_property
    def _median_bytes(self) -> float:
        return median(self.memory)

    def forecast(self, arrays_bytes: int, work: int) -> SimulationForecast:
        """Return the cost of a simulation with these arrays, whose time grows with `work`."""
        last = len(self.works) - 1
        low, high = self._ordered[floor(0.05 * last)], self._ordered[ceil(0.95 * last)]
        smaller = bisect_right(self.works, work)
        least_rate, least_bytes = self._least[smaller - 1] if smaller else (0.0, -arrays_bytes)
        return SimulationForecast(
            START_S + median(self._ordered) * work,
            round(START_BYTES + arrays_bytes + self._median_bytes),
            least_rate * work / SURE,
            round((arrays_bytes + least_bytes) / SURE),
            earlier=len(self.works),
            range_s=((START_S + low * work) / SPREAD, (START_S + high * work) * SPREAD),
        )


def _apart(one: int, other: int) -> float:
    return max(one / other, other / one)


def _like(case: Case) -> tuple[str, str]:
    """Return the kernel and its text parameters; sizes of a problem hardly change the messages."""
    chosen = sorted(
        f"{key}={value}"
        for key, value in case.params.items()
        if isinstance(value, str) and value.replace("_", "").isalpha()
    )
    return case.kernel, " ".join(chosen)


def arrays_bytes(case: Case) -> int:
    """Return the bytes of this machine's memory for the arrays of all ranks."""
    return case.memory_bytes if executes(case) else 0
