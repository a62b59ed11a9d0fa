# SPDX-License-Identifier: BSD-3-Clause
"""The error of simulated times: from which published cells it is, and that it holds them."""

from __future__ import annotations

from dataclasses import replace
from math import log

import pytest
from bands import left_out
from noted import shows

from haloscope.analysis.validation import bands
from haloscope.analysis.validation.bands import (
    Bands,
    Basis,
    Subject,
    known,
    pairing,
    quantile,
)
from haloscope.analysis.validation.cell_groups import FEWEST, TIMES, ErrorKind
from haloscope.clusters.file import find
from haloscope.clusters.schema import state
from haloscope.papers.validated import ValidatedCell

CELL = ValidatedCell(
    "here", "1a", "poisson_cg", "paper", "1",
    {"n": 1024, "variant": "textbook", "nodes": 2, "ppn": 1}, {}, 10.0, 11.0, False,
)  # fmt: skip
SUBJECT = Subject("here", "1a", "poisson_cg", CELL.settings)


def cell(off: float = 1.1, *, fitted: bool = False, where: str = "1a", **settings: int | str):  # type: ignore[no-untyped-def]
    """A cell that was predicted so many times as long as published."""
    return replace(
        CELL, settings={**CELL.settings, **settings}, predicted=10.0 * off, fitted=fitted,
        platform=where, cluster="here" if where == "1a" else where,
    )  # fmt: skip


def factor(cells: list[ValidatedCell], subject: Subject = SUBJECT) -> float:
    return Bands(cells).time(subject).factor


def test_gpu_memory_times_do_not_validate_host_memory_times() -> None:
    device = cell(1.05, memory="device", nodes=2)
    elsewhere = replace(cell(1.4, where="2b"), kernel="ring")

    band = Bands([device, elsewhere]).time(SUBJECT)

    assert band.basis is Basis.WIDEST
    assert band.factor == pytest.approx(1.4)


def test_a_band_uses_the_same_cluster_file_kernel_and_variant() -> None:
    every = [cell(1.1), cell(1.5, where="2b"), cell(1.3, variant="fused")]

    band = Bands(every).time(SUBJECT)

    assert band.factor == pytest.approx(1.1)
    assert (band.cells, band.basis, band.of) == (1, Basis.OWN, "")


@pytest.mark.parametrize(
    ("settings", "beyond"),
    [
        ({}, ()),
        ({"nodes": 64}, ()),
        ({"nodes": 1}, ("one node",)),
        ({"threads": 2}, ("several threads per task", "several nodes")),
        ({"ppn": 5}, ("5 cores per node", "(at most 4)")),
    ],
)
def test_cells_of_other_regimes_do_not_validate(
    settings: dict[str, int], beyond: tuple[str, ...]
) -> None:
    every = Bands([cell(ppn=1), cell(ppn=4), cell(where="2b", nodes=1, threads=2)])
    asked = Subject("here", "1a", "poisson_cg", {**CELL.settings, **settings})
    found = every.beyond(asked)
    assert bool(found) == bool(beyond) and shows(found, *beyond)
    assert every.beyond(replace(asked, kernel="fft_pencil")) == "", "there is nothing to go beyond"


def test_errors_of_published_ratios_also_apply_to_times() -> None:
    relative = replace(cell(1.6), over={"nodes": 1})
    elsewhere = replace(cell(1.2, where="2b"), kernel="ring")

    band = Bands([relative, elsewhere]).time(SUBJECT)

    assert band.factor == pytest.approx(1.6) and not band.own
    assert shows(band.of, " ratios", "poisson_cg (textbook)", " here")


def test_a_few_unusual_cells_make_no_band_for_other_clusters() -> None:
    many = [cell(1.2, where="2b", n=n) for n in range(FEWEST)]
    odd = cell(9.0, where="3c")

    assert factor([*many, odd]) == pytest.approx(1.2)
    assert factor([*many[1:], odd]) == pytest.approx(9.0)  # no group has enough
    assert Bands([*many, odd]).time(replace(SUBJECT, platform="3c")).factor == pytest.approx(9.0)


@pytest.mark.parametrize(
    ("cells", "basis", "expected"),
    [
        ([cell(1.3, variant="fused"), cell(1.5, where="2b")], Basis.VARIANT, 1.3),
        ([cell(1.2, where="2b"), cell(1.5, where="3c")], Basis.NEAREST, 1.5),
        ([replace(cell(1.4), kernel="ring"), cell(1.2, where="2b")], Basis.NEAREST, 1.2),
        ([replace(cell(1.01), kernel="ring"), cell(9.0, where="2b")], Basis.NEAREST, 9.0),
        ([replace(cell(1.6, where="2b"), kernel="ring")], Basis.WIDEST, 1.6),
    ],
)
def test_without_own_cells_the_widest_nearest_band_is_used(
    cells: list[ValidatedCell], basis: Basis, expected: float
) -> None:
    band = Bands(cells).time(SUBJECT)

    assert band.basis is basis and not band.own and band.of
    assert band.factor == pytest.approx(expected)


def test_ratios_and_several_nodes_have_at_least_the_error_of_their_kernel() -> None:
    unmodelled = [cell(14.0, nodes=1, n=n) for n in range(FEWEST)]
    others = [replace(cell(1.1 + 0.01 * n, ppn=n), kernel="spmv") for n in range(FEWEST)]
    every = Bands([*unmodelled, *others])

    for kind in (ErrorKind.SEVERAL_NODES, ErrorKind.LAYOUTS):
        found = every.band(SUBJECT, kind)
        assert found.factor == pytest.approx(14.0) and found.basis is Basis.NEAREST


def test_a_kernel_without_published_values_does_not_get_the_error_of_one_on_its_cluster() -> None:
    exact = [replace(cell(1.01, n=n), kernel="jacobi3d") for n in range(FEWEST)]
    others = [replace(cell(1.3, where="2b", n=n), kernel="spmv") for n in range(FEWEST)]
    unmodelled = [replace(cell(14.0, n=n), kernel="sum3d") for n in range(FEWEST)]

    band = Bands([*exact, *others, *unmodelled]).time(SUBJECT)

    assert band.basis is Basis.WIDEST and band.factor == pytest.approx(1.3)


@pytest.mark.parametrize(
    ("cluster", "kernel", "low", "high"),
    [
        ("orfeo-thin", "sum3d", 13.0, 14.0),
        ("stampede2", "sum3d", 13.0, 14.0),
        ("orfeo-thin", "ring", 1.5, 1.65),
        ("orfeo-thin", "jacobi3d", 1.0, 1.02),
        ("orfeo-thin", "fft_pencil", 1.6, 1.7),
        ("orfeo-thin", "fe_heat", 1.2, 1.5),
    ],
)
def test_no_band_is_narrower_than_the_published_values_of_its_kernel(
    cluster: str, kernel: str, low: float, high: float
) -> None:
    settings = {"variant": "plain"} if kernel == "jacobi3d" else {}
    band = known().time(Subject(cluster, state(find(cluster)), kernel, settings))

    assert low <= band.factor <= high
    assert band.own is (kernel == "jacobi3d")
    assert band.compared is (cluster == "orfeo-thin" and kernel in ("sum3d", "ring", "jacobi3d"))


@pytest.mark.parametrize(("off", "contradicts"), [([0.0] * 19 + [2.0], False),
                                                  ([0.0] * 18 + [2.0] * 2, True)])  # fmt: skip
def test_more_than_5_percent_beyond_the_band_contradict_it(
    off: list[float], contradicts: bool
) -> None:
    band = Bands([cell(1.1)]).time(SUBJECT)

    found = bands.reported(off, band)

    assert (found is not None) is contradicts
    if found:
        assert log(found.factor) == pytest.approx(2.0) and found.cells == 20 and not found.own
    assert bands.reported([2.0], band) is None, "one value does not contradict a validated band"
    assert bands.reported([2.0], replace(band, basis=Basis.NEAREST)) is not None
    assert bands.reported([0.3] * 20, band) is None, "beyond the band, but within FAR"


def test_a_changed_file_of_the_same_name_has_no_own_cells() -> None:
    assert Bands([cell()]).time(replace(SUBJECT, platform="9z")).basis is Basis.NEAREST


def test_an_older_record_identifies_the_cluster_only_by_name() -> None:
    assert Bands([cell()]).time(replace(SUBJECT, platform="")).own


def test_overestimates_and_underestimates_count_alike() -> None:
    assert factor([cell(1 / 1.25)]) == pytest.approx(1.25)


def test_calibration_cells_do_not_validate_times() -> None:
    assert factor([cell(1.1), cell(1.9, fitted=True, ppn=2)]) == pytest.approx(1.1)


def test_one_node_has_a_separate_band_if_it_has_enough_cells() -> None:
    several = [cell(1.5, n=n) for n in range(FEWEST)]
    single = [cell(1.1, nodes=1, n=n) for n in range(FEWEST)]
    on_one = replace(SUBJECT, settings={**CELL.settings, "nodes": 1})

    assert factor([*several, *single], on_one) == pytest.approx(1.1)
    assert factor([*several, *single[1:]], on_one) == pytest.approx(1.5)


def test_a_band_detects_cases_beyond_the_layouts_of_its_cells() -> None:
    fitted = [cell(1.1, fitted=True, nodes=9, ppn=1)]
    band = Bands([*(cell(1.1, nodes=3, ppn=ppn) for ppn in (2, 4)), *fitted]).time(SUBJECT)

    assert (band.spans["nodes"], band.spans["ppn"]) == ((3, 3), (2, 4))
    assert band.beyond({"nodes": 9, "ppn": 3}) == ("nodes",)
    assert band.beyond({"nodes": 3, "ppn": 1}) == ("ppn",)
    assert band.beyond({"nodes": 3, "ppn": 3}) == ()
    ratio = Bands([cell(1.1), cell(1.2, ppn=2)]).band(SUBJECT, ErrorKind.LAYOUTS)
    assert ratio.spans == {} and ratio.beyond({"nodes": 99}) == ()


def test_a_band_records_the_meshes_and_binding_of_its_cells() -> None:
    cells = [cell(1.1, n=1024 * ppn, ppn=ppn, bind="spread") for ppn in (1, 4)]
    band = Bands(cells).time(SUBJECT)

    assert band.beyond({"n": 512, "bind": "close", "ppn": 2}) == ("n", "bind")
    assert band.beyond({"n": 2048, "bind": "close", "ppn": 1}) == ()
    assert band.beyond({"n": 1024, "bind": "spread", "ppn": 2}) == ()


def test_with_few_errors_the_quantile_is_the_largest_error() -> None:
    assert quantile([0.1, 0.3, 0.2]) == 0.3
    assert quantile([one / 100 for one in range(1, 101)]) == 0.96


def test_equal_errors_of_two_layouts_leave_their_ratio_exact() -> None:
    own = [cell(1.4), cell(1.4, ppn=2)]
    other = replace(SUBJECT, settings={**CELL.settings, "ppn": 2})

    assert Bands(own).ratio(SUBJECT, other).factor == pytest.approx(1.0)
    assert factor(own) == pytest.approx(1.4)


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({}, ErrorKind.WAYS),
        ({"ppn": 2}, ErrorKind.LAYOUTS),
        ({"nodes": 4}, ErrorKind.NODES),
        ({"nodes": 4, "ppn": 2}, ErrorKind.NODES),
        ({"exchange": "blocking"}, ErrorKind.WAYS),
        ({"variant": "fused"}, ErrorKind.WAYS),
        ({"n": 2048}, None),
        ({"n": 2048, "nodes": 4}, None),
        ({"repetitions": 3}, ErrorKind.WAYS),
    ],
)
def test_the_error_kind_is_found(settings: dict[str, int | str], kind: ErrorKind | None) -> None:
    other = replace(SUBJECT, settings={**CELL.settings, **settings})

    assert pairing(SUBJECT, other) is kind
    assert pairing(SUBJECT, replace(other, platform="2b")) is None


def on_device(**settings: int | str) -> dict[str, int | str]:
    """Settings of a grid in a device's memory."""
    return {"memory": "device", "nodes": 2, "ppn": 1, **settings}


@pytest.mark.parametrize(
    ("settings", "own", "name"),
    [
        ({}, True, "sf_grid (memory=device)"),
        ({"mpi": "gpu_aware", "sync": "default_stream"}, True, "sf_grid (memory=device)"),
        ({"mpi": "staged"}, False, "sf_grid (memory=device, mpi=staged)"),
        ({"sync": "general"}, False, "sf_grid (memory=device, sync=general)"),
        ({"sync": "typed"}, True, "sf_grid (memory=device, sync=typed)"),
        ({"memory": "host", "mpi": "staged"}, False, "sf_grid"),
        ({"variant": "fused"}, False, "sf_grid (fused, memory=device)"),
        ({"variant": "fused", "memory": "host"}, False, "sf_grid (fused)"),
    ],
)
def test_published_cells_validate_only_the_device_options_they_have(
    settings: dict[str, int | str], own: bool, name: str
) -> None:
    cells = [
        replace(CELL, kernel="sf_grid", settings=on_device(**way), predicted=10.0 + off)
        for off, way in enumerate(({}, {"sync": "typed"}), start=1)
    ]
    subject = Subject("here", "1a", "sf_grid", on_device(**settings))
    usual = Subject("here", "1a", "sf_grid", on_device())

    bands = Bands(cells)

    assert subject.name == name
    assert bands.time(subject).own is own
    if subject.program == usual.program:
        assert bands.ratio(usual, subject).own is bands.ratio(subject, usual).own is own


def test_errors_on_two_clusters_combine_as_independent_errors() -> None:
    other = Subject("2b", "2b", "poisson_cg", CELL.settings)

    band = Bands([cell(1.3), cell(1.4, where="2b")]).ratio(SUBJECT, other)

    assert log(band.factor) ** 2 == pytest.approx(log(1.3) ** 2 + log(1.4) ** 2)


def test_a_published_ratio_compares_node_counts() -> None:
    own = [replace(cell(1.2), over={"nodes": 1})]

    errors = Bands(own).groups[0].errors

    assert list(errors[ErrorKind.NODES]) == pytest.approx([log(1.2)])
    assert errors[ErrorKind.SEVERAL_NODES] == ()


def test_stored_predictions_match_the_current_cluster_files() -> None:
    kept = {(group.cluster, group.platform) for group in known().groups}

    assert kept
    assert {cluster: state(find(cluster)) for cluster, _ in kept} == dict(kept)


def test_bands_contain_90_to_97_percent_of_published_times_of_other_tables() -> None:
    held = [one for one in left_out() if one.kind in TIMES]
    inside, every = (sum(getattr(one, name) for one in held) for name in ("inside", "values"))

    assert every > 700
    assert 0.90 <= inside / every <= 0.97


def test_two_calibration_cells_do_not_form_a_pair() -> None:
    def ratios(*fitted: bool) -> int:
        pair = [cell(1.1 + n, fitted=one, ppn=n + 1) for n, one in enumerate(fitted)]
        return len(Bands(pair).groups[0].errors[ErrorKind.LAYOUTS])

    assert ratios(False, False) == ratios(True, False) == 1
    assert ratios(True, True) == 0
