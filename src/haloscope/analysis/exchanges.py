"""Ways to communicate set against each other: of exchanging halos, of overlapping with work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.comparison import Contrast, contrasts, step


@dataclass(frozen=True)
class Ways:
    """The values of one setting of a kernel, the reference first."""

    kernel: str
    setting: str
    order: tuple[str, ...]
    title: str

    def position(self, case: MeasuredCase) -> int:
        """Where a case's way stands in the order."""
        return self.order.index(str(case.settings[self.setting]))


EXCHANGES = Ways(
    "poisson_cg",
    "exchange",
    ("blocking", "even_odd", "sendrecv", "nonblocking", "persistent"),
    "Exchanges compared",
)
OVERLAPS = Ways("spmv", "overlap", ("none", "split", "split_temporary"), "Ways to overlap compared")


def groups(
    cases: Sequence[MeasuredCase], seed: int, ways: Ways = EXCHANGES
) -> list[tuple[str, list[Contrast]]]:
    """For each setting with several ways, all against the reference; corrected over all.

    One process exchanges nothing, so it has no row.
    """
    several = [case for case in cases if case.kernel == ways.kernel and case.ranks > 1]
    parts = [part for part in facets(several, (ways.setting,)) if len(part.cases) > 1]
    pairs = []
    for part in parts:
        first, *others = (step(case) for case in sorted(part.cases, key=ways.position))
        pairs += [(first, other) for other in others]
    each = iter(contrasts(pairs, seed))
    return [(part.label, [next(each) for _ in part.cases[1:]]) for part in parts]
