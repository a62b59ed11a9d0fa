"""Records -> cases: all good launches of one setting together, and what was left out and why.

Only launches whose outcome is "ok" enter a sample. Everything else stays beside them, by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

from haloscope.quantities import count
from haloscope.stats.estimates import Estimate, median_range, typical
from haloscope.stats.sequential import steady_medians

if TYPE_CHECKING:
    from haloscope.records import Record

Setting = str | int | float | bool | None
Settings = Mapping[str, Setting]

LAYOUT = (
    *("nodes", "ppn", "threads", "places", "bind", "placement"),
    *("pattern", "mapping", "mapping_seed"),
)
SETTINGS = ("kernel", *LAYOUT, "toolchain", "transport", "runner", "clock")
"""What every case has, besides the parameters of its kernel."""
PROTOCOL = ("repetitions", "warmup", "steps")
OUTPUT = ("surface", "timeline", "parts")
"""Parameters that ask for more output, outside the timed part: no reason to tell cases apart."""
SIZES = "sizes"
"""The points of a kernel that sweeps them inside one launch."""
MODE = "mode"
"""What a kernel does: decides which other settings it has a choice of."""
_LIST = re.compile(r"[^,]*,|\d+[KMG]?:\d")
"""Several sizes: 8,64 or 8:4M."""
_ONLY_WITH = {
    ("jacobi3d", "L"): ("size", "cubes"),
    ("poisson_cg", "s"): ("variant", "sstep"),
    ("poisson_cg", "reorthogonalise"): ("variant", "sstep"),
}
"""Parameters of a kernel that have a meaning with one value of another one alone."""
UNSAID = ("placement", "pattern", "mapping_seed", *(name for _, name in _ONLY_WITH))
"""Settings that not every case has: without them, nothing is said."""
OF_A_MATRIX = ("bandwidth", "row_length")
"""What belongs to some generated matrices alone, which are known by their names."""
BY_VALUE = (
    *("variant", "exchange", "clock", "placement", "pattern", "mapping"),
    *("toolchain", "transport", "mode", "matrix"),
)
"""Settings whose values say what they are."""
_FIRST = (
    *("kernel", "matrix", "n", "variant", "exchange", "decomposition"),
    *("toolchain", "transport", *LAYOUT),
)


@dataclass(frozen=True, eq=False)
class MeasuredCase:
    """One setting and its launches.

    launches: the good ones, in the order of their numbers; excluded: all others.
    planned:  how many launches were asked for, where the plan says so.
    """

    id: str
    kernel: str
    settings: Settings
    launches: tuple[Record, ...]
    excluded: tuple[Record, ...]
    planned: int | None = None

    @property
    def ranks(self) -> int:
        """MPI processes in all."""
        return self.number("nodes") * self.number("ppn")

    @property
    def cores(self) -> int:
        """Processes times threads: the cores in use when each has its own."""
        return self.ranks * self.number("threads")

    @property
    def verified(self) -> bool:
        """Were the answers checked? Simulations may leave out the arithmetic."""
        told = [record.raw.get("simulation") or {} for record in self.launches]
        return all(one.get("verified", not self.simulated) for one in told)

    @property
    def simulated(self) -> bool:
        """Were its times taken from a simulated clock?"""
        return self.settings.get("clock") == "simulated"

    @property
    def cluster(self) -> str | None:
        """The cluster that it was simulated on; None for one that was measured."""
        told = [record.raw.get("simulation") or {} for record in self.launches]
        return told[0].get("cluster") if told else None

    @property
    def oversubscribed(self) -> bool:
        """Did ranks or threads share cores?"""
        return any(record.layout.get("oversubscribed") for record in self.launches)

    def number(self, name: str) -> int:
        """A setting that is a whole number."""
        value = self.settings[name]
        if not isinstance(value, int):
            raise TypeError(f"{name} is {value!r}, not a whole number")
        return value

    def sample(self, of: Callable[[Record], float | None]) -> list[float]:
        """One number a good launch; launches that do not have it are left out."""
        return [value for record in self.launches if (value := of(record)) is not None]

    @cached_property
    def times_s(self) -> list[float]:
        """Seconds of one step, one number a launch: the median of its steady repetitions."""
        return steady_medians([record.times_s for record in self.launches if record.times_s])

    @cached_property
    def time(self) -> Estimate | None:
        """The median time of one step over launches, in seconds; None without a good launch."""
        return self.estimate(self.times_s, [t for record in self.launches for t in record.times_s])

    def estimate(
        self, sample: Sequence[float], repetitions: Sequence[float] = ()
    ) -> Estimate | None:
        """The median of a sample of launches with its spread; None for an empty sample.

        A simulated case is deterministic and has no spread. A single launch has the range of its
        repetitions, where they are given: method "repetitions", and nothing is claimed from it.
        """
        if not sample:
            return None
        if self.simulated:
            return Estimate(median(sample), None, None, len(sample), "simulated")
        if len(sample) == 1 and len(repetitions) > 1:
            inner = median_range(repetitions)
            return Estimate(sample[0], inner.low, inner.high, 1, "repetitions")
        return typical(sample)

    def result(self, name: str) -> Any:
        """A result of the kernel, from the first good launch that has it; None if none has."""
        found = (record.result.get(name) for record in self.launches)
        return next((value for value in found if value is not None), None)


@dataclass(frozen=True)
class Facet:
    """Cases that differ in nothing but the axes of one table.

    label: what sets this facet apart from the others ("exchange = blocking"); "" when alone.
    """

    label: str
    settings: Settings
    cases: tuple[MeasuredCase, ...]


def _scalar(value: Any) -> Setting:
    """A parameter's value; a list of sizes as one text."""
    return ",".join(str(item) for item in value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Planned:
    """A case that was to be measured: its id, settings and number of launches."""

    id: str
    kernel: str
    settings: Settings
    launches: int


def settings_of(raw: Mapping[str, Any]) -> dict[str, Setting]:
    """Everything that makes a case what it is, flat: parameters, layout, toolchain, clock."""
    toolchain = raw.get("toolchain") or {}
    layout = raw.get("layout") or {}
    return {
        "kernel": raw["kernel"],
        **{
            key: _scalar(value)
            for key, value in raw["params"].items()
            if not _plays_no_part(key, raw["kernel"], raw["params"])
        },
        **{key: layout.get(key) for key in LAYOUT},
        "mapping": layout.get("mapping", "block"),
        "toolchain": toolchain.get("name") if isinstance(toolchain, Mapping) else toolchain,
        "transport": raw.get("transport"),
        "runner": raw.get("runner"),
        "clock": raw.get("clock", "wall"),
    }


def _plays_no_part(name: str, kernel: str, params: Mapping[str, Any]) -> bool:
    """Is it a parameter that another one leaves without a meaning?"""
    other, value = _ONLY_WITH.get((kernel, name), ("", None))
    return other in params and params[other] != value


def group(records: Iterable[Record], planned: Iterable[Planned] = ()) -> list[MeasuredCase]:
    """All cases that the records or the plan speak of, ordered by kernel and settings.

    `records` has one record a case and launch.
    """
    by_case: dict[str, list[Record]] = {}
    for record in records:
        by_case.setdefault(record.case, []).append(record)
    asked = {one.id: one for one in planned}
    measured = [_measured(own, asked.get(case_id)) for case_id, own in by_case.items()]
    runner = {key: measured[0].settings[key] for key in ("runner", "clock")} if measured else {}
    missing = [
        MeasuredCase(one.id, one.kernel, {**one.settings, **runner}, (), (), one.launches)
        for one in asked.values()
        if one.id not in by_case
    ]
    return sorted([*measured, *missing], key=lambda case: _order(case.settings))


def _measured(records: list[Record], planned: Planned | None) -> MeasuredCase:
    records.sort(key=lambda record: record.launch)
    good = tuple(record for record in records if record.outcome == "ok")
    bad = tuple(record for record in records if record.outcome != "ok")
    described = (good or bad)[0]
    return MeasuredCase(
        described.case,
        described.kernel,
        settings_of(described.raw),
        good,
        bad,
        planned.launches if planned else None,
    )


def select(cases: Iterable[MeasuredCase], where: Mapping[str, Any]) -> list[MeasuredCase]:
    """The cases whose settings have the values (or one of the listed values) of `where`."""

    def fits(case: MeasuredCase) -> bool:
        return all(
            case.settings.get(key) in (value if isinstance(value, list | tuple) else [value])
            for key, value in where.items()
        )

    return [case for case in cases if fits(case)]


def facets(cases: Sequence[MeasuredCase], axes: Iterable[str]) -> list[Facet]:
    """Split cases by every setting that is not one of `axes`; name what sets each part apart."""
    inside = {*axes, *PROTOCOL, *OUTPUT}
    if {"nodes", "ppn"} <= inside:
        inside.add("pattern")  # that follows from these
    parts: dict[tuple[tuple[str, Setting], ...], list[MeasuredCase]] = {}
    for case in cases:
        outside = tuple((k, v) for k, v in sorted(case.settings.items()) if k not in inside)
        parts.setdefault(outside, []).append(case)
    every = [dict(key) for key in parts]
    return [
        Facet(describe(one, _apart(one, every)), one, tuple(own))
        for one, own in zip(every, parts.values(), strict=True)
    ]


def _apart(one: Settings, among: Sequence[Settings]) -> list[str]:
    """What sets one part apart: its mode, and what varies among those of its mode."""
    alike = [other for other in among if other.get(MODE) == one.get(MODE)]
    return [MODE] * (len(alike) < len(among)) + varying(alike)


def facets_by_kernel(cases: Sequence[MeasuredCase]) -> list[Facet]:
    """Each case by itself, named among those of its kernel."""
    kernels = dict.fromkeys(case.kernel for case in cases)
    return [
        part
        for kernel in kernels
        for part in facets([case for case in cases if case.kernel == kernel], ())
    ]


def varying(settings: Sequence[Settings]) -> list[str]:
    """The names of settings that do not have one and the same value everywhere.

    Lists of sizes (every point of a sweep names its size), the numbers of repetitions and what
    belongs to some matrices alone are among them only where nothing else tells settings apart.
    """
    names = {name for one in settings for name in one if name not in OUTPUT}
    differ = {name for name in names if len({one.get(name) for one in settings}) > 1}
    lists = {
        SIZES,
        *PROTOCOL,
        *OF_A_MATRIX,
        *(n for n in differ if any(_LIST.match(str(one.get(n))) for one in settings)),
    }
    if len(_distinct(settings, differ)) == len(_distinct(settings, differ - lists)):
        differ -= lists
    return sorted(differ, key=_rank)


def _distinct(settings: Sequence[Settings], names: Iterable[str]) -> set[tuple[Setting, ...]]:
    order = sorted(names)
    return {tuple(one.get(name) for name in order) for one in settings}


def values(cases: Iterable[MeasuredCase], name: str) -> list[int]:
    """The values of a whole-number setting, ascending."""
    return sorted({case.number(name) for case in cases})


def describe(settings: Settings, names: Sequence[str]) -> str:
    """Some settings in words: "n = 1024, nonblocking, 2 processes".

    Processes are those of all nodes where the number of nodes is not named; one thread each goes
    without saying where processes are named.
    """
    nodes, ppn = settings.get("nodes"), settings.get("ppn")
    if "placement" in names:  # it says where both ranks are; without one, two ranks are meant
        names = [name for name in names if name not in ("nodes", "ppn", "places")]
    words = []
    for name in names:
        if name == "ppn" and "nodes" not in names and isinstance(nodes, int):
            words.append(count(nodes * ppn, "process", "processes") if isinstance(ppn, int) else "")
        elif name == "threads" and "ppn" in names and settings.get(name) == 1:
            continue
        else:
            words.append(_in_words(name, settings.get(name)))
    return ", ".join(word for word in words if word)


def label_of(case: MeasuredCase, among: Sequence[MeasuredCase]) -> str:
    """A case's name beside others of its kernel: the settings that vary among them."""
    own = [other.settings for other in among if other.kernel == case.kernel]
    return describe(case.settings, _apart(case.settings, own)) or case.kernel


def name_of(case: MeasuredCase, among: Sequence[MeasuredCase]) -> str:
    """A case's name beside others of any kernel: its kernel, and the settings that vary."""
    label = label_of(case, among)
    return case.kernel if label == case.kernel else f"{case.kernel}: {label}"


def _in_words(name: str, value: Setting) -> str:
    if value is None:
        return "" if name in UNSAID else f"default {name}"
    if name == "ppn" and isinstance(value, int):
        return f"{count(value, 'process', 'processes')} per node"
    if name == "nodes" and isinstance(value, int):
        return count(value, "node")
    if name == "threads" and isinstance(value, int):
        return count(value, "thread")
    if name in BY_VALUE:
        return str(value)
    return f"{name} = {str(value).lower() if isinstance(value, bool) else value}"


def _rank(name: str) -> tuple[int, str]:
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)


def _order(settings: Settings) -> list[tuple[str, float, str]]:
    """A sort key over settings: numbers by value, texts by alphabet."""
    key = []
    for name in sorted(settings, key=_rank):
        value = settings[name]
        numeric = isinstance(value, int | float)
        key.append((name, float(value) if numeric else 0.0, "" if numeric else str(value)))  # type: ignore[arg-type]
    return key
