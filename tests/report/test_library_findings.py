# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI library is fastest, by size: said where shown, and where not."""

from __future__ import annotations

from recorded import Raw, cases, pingpong

from haloscope.report import tables
from haloscope.report.context import Context
from haloscope.report.findings import libraries

SIZES = [8, 64, 512, 4096, 32768]


def of(name: str, factors: dict[int, float], launches: int = 10) -> list[Raw]:
    """A library's ping-pongs: the simple machine's times by a factor at each size."""
    raws = []
    for k in range(launches):
        raw = pingpong(launch=k, sizes=SIZES, toolchain={"name": name})
        for point in raw["points"]:
            factor = factors.get(point["size_bytes"], 1.0) * (1 + 0.001 * len(name))
            point["times_s"] = [factor * time for time in point["times_s"]]
        raws.append(raw)
    return raws


def told(raws: list[Raw]) -> list[str]:
    own = cases(raws)
    return [one.text for one in libraries.find(own, Context(all_cases=own))]


def test_the_fastest_is_named_by_size_with_the_next_and_how_much_longer_it_takes() -> None:
    slow, fast = {8: 1.5, 64: 1.25}, {4096: 2.0, 32768: 2.0}

    (said,) = told([*of("openmpi", slow), *of("mpich", fast)])

    assert said.startswith("Fastest MPI library (8 B to 32 KiB, one way): ")
    assert "mpich at 8 B to 64 B, where the next (openmpi) takes 1.2" in said
    assert "openmpi at 4 KiB to 32 KiB, where the next (mpich) takes 2.00 times as long" in said
    assert said.endswith("; at 512 B it is not shown which.")


def test_too_few_launches_name_no_fastest() -> None:
    (said,) = told([*of("openmpi", dict.fromkeys(SIZES, 2.0), 2), *of("mpich", {}, 2)])

    assert said == (
        "Fastest MPI library (8 B to 32 KiB, one way): at every size launches are too few to "
        "tell: 5 of each would do for 5 comparisons."
    )


def test_one_library_races_against_none() -> None:
    assert told(of("openmpi", {})) == []


def test_two_placements_are_two_races() -> None:
    raws = [*of("openmpi", {}), *of("mpich", dict.fromkeys(SIZES, 2.0))]
    apart = [
        {**raw, "layout": {**raw["layout"], "placement": placement},
         "case": f"{raw['case']}-{placement}"}
        for raw in raws
        for placement in ("same-core", "same-cache")
    ]  # fmt: skip

    said = told(apart)

    assert [text.split(":")[0] for text in said] == [
        f"Fastest MPI library (8 B to 32 KiB, one way, {where})"
        for where in ("same-cache", "same-core")
    ]


def test_winners_at_scattered_sizes_are_counted() -> None:
    sizes = [2**k for k in range(3, 13)]
    slow = {size: 2.0 for size in sizes[::2]}
    fast = {size: 2.0 for size in sizes[1::2]}

    def library(name: str, factors: dict[int, float]) -> list[Raw]:
        raws = [pingpong(launch=k, sizes=sizes, toolchain={"name": name}) for k in range(10)]
        for raw in raws:
            for point in raw["points"]:
                factor = factors.get(point["size_bytes"], 1.0)
                point["times_s"] = [factor * time for time in point["times_s"]]
        return raws

    (said,) = told([*library("openmpi", slow), *library("mpich", fast)])

    assert "openmpi at 5 of 10 sizes from 16 B to 4 KiB, where the next (mpich)" in said
    assert "mpich at 5 of 10 sizes from 8 B to 2 KiB, where the next (openmpi)" in said


def test_the_headline_and_the_table_rest_on_the_same_tests() -> None:
    """Seven launches that never overlap: enough for one family of tests of a few sizes alone."""
    raws = [
        *of("openmpi", dict.fromkeys(SIZES, 1.5), 5),
        *of("mpich", {8: 1.0, 1024: 1.0}, 5),
        *of("impi", dict.fromkeys(SIZES, 1.5), 5),
    ]
    own = cases(raws)

    (said,) = told(raws)
    (table,) = tables.build("libraries", own, Context(all_cases=own))

    verdicts = {row[-1].text for row in table.rows}
    assert ("too few launches to tell" in verdicts) == ("launches are too few to tell" in said)
    assert any("Holm's correction for 10 comparisons" in note for note in table.notes)
    assert any("Shown are 1 of 5 sizes, tested together" in note for note in table.notes)


def test_what_was_launched_too_seldom_keeps_no_one_else_from_being_told_apart() -> None:
    raws = [
        *of("openmpi", dict.fromkeys(SIZES, 2.0)),
        *of("mpich", {}),
        *of("impi", dict.fromkeys(SIZES, 9.0), 1),
    ]
    own = cases(raws)

    (said,) = told(raws)
    (table,) = tables.build("libraries", own, Context(all_cases=own))

    assert "mpich at 8 B to 32 KiB, where the next (openmpi) takes 2.00 times as long" in said
    assert said.endswith("; impi is not in it, launched too seldom for a test.")
    assert any("too seldom for a test: impi." in note for note in table.notes)


def test_placements_are_set_against_each_other_library_by_library() -> None:
    raws = [
        {**raw, "layout": {**raw["layout"], "placement": placement},
         "case": f"{raw['case']}-{placement}"}
        for name in ("openmpi", "mpich")
        for raw in of(name, {})
        for placement in ("same-core", "same-cache")
    ]  # fmt: skip
    own = cases(raws)

    made = tables.build("libraries", own, Context(all_cases=own))

    assert [table.title.split(":")[0] for table in made] == [
        *["Half round trip"] * 2,
        "Half round trip against same-cache, mpich",
        "Half round trip against same-cache, openmpi",
    ]
