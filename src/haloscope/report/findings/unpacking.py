# SPDX-License-Identifier: BSD-3-Clause
"""What star forests add to writing values where they arrive: adding them, and leaves at home."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import UNTESTABLE, Contrast
from haloscope.analysis.published import Library
from haloscope.analysis.star_forests import BEYOND, More, more_done, published_latency
from haloscope.quantities import listed, seconds, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.findings.star_forests import by_sizes
from haloscope.report.words import few, on_emulated, place

ORDER = 151

_WHAT = {
    "sf_unpack": ("Adding values where they arrive", "writing them there"),
    "sf_scatter": ("Leaves on rank 0 itself, too", "on the other rank alone"),
}


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of sf_unpack against sf_newpingpong, and of sf_scatter against sf_unpack, size by size."""
    found = more_done(cases, context.seed)
    for kernel, (what, less) in _WHAT.items():
        own = [one for one in found if one.kernel == kernel]
        if not own:
            continue
        every = [one.case for one in own]
        where = f"{on_emulated(*every)}{place(*every)}{few(*every)}"
        told = _told(own, context.library)
        yield Finding(f"{what} ({kernel}), against {less} ({BEYOND[kernel]}){where}: {told}.")


def _told(own: Sequence[More], library: Library) -> str:
    """By places that are told alike, or that launches are too few to tell of any."""
    if all(each.verdict == UNTESTABLE for one in own for each in one.by_size.values()):
        return "launches are too few to tell at any size"
    places: dict[str, list[str]] = {}
    for one in own:
        told = f"{_of_one(one.by_size)}{_published(one.by_size, library)}"
        places.setdefault(told, []).append(one.of)
    return "; ".join(f"{listed(of)}: {told}" if all(of) else told for told, of in places.items())


_APART = 1.01
"""_APART is the least ratio of two published times that is told where ours do not differ."""


def _published(by_size: Mapping[int, Contrast], library: Library) -> str:
    """Where published times differ and ours do not."""
    more = {}
    for at, contrast in by_size.items():
        first, second = (
            published_latency(side.case, at, library) for side in (contrast.first, contrast.second)
        )
        same = contrast.verdict not in ("slower", "faster")
        if same and first and second and second.value > _APART * first.value:
            more[at] = second.value - first.value
    if not more:
        return ""
    told = listed([f"{seconds(round(extra, 9))} at {size(at)}" for at, extra in more.items()])
    return f" (published: longer by {told})"


def _of_one(by_size: Mapping[int, Contrast]) -> str:
    """How much longer the smallest takes, where it is shown to; then each verdict by size."""
    least = min(by_size)
    first, second = by_size[least].first.time, by_size[least].second.time
    if by_size[least].verdict != "slower" or first is None or second is None:
        return by_sizes(by_size, ", ")
    more = f"{seconds(second.value - first.value)} more at {size(least)}"
    return f"{more}, {by_sizes(by_size, ', ')}"
