# SPDX-License-Identifier: BSD-3-Clause
"""Which simulated cases of a report published times validate, and what its badge says of them."""

from __future__ import annotations

import pytest
from found import SIMULATED
from noted import shows
from recorded import Raw, cases, on_device, poisson, record, ring, star_forest

from haloscope.analysis.validation.bands import Basis
from haloscope.analysis.validation.cell_groups import ErrorKind
from haloscope.analysis.validation.trust import preferred, trust
from haloscope.findings.badge import badge, brief_badge
from haloscope.quantities import within

KINDS = {ErrorKind.ONE_NODE: "n one node, ", ErrorKind.SEVERAL_NODES: "n several nodes, "}


def simulated(variant: str, cluster: str = "stampede2", **more: str) -> Raw:
    simulation = {**SIMULATED["simulation"], "cluster": cluster, **more}
    return poisson(1024, variant=variant, clock="simulated", simulation=simulation)


def test_measured_cases_have_no_grade() -> None:
    assert trust(cases([poisson(64)])) is None


def test_cases_validated_by_published_times_come_first() -> None:
    found = trust(cases([simulated("fused"), simulated("textbook"), poisson(64)]))

    assert found and found.validated == "partly"
    assert [one.name for one in found.own] == ["poisson_cg (textbook)"]
    assert [one.name for one in found.others] == ["poisson_cg (fused)"]
    assert found.others[0].band.basis is Basis.VARIANT


@pytest.mark.parametrize(
    ("variant", "cluster", "validated"),
    [
        ("textbook", "stampede2", "yes"),
        ("textbook", "tara", "yes"),
        ("fused", "tara", "no"),
        ("textbook", "cab", "no"),
    ],
)
def test_a_report_is_validated_only_by_its_own_cluster_and_variant(
    variant: str, cluster: str, validated: str
) -> None:
    found = trust(cases([simulated(variant, cluster)]))

    assert found and found.validated == validated


def test_another_cluster_file_of_the_same_name_is_not_validated() -> None:
    found = trust(cases([simulated("textbook", platform="000000000000")]))

    assert found and found.validated == "no"


def test_a_badge_states_the_band_and_its_source() -> None:
    found = trust(cases([simulated("textbook"), simulated("fused")]))
    assert found

    own, other = found.grades
    text = badge(found)
    assert shows(text, f"95 % of {own.band.cells} published values", within(own.band.factor))
    assert shows(
        text, f"{other.name} are not validated", f"likely within {within(other.band.factor)}"
    )
    alone = trust(cases([simulated("fused")]))
    assert alone and f"(the error of {other.band.of}, another variant)" in badge(alone)


def test_a_badge_names_both_kinds_of_times_if_their_errors_differ() -> None:
    simulation = {**SIMULATED["simulation"], "cluster": "summit"}
    raws = [
        {
            **on_device("sf_pingpong", nodes=nodes, sync="default_stream", mpi="gpu_aware"),
            "clock": "simulated",
            "simulation": simulation,
        }
        for nodes in (1, 2)
    ]
    both, alone = trust(cases(raws)), trust(cases(raws[1:]))
    assert both and alone

    (grade,) = both.grades
    assert grade.other and grade.other.band.factor < grade.band.factor
    places = [KINDS[grade.other.kind], *({*KINDS.values()} - {KINDS[grade.other.kind]})]
    assert shows(badge(both), *places, within(grade.band.factor), within(grade.other.band.factor))
    assert alone.grades[0].other is None and not any(where in badge(alone) for where in places)


@pytest.mark.parametrize(("kernel", "cells"), [("sum3d", 35), ("ring", 2)])
def test_a_badge_names_published_values_that_contradict_the_simulation(
    kernel: str, cells: int
) -> None:
    simulation = {**SIMULATED["simulation"], "cluster": "orfeo-thin"}
    raw = record(kernel, {}, [1e-3], ranks=24, clock="simulated", simulation=simulation)

    found = trust(cases([raw]))

    assert found and found.validated == "no" and found.contradicted == found.others
    (one,) = found.contradicted
    assert one.band.cells == cells and "likely" not in badge(found)
    error = within(one.band.factor)
    assert f"{kernel}: the error is {error} ({cells} published values)" in badge(found)
    assert shows(brief_badge(found), "contradicted", error)


def test_a_badge_states_an_error_shared_by_several_kernels_once() -> None:
    kernels = [{**star_forest(name), **SIMULATED} for name in ("sf_scatter", "sf_unpack")]
    found = trust(cases([record("fe_heat", {}, [1.0], **SIMULATED), *kernels]))

    assert found and len(found.others) == 3
    assert len({within(one.band.factor) for one in found.others}) == 1
    assert badge(found).count("likely") == 1 and "and 1 more are not validated" in badge(found)


@pytest.mark.parametrize(
    ("nodes", "ppn", "beyond", "expected"),
    [
        (9, 1, ("nodes", "ppn"), ("(on 3 nodes with", " 3 processes per node)")),
        (9, 3, ("nodes",), ("(on 3 nodes)",)),
        (3, 1, ("ppn",), ("(with 3 processes per node)",)),
        (3, 3, (), ("published values are",)),
    ],
)
def test_a_badge_names_published_layouts_that_no_case_uses(
    nodes: int, ppn: int, beyond: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    """Cells of nine nodes set numbers of summit; those of three alone validate sf_grid."""
    simulation = {**SIMULATED["simulation"], "cluster": "summit"}
    raw = star_forest("sf_grid", ranks=nodes * ppn, nodes=nodes, memory="device",
                      topology="3x3")  # fmt: skip
    raw["layout"]["ppn"] = ppn

    found = trust(cases([{**raw, "clock": "simulated", "simulation": simulation}]))

    assert found and found.grades[0].beyond == beyond
    assert shows(badge(found), *expected)


@pytest.mark.parametrize(
    ("n", "bind", "expected"),
    [
        (4096, "spread", ("published values are",)),
        (512, "spread", ("published values (with n = 2,048 to 65,536)",)),
        (512, "close", ("(with n = 2,048 to 65,536, with bind = spread)",)),
    ],
)
def test_a_badge_names_the_published_mesh_and_placement_if_they_differ(
    n: int, bind: str, expected: tuple[str, ...]
) -> None:
    simulation = {**SIMULATED["simulation"], "cluster": "stampede2"}
    raw = poisson(n, ranks=4, nodes=2, variant="textbook", clock="simulated", simulation=simulation)
    raw["layout"]["bind"] = bind

    assert shows(badge(trust(cases([raw])) or pytest.fail("no trust")), *expected)


def test_a_badge_names_the_original_of_a_copied_cluster_file() -> None:
    found = trust(cases([simulated("textbook", "mine", platform="0", copied_from="tara")]))

    assert found and found.copied == "tara" and "copy of tara" in badge(found)


def test_a_headline_prefers_validated_results() -> None:
    own, other, ring_ = simulated("textbook"), simulated("fused"), ring(2, **SIMULATED)

    def kept(*raws: Raw) -> list[tuple[str, object]]:
        every = preferred(cases([*raws]))
        return [(case.kernel, case.settings.get("variant")) for case in every]

    assert kept(own, other) == [("poisson_cg", "textbook")]
    assert kept(other) == [("poisson_cg", "fused")]
    assert ("ring", None) in kept(own, other, ring_)


@pytest.mark.parametrize(
    ("factor", "text"), [(1.17, "± 17 %"), (1.045, "± 4.5 %"), (2.44, "a factor of 2.4")]
)
def test_an_error_is_printed_as_a_percentage_or_a_factor(factor: float, text: str) -> None:
    assert within(factor) == text
