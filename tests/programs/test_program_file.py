# SPDX-License-Identifier: BSD-3-Clause
"""A program.toml is read with all that is wrong in it; names in braces stand for values."""

from __future__ import annotations

from pathlib import Path

import pytest

from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.paths import share
from haloscope.programs.file import ExternalProgram, filled, load, of_a_launch, shares
from haloscope.programs.trust import Trusted
from programs import TOML, put

NEED = '[needs.it]\nkind = "executable"\nnames = ["true"]\nget = "buy it"\n'
FOLDER = '[needs.it]\nkind = "folder"\nvariable = "HOME"\nget = "buy it"\n'


def read(folder: Path, toml: str = TOML) -> ExternalProgram:
    return load(Trusted(put(folder, toml=toml) / "program.toml"))


def problems(folder: Path, toml: str) -> list[tuple[str, str, str]]:
    with pytest.raises(UserError) as caught:
        read(folder, toml)
    file = f"{folder / 'theirs' / 'program.toml'}: "
    return [(one.where.removeprefix(file), one.what, one.remedy) for one in caught.value.problems]


def test_parameters_are_completed_with_their_defaults(tmp_path: Path) -> None:
    program = read(tmp_path)

    assert program.resolved({}) == ({"n": 8, "fault": "none"}, [])
    assert program.resolved({"n": "12"}) == ({"n": 12, "fault": "none"}, [])
    assert program.resolved({"n": 0})[1] == [("n", "at least 1")]
    assert program.resolved({"n": 101})[1] == [("n", "at most 100")]
    assert program.resolved({"n": True})[1] == [("n", "an integer")]
    assert program.resolved({"n": "1.5"})[1] == [("n", "an integer")]
    assert program.resolved({"n": 10**400})[1] == [("n", "a finite number")]
    assert program.resolved({"fault": "-rf"})[1][0][0] == "fault"


def test_non_finite_parameters_are_refused(tmp_path: Path) -> None:
    real = '[parameters.x]\ntype = "real"\ndefault = 1\nminimum = 1_234_567e-6\n[output]'
    program = read(tmp_path, TOML.replace("[output]", real.replace("default = 1", "default = 2")))

    for value in (float("nan"), "nan", "inf", 10**400, "-1e999"):
        assert program.resolved({"x": value})[1] == [("x", "a finite number")]
    assert program.resolved({"x": 1})[1] == [("x", "at least 1.234567")]


@pytest.mark.parametrize(
    ("before", "after", "where", "what"),
    [
        ("summary", "sumary", "sumary", "unknown key 'sumary'"),
        ('command = ["{folder}/prints"', 'command = ["{nn}"', "command.#1", "{nn}"),
        ("default = 8", "default = 0", "parameters.n", "at least 1"),
        ("[parameters.n]", "[parameters.ranks]", "parameters.ranks", "'ranks'"),
        ("[parameters.n]", '[parameters."n m"]', "parameters.n m", "name"),
        ('per = "n"', 'per = "m"', "time.per", "'m'"),
        ("(\\S+) ms", "\\S+ ms", "time.pattern", "got 0"),
        ("(\\S+) ms", "(\\S+) (ms)", "time.pattern", "got 2"),
        ("^end$", "(", "output.complete", "missing )"),
        ("(?P<mean>", "(?P<time>", "phases", "'name' and 'mean'"),
        ('result = "error"', 'result = "eror"', "verify#1.result", "'eror'"),
        ("most = 0.1", "mist = 0.1", "verify#1.mist", "unknown key 'mist'"),
        ("most = 0.1", 'says = "ok"\nmost = 1', "verify#1", "'says', 'least' or 'most'"),
        ("most = 0.1", "expected = 0.1", "verify#1", "relative"),
        ('names = ["one", "two"]', 'names = ["one", "one"]', "phases", " 'one' "),
        (
            "[parameters.n]",
            'environment = {"" = "1"}\n[parameters.n]',
            "environment",
            '""',
        ),
        ("most = 0.1", 'reference = ""\nrelative = 1', "verify#1.reference", '""'),
        ('unit = "ms"\nper', 'unit = "days"\nper', "time.unit", '"days"'),
        ('type = "integer"', 'type = "text"', "parameters.n", "matches"),
        ("default = 8", "default = nan", "parameters.n", "default nan"),
        ("most = 0.1", 'most = "error"', "verify#1.most", "'error'"),
        (
            "most = 0.1",
            'reference = "log"\nrelative = 1\nby = "error"',
            "verify#1.by",
            "'error'",
        ),
        ("[output]", NEED + 'ask = ["{it}", "{n}"]\n[output]', "needs.it.ask", "{n}"),
        (
            "[output]",
            FOLDER + 'holds = ["/etc"]\n[output]',
            "needs.it",
            "'below' and 'holds'",
        ),
        ("[output]", FOLDER + 'holds = [""]\n[output]', "needs.it", "'below' and 'holds'"),
        (
            "[output]",
            NEED + 'added = "lammps"\nbelow = "/usr/bin/lmp"\n[output]',
            "needs.it",
            "'below' and 'holds'",
        ),
        (
            "[output]",
            '[[inputs]]\nfile = "a"\nname = ".."\n[output]',
            "inputs#1",
            "name ",
        ),
    ],
)
def test_invalid_keys_are_named(
    tmp_path: Path, before: str, after: str, where: str, what: str
) -> None:
    assert before in TOML
    found = problems(tmp_path, TOML.replace(before, after, 1))

    place = where.replace(".#", "#")
    assert any(one.replace(".#", "#") == place and what in words for one, words, _ in found)


def test_the_hash_covers_the_file_and_its_inputs(tmp_path: Path) -> None:
    inputs = '[[inputs]]\nfile = "{folder}/deck"\n[[inputs]]\nfile = "data"\n'
    mine = put(tmp_path, toml=TOML + inputs)
    hashes: set[str] = set()
    for name in ("deck", "data", "deck"):
        (mine / name).write_text(f"{len(hashes)}")
        hashes.add(load(Trusted(mine / "program.toml")).hash)
    (mine / "program.toml").write_text(TOML + inputs + "# more\n")
    hashes.add(load(Trusted(mine / "program.toml")).hash)

    assert len(hashes) == 4


def test_placeholders_are_substituted() -> None:
    values = {"n": 8, "x": 0.5, "name": "a b"}

    assert filled("-n={n} {{n}} {x} {name}", values) == "-n=8 {n} 0.5 a b"
    assert filled("{ {n} {other} {{n}}", values, known_alone=True) == "{ 8 {other} {{n}}"


def test_ranks_are_distributed_over_boxes_as_cubic_as_possible() -> None:
    assert [shares(ranks, 3) for ranks in (1, 2, 8, 12, 2197)] == [
        [1, 1, 1],
        [2, 1, 1],
        [2, 2, 2],
        [3, 2, 2],
        [13, 13, 13],
    ]
    assert shares(24, 2) == [6, 4]
    values = of_a_launch(Layout(3, 4, 2))
    assert [values[key] for key in ("ppn", "box_x", "rectangle_y")] == [4, 3, 3]


@pytest.mark.parametrize("folder", sorted(share("programs").iterdir()), ids=lambda path: path.name)
def test_shipped_programs_are_valid(folder: Path) -> None:
    assert load(Trusted(folder / "program.toml")).said.verify
