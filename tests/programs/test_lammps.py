# SPDX-License-Identifier: BSD-3-Clause
"""What lammps_rhodo asks of a LAMMPS, and what it does with its words: without a LAMMPS."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import FAKE

from haloscope.paths import share
from haloscope.programs import needs
from haloscope.programs.file import load
from haloscope.programs.output import Answer, Asked, answer
from haloscope.programs.trust import Trusted

PROGRAM = load(Trusted(share("programs") / "lammps_rhodo" / "program.toml"))
HELP = """
Large-scale Atomic/Molecular Massively Parallel Simulator - 1 Jan 2026
MPI v5.0: MPICH Version:      5.0.2
Installed packages:
KSPACE MOLECULE
OPENMP RIGID
"""
LOG = """\
LAMMPS (1 Jan 2026)
------------ Step              0 ----- CPU =            0 (sec) -------------
TotEng   =    -{total} KinEng   =     21444.8313 Temp     =       299.0397
PotEng   =    -46801.0370 E_bond   =      2537.9940 E_angle  =     10921.3742
Volume   =    307995.0335
------------ Step            100 ----- CPU =     3.870869 (sec) -------------
TotEng   =    -25290.7364 KinEng   =     21591.9089 Temp     =       301.0906
PotEng   =    -46882.6453 E_bond   =      2567.9807 E_angle  =     10781.9571
Volume   =    308134.2286
Loop time of 3.8709 on 4 procs for 100 steps with 32000 atoms

Performance: 4.464 ns/day, 5.376 hours/ns, 25.834 timesteps/s, 826.680 katom-step/s
99.3% CPU use with {ranks} MPI tasks x 1 OpenMP threads

Section |  min time  |  avg time  |  max time  |%varavg| %total
---------------------------------------------------------------
Pair    | 2.8153     | 2.8576     | 2.9543     |   3.4 | 73.82
Bond    | 0.092732   | 0.096503   | 0.10317    |   1.3 |  2.49
Kspace  | 0.17705    | 0.27418    | 0.31978    |  10.9 |  7.08
Neigh   | 0.50993    | 0.51001    | 0.51006    |   0.0 | 13.18
Comm    | 0.028631   | 0.028776   | 0.028899   |   0.1 |  0.74
Output  | 9.7056e-05 | 0.00010098 | 0.00011123 |   0.0 |  0.00
Modify  | 0.09746    | 0.097676   | 0.098001   |   0.1 |  2.52
Other   |            | 0.006022   |            |       |  0.16

Dangerous builds = 0
Total wall time: 0:00:04
"""
REFERENCE = LOG.format(total="25356.2057", ranks=1)


def lmp(folder: Path, says: str) -> Path:
    path = folder / "lmp"
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{says}\nEND\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """LAMMPS' folder of benchmarks, as far as it is looked at; and nothing that was added."""
    folder = tmp_path / "bench"
    folder.mkdir()
    for name in ("data.rhodo", "in.rhodo.scaled", "log.1Jan26.rhodo.fixed.g++.1"):
        (folder / name).touch()
    monkeypatch.setenv("HALOSCOPE_LAMMPS_BENCH", str(folder))
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return folder


@pytest.mark.parametrize(
    ("lacks", "why"),
    [
        ("KSPACE", "this LAMMPS was built without KSPACE"),
        ("RIGID", "this LAMMPS was built without MOLECULE or RIGID"),
        ("MPI v5.0: MPICH Version:      5.0.2", "this LAMMPS was built without MPI"),
    ],
)
def test_a_lammps_without_a_required_feature_is_named(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str, why: str
) -> None:
    instead = "MPI v1.0: LAMMPS MPI STUBS for LAMMPS" if lacks.startswith("MPI") else ""
    path = lmp(tmp_path, HELP.replace(lacks, instead))
    monkeypatch.setenv("HALOSCOPE_LAMMPS", str(path))

    found = needs.ready(PROGRAM, FAKE)

    assert str(found.lacking).startswith(f"{path}: {why}")
    assert "haloscope toolchain add lammps" in str(found.lacking)


def test_a_complete_lammps_is_accepted(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lmp(tmp_path, HELP)
    monkeypatch.setenv("HALOSCOPE_LAMMPS", str(path))

    found = needs.ready(PROGRAM, FAKE)

    assert (found.lacking, found.executable, found.version) == (None, path, "1 Jan 2026")
    assert found.needs == {"lmp": path, "bench": bench}


def test_a_missing_lammps_error_explains_the_installation(bench: Path) -> None:
    why = str(needs.ready(PROGRAM, FAKE).lacking)

    assert why.startswith("lmp ") and "haloscope toolchain add lammps" in why


def test_a_folder_without_the_benchmark_is_named(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALOSCOPE_LAMMPS", str(lmp(tmp_path, HELP)))
    (bench / "data.rhodo").unlink()

    why = str(needs.ready(PROGRAM, FAKE).lacking)

    assert why.startswith("bench ") and f"HALOSCOPE_LAMMPS_BENCH: {bench} " in why
    assert "data.rhodo" in why


def said(text: str, steps: int = 100) -> Answer:
    checks = enumerate(PROGRAM.said.verify)
    references = {index: REFERENCE for index, one in checks if one.reference}
    params = {"copies": "ranks", "steps": steps}
    return answer(PROGRAM.said, text, Asked(params, 4, 1, references))


def test_a_log_becomes_a_step_with_sections() -> None:
    found = said(LOG.format(total="25356.2057", ranks=4))

    assert (found.outcome, found.reason) == ("ok", None)
    assert found.measured is not None and PROGRAM.said.phases is not None
    assert found.measured["times_s"] == [pytest.approx(0.038709)]
    pair, *others = found.measured["phases"]
    assert pair["name"] == "Pair"
    assert pair["time_s"] == pytest.approx({"min": 0.028153, "mean": 0.028576, "max": 0.029543})
    assert [one["name"] for one in others] == [
        "Bond",
        "Kspace",
        "Neigh",
        "Comm",
        "Output",
        "Modify",
    ]
    assert found.measured["result"]["total_energy"][0] == pytest.approx(-25356.2057 / 32000)


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        (LOG.format(total="25370.2057", ranks=4), "wrong", "total_energy is -0.7928189281"),
        (LOG.format(total="25356.2057", ranks=1), "misplaced", " 1 rank, but 4 ranks"),
        (REFERENCE.partition("Bond")[0], "failed", "incomplete"),
        (REFERENCE.replace("builds = 0", "builds = 3").replace("with 1 MPI", "with 4 MPI"), "wrong",
         "dangerous_builds is 3"),
        (REFERENCE.replace("with 1 MPI", "with 4 MPI").replace("Kspace", "Space"), "failed",
         "phase Kspace"),
    ],
)  # fmt: skip
def test_a_malformed_log_is_reported(text: str, outcome: str, reason: str) -> None:
    found = said(text)

    assert found.outcome == outcome and reason in str(found.reason)
