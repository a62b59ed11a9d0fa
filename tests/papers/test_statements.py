# SPDX-License-Identifier: BSD-3-Clause
"""Statements of papers: their expectations, and how the papers' own cells bear them out."""

from __future__ import annotations

from math import inf

import pytest
from noted import shows
from pydantic import ValidationError

from haloscope.errors import UserError
from haloscope.papers import statements as module
from haloscope.papers import tables as papers
from haloscope.papers.assessment import Assessment, assessed
from haloscope.papers.known_cells import KnownCell, published_cells
from haloscope.papers.statements import Statement, statements

ALL = [paper.id for paper in papers.list_papers()]


def statement(shape: str, **more: object) -> Statement:
    said = {"id": "a", "place": "1", "says": "so", "tables": "t", "shape": shape}
    return Statement.model_validate(said | more)


def cells(times: dict[tuple[int, int], float], spread: float = 0.0) -> list[KnownCell]:
    """Times by nodes and processes per node."""
    return [
        KnownCell(
            {"table": "t", "nodes": nodes, "ppn": ppn, "kernel": "solve"},
            ("nodes", "ppn"),
            time - spread,
            time + spread,
        )
        for (nodes, ppn), time in times.items()
    ]


TIMES = {(1, 1): 8.0, (2, 1): 4.0, (4, 1): 3.0, (1, 2): 5.0, (2, 2): 2.5, (4, 2): 3.5}


@pytest.mark.parametrize(
    ("one", "verdict", "holds", "fails"),
    [
        (statement("faster", one="ppn=2", other="ppn=1"), "mixed", 2, 1),
        (statement("faster", one="ppn=2", other="ppn=1", needs=0.6), "yes", 2, 1),
        (statement("faster", one="ppn=1", other="ppn=2"), "no", 1, 2),
        (statement("ratio", one="ppn=2", other="ppn=1", range="1.5..1.7"), "mixed", 2, 1),
        (statement("alike", one="nodes=2; ppn=1", other="nodes=1; ppn=2"), "no", 0, 1),
        (statement("difference", one="ppn=2", other="ppn=1", range="1..4"), "mixed", 2, 1),
        (statement("value", one="nodes=4", range="..3.2"), "mixed", 1, 1),
        (statement("steps", along="nodes", range="1.9..2.1"), "mixed", 2, 2),
        (statement("steps", along="nodes", range="1.9..2.1", where="nodes<=2"), "yes", 2, 0),
        (statement("best", along="ppn", one="ppn=2"), "mixed", 2, 1),
        (statement("turns", along="nodes", at=2, one="ppn=2", other="ppn=1"), "yes", 3, 0),
        (statement("turns", along="nodes", at=1, one="ppn=2", other="ppn=1"), "mixed", 2, 1),
        (statement("scattered", where="nodes=4", range="1..1.2"), "yes", 1, 0),
        (statement("scattered", where="nodes=1", range="1..1.2"), "no", 0, 1),
        (statement("bound", one="phase=wait"), "no cells", 0, 0),
        (statement("efficiency", one="nodes=4", other="nodes=1", range="0.6.."), "mixed", 1, 1),
    ],
)  # fmt: skip
def test_shapes(one: Statement, verdict: str, holds: int, fails: int) -> None:
    found = assessed(one, cells(TIMES))
    assert (found.verdict, found.holds, found.fails) == (verdict, holds, fails)


def test_a_cell_that_counts_once_fails_if_one_of_its_pairs_fails() -> None:
    each = statement("faster", one="nodes=4", other="nodes=2", free="ppn", each="one")
    assert (assessed(each, cells(TIMES)).holds, assessed(each, cells(TIMES)).fails) == (0, 2)
    pairs = each.model_copy(update={"each": ""})
    assert (assessed(pairs, cells(TIMES)).holds, assessed(pairs, cells(TIMES)).fails) == (2, 2)


def test_comparisons_within_printed_rounding_do_not_count() -> None:
    one = statement("faster", one="ppn=2", other="ppn=1")
    found = assessed(one, cells(TIMES, spread=0.5))
    assert (found.holds, found.fails, found.open) == (2, 0, 1)
    assert found.verdict == "yes"
    assert assessed(one, cells(TIMES, spread=9.0)).verdict == "no cells"


def test_a_higher_rate_counts_as_faster() -> None:
    rates = [
        KnownCell({"table": "t", "ppn": ppn, "kernel": "jacobi"}, ("ppn",), rate, rate)
        for ppn, rate in ((1, 10.0), (2, 19.0))
    ]
    assert assessed(statement("faster", one="ppn=2", other="ppn=1"), rates).verdict == "yes"


def test_bandwidth_is_computed_between_two_sizes() -> None:
    sizes = [
        KnownCell({"table": "t", "size_bytes": size}, ("size_bytes",), time, time)
        for size, time in ((8, 1e-6), (1008, 2e-6))
    ]
    one = statement("bandwidth", one="size_bytes=8", other="size_bytes=1008", range="0.9e9..1.1e9")
    assert assessed(one, sizes).verdict == "yes"


def test_calibration_cells_count_only_if_there_are_no_others() -> None:
    own = cells(TIMES)
    set_ = [
        KnownCell(one.keys, one.telling, one.low, one.high, fitted=one.keys["nodes"] == 4)
        for one in own
    ]
    one = statement("faster", one="ppn=2", other="ppn=1")
    assert (assessed(one, set_).holds, assessed(one, set_).fails) == (2, 0)
    assert not assessed(one, set_).fitted
    alone = [cell for cell in set_ if cell.fitted]
    assert (assessed(one, alone).fails, assessed(one, alone).fitted) == (1, True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"shape": "faster", "one": "ppn=2"},
        {"shape": "ratio", "one": "ppn=2", "other": "ppn=1"},
        {"shape": "steps", "range": "1.."},
        {"shape": "turns", "one": "ppn=2", "other": "ppn=1", "along": "nodes"},
        {"shape": "faster", "one": "ppn", "other": "ppn=1"},
        {"shape": "faster", "one": "ppn>two", "other": "ppn=1"},
        {"shape": "value", "one": "ppn=1", "range": "2"},
        {"shape": "slower", "one": "ppn=1", "other": "ppn=2"},
    ],
)
def test_an_untestable_expectation_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Statement.model_validate({"id": "a", "place": "1", "says": "so"} | wrong)


def test_a_range_may_be_open_ended() -> None:
    assert statement("value", one="ppn=1", range="1.5..").range == (1.5, inf)
    assert statement("value", one="ppn=1", range="..2").range == (-inf, 2.0)


def test_unknown_tables_and_columns_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("share")
    (root / "hpcf-2010-6").mkdir()
    head = "id,place,says,shape,tables,one,other\n"
    rows = "".join(
        f"a,1,so,faster,{table},{one},ppn=2\n"
        for table, one in (("9.9", "ppn=1"), ("4.1", "pn=1"), ("4.1", "ppn=1"))
    )
    (root / "hpcf-2010-6" / "statements.csv").write_text(head + rows)
    monkeypatch.setattr(module, "share", lambda _: root)
    module.statements.cache_clear()
    try:
        with pytest.raises(UserError) as raised:
            module.statements("hpcf-2010-6")
    finally:
        module.statements.cache_clear()
    unknown, column, *twice = (problem.what for problem in raised.value.problems)
    assert unknown == "unknown table '9.9'"
    assert shows(column, "no table ", " column 'pn'")
    assert [shows(one, " id 'a'") for one in twice] == [True, True]


def test_every_paper_has_statements() -> None:
    numbers = {paper: len(statements(paper)) for paper in ALL}
    assert min(numbers.values()) >= 30
    assert sum(numbers.values()) >= 240


def verdict(paper: str, name: str) -> tuple[str, int, int]:
    (one,) = (one for one in statements(paper) if one.id == name)
    found: Assessment = assessed(one, published_cells(paper, one))
    return found.verdict, found.holds, found.fails


@pytest.mark.parametrize(
    ("paper", "name", "expected"),
    [
        ("hpcf-2010-6", "nonblocking-any", ("mixed", 113, 22)),
        ("hpcf-2010-6", "no-memory-bottleneck", ("no", 0, 4)),
        ("hpcf-2010-6", "factor-five-512", ("yes", 3, 0)),
        ("hpcf-2018-10", "smt-others-slower", ("no", 15, 31)),
        ("hpcf-2018-10", "hpc-node", ("no", 0, 1)),
        ("hpcf-2018-10", "all-cores", ("yes", 19, 0)),
        ("orfeo-mpi-report", "fit-agrees-nodes", ("no", 0, 1)),
        ("anl-petsc-summit-part2", "launch-12", ("mixed", 2, 1)),
        ("anl-petsc-summit-part2", "bandwidth-sockets", ("yes", 1, 0)),
        ("task-mapping-drop", "bigfft-eagle-140", ("no", 0, 1)),
        ("task-mapping-drop", "most-half", ("yes", 1, 0)),
        ("task-mapping-drop", "lammps-eagle-turn", ("no cells", 0, 0)),
    ],
)
def test_statements_that_contradict_the_tables_of_their_paper(
    paper: str, name: str, expected: tuple[str, int, int]
) -> None:
    assert verdict(paper, name) == expected
