# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS' breakdown of a step: of LAMMPS, and of the kernel whose phases add up to it."""

from __future__ import annotations

from pytest import approx
from recorded import cases, of_phases, poisson

from haloscope.analysis.context import Context
from haloscope.paths import share
from haloscope.programs.file import load
from haloscope.programs.trust import Trusted
from haloscope.topics import figures, tables
from haloscope.topics.common.figure import Bars
from haloscope.topics.phases import NAMES, PHASES, REST, in_sections, shares

OWN = {name: 0.1 for names in PHASES["md_pppm"].values() for name in names}


def test_phases_of_md_pppm_add_up_to_sections() -> None:
    (case,) = cases([of_phases("md_pppm", OWN | {"check": 0.1}, 2.0)])
    found = in_sections(case)
    assert found is not None

    sections = {one.name: one for one in shares(found)}
    assert [*sections] == [*NAMES, REST]
    for name in NAMES:
        number = len(PHASES["md_pppm"][name])
        assert sections[name].share.value == approx(0.1 * number / 2.0)
        assert sections[name].seconds == approx(0.1 * number)
    assert sections[REST].seconds == approx(2.0 - 0.1 * len(OWN))


def test_lammps_and_md_pppm_share_a_table_and_bars() -> None:
    lammps = {name: 0.25 for name in NAMES}
    raws = [of_phases("lammps_rhodo", lammps, 2.0), of_phases("md_pppm", OWN, 2.0)]
    own = cases([*raws, of_phases("stream", {"triad": 1.0}, 2.0)])

    (table,) = tables.build("sections", own, Context())
    assert [row[0].text for row in table.rows] == ["lammps_rhodo", "md_pppm"]
    assert [column.title for column in table.columns] == ["case", "step", *NAMES, REST]
    assert [row[2].value for row in table.rows] == approx([0.125, 0.05])  # Pair
    (figure,) = figures.build("sections", own, Context())
    (panel,) = figure.panels
    assert isinstance(panel, Bars)
    assert [name for name, _ in panel.parts] == [*NAMES, REST]
    assert panel.bars == ("lammps_rhodo", "md_pppm")


def test_other_kernels_have_no_sections() -> None:
    own = cases([poisson(64)])

    assert in_sections(own[0]) is None
    assert tables.build("sections", own, Context()) == []
    assert figures.build("sections", own, Context()) == []


def test_sections_match_those_of_the_program_file() -> None:
    program = load(Trusted(share("programs") / "lammps_rhodo" / "program.toml"))
    assert program.said.phases is not None
    assert tuple(program.said.phases.names) == NAMES
