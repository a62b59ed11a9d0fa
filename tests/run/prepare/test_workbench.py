# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_halobench
import pytest
from fakes import FAKE, FAKE_PROGRAMS, Laboratory, describe
from noted import shows
from rich.console import Console

from haloscope.errors import Problem, UserError
from haloscope.layout import Layout
from haloscope.run.places.here import Here
from haloscope.run.prepare import halobench, workbench
from haloscope.run.prepare.workbench import Kernels, Workbench
from haloscope.run.progress import Teller
from haloscope.study.case import Case
from haloscope.study.program import Forecast
from haloscope.toolchains import build, library, simgrid
from haloscope.toolchains.build import Build, KernelProgram
from haloscope.toolchains.launching import launch

QUIET = Teller(Console(quiet=True))


def test_halobench_is_queried_without_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halobench, "describe", describe)
    program = Kernels(lambda: iter([Build(FAKE, FAKE_PROGRAMS, "5eed")]))
    assert next(iter(program.parameters("fake"))) == "n"
    forecast = program.forecast("fake", {"n": 16, "flag": True}, ranks=2, threads=1)
    assert (forecast.params["n"], forecast.params["flag"]) == (16, "true")
    assert (forecast.memory_bytes, list(forecast.problems)) == (2048, [])
    (problem,) = program.forecast("fake", {"n": 1}, ranks=2, threads=1).problems
    assert problem.where == "fake ranks=2"
    assert shows(problem.remedy, "n is 1: give ")


def test_too_few_ranks_are_refused_before_a_program_is_built(tmp_path: Path) -> None:
    program = Kernels(lambda: iter([Build(FAKE, tmp_path, "5eed")]))
    (problem,) = program.forecast("loggp", {}, ranks=1, threads=1).problems
    assert problem.where == "loggp ranks=1" and "2 ranks" in problem.remedy
    assert list(program.forecast("loggp", {}, ranks=2, threads=1).problems) == []


def test_a_missing_toolchain_is_reported_with_other_problems(laboratory: Laboratory) -> None:
    bench = workbench.workbench({"one": None, "other": ["fake", "gone", "fak"]}, QUIET)
    assert (list(bench.built), bench.names) == (["fake"], ("fake",))
    (problem,) = bench.problems
    assert problem.where == "other" and "'fak'" in problem.what
    assert bench.missing == {"gone": "'gone' cannot be downloaded"}


def test_without_any_toolchain_nothing_can_be_planned(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "available", list)
    with pytest.raises(UserError, match="'gone' cannot be downloaded"):
        workbench.workbench({"one": ["gone"]}, QUIET)


def test_the_same_query_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def forecast(*_: object, ranks: int, threads: int, **__: object) -> Forecast:
        asked.append((ranks, threads))
        return Forecast(fake_halobench.DEFAULTS, ranks, ())

    monkeypatch.setattr(halobench.Planner, "forecast", forecast)
    monkeypatch.setattr(halobench, "describe", describe)
    program = Kernels(lambda: iter([Build(FAKE, FAKE_PROGRAMS, "5eed")]))
    for n, ranks, threads in ((8, 1, 1), (8, 2, 1), (8, 1, 1), (8, 1, 2), (9, 1, 1), (9, 1, 1)):
        assert program.forecast("fake", {"n": n}, ranks, threads).memory_bytes == ranks
    assert asked == [(1, 1), (2, 1), (1, 2), (1, 1)]


def test_transports_are_detected_only_if_needed(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def transports(toolchain: library.Toolchain) -> list[str]:
        asked.append(toolchain.name)
        return ["shm"]

    monkeypatch.setattr(launch, "transports", transports)
    bench = workbench.workbench({"": None}, QUIET)
    there = Here().site(bench, oversubscribe=False).transports

    assert "fake" in there
    assert "gone" not in there
    assert (list(there), len(there), asked) == (["fake"], 1, [])
    assert there.get("fake") == ["shm"]
    assert (there.get("gone", ()), asked) == ((), ["fake"])


POISSON, DEVICE = KernelProgram("poisson_cg"), KernelProgram("poisson_cg", device=True)


def test_settings_unknown_to_any_program_are_marked_unchecked() -> None:
    program = Kernels(lambda: iter([]))

    unknown = program.forecast("poisson_cg", {"n": 64, "memory": "device"}, 4, 1)
    refused = program.forecast("poisson_cg", {"n": 0, "variant": "texbook"}, 4, 1)

    assert (unknown.unchecked, unknown.problems, unknown.params["n"]) == (DEVICE, (), 64)
    assert [one.where for one in refused.problems] == [
        "poisson_cg n=0",
        "poisson_cg variant=texbook",
    ]
    assert program.forecast("launches", {}, 1, 1).unchecked == KernelProgram("launches", True)


def test_incompatible_settings_are_reported_before_a_device_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the program without devices, although it has none itself."""

    class Planner:
        def __init__(self, path: Path) -> None:
            assert path.name == "halobench_poisson_cg"

        def forecast(self, kernel: str, given: dict[str, str], **_: object) -> Forecast:
            found = [Problem("poisson_cg memory=device", "refused", "take the other program")]
            if given.get("variant") != "textbook":
                found.append(Problem("poisson_cg variant=fused", "refused", "give textbook"))
            return Forecast({}, 0, found)

    monkeypatch.setattr(halobench, "Planner", Planner)
    (tmp_path / "halobench_poisson_cg").touch()
    program = Kernels(lambda: iter([Build(FAKE, tmp_path, "5eed")]))

    refused = program.forecast("poisson_cg", {"memory": "device"}, 1, 1)
    good = program.forecast("poisson_cg", {"memory": "device", "variant": "textbook"}, 1, 1)

    assert [one.where for one in refused.problems] == ["poisson_cg variant=fused"]
    assert (good.problems, good.unchecked) == ((), DEVICE)


def test_a_program_is_queried_in_the_first_build_that_has_it(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    class Planner:
        def __init__(self, path: Path) -> None:
            asked.append(path)

        def forecast(self, *_: object, **__: object) -> Forecast:
            return Forecast(fake_halobench.DEFAULTS, 0, ())

    monkeypatch.setattr(halobench, "Planner", Planner)
    empty = Build(FAKE, laboratory.programs.with_name("empty"), "5eed")
    there = Build(FAKE, laboratory.programs, "5eed")

    program = Kernels(lambda: iter([empty, there, there]))
    program.forecast("fake", {"n": 8}, 1, 1)
    program.forecast("fake", {"n": 9}, 1, 1)

    assert asked == [laboratory.programs / "halobench_fake"]


def test_outdated_declarations_are_named(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Planner:
        def __init__(self, path: Path) -> None:
            pass

        def forecast(self, *_: object, **__: object) -> Forecast:
            return Forecast({**fake_halobench.DEFAULTS, "depth": 1}, 0, ())

    monkeypatch.setattr(halobench, "Planner", Planner)
    program = Kernels(lambda: iter([Build(FAKE, laboratory.programs, "5eed")]))
    with pytest.raises(UserError) as refused:
        program.forecast("fake", {"n": 8}, 1, 1)
    (problem,) = refused.value.problems
    assert problem.what.endswith(": depth")
    assert problem.remedy.endswith("kernels_file.py fake")


@pytest.mark.parametrize(
    ("changes", "others"),
    [
        ({"name": "one"}, 1),
        ({"name": "one+cuda", "device": "cuda"}, 0),
        ({"name": "simgrid", "family": "simgrid"}, 0),
    ],
)
def test_gpu_and_simulation_programs_answer_only_for_themselves(
    laboratory: Laboratory, changes: dict[str, Any], others: int
) -> None:
    own = Build(replace(FAKE, **changes), laboratory.programs.with_name("empty"), "5eed")
    bench = Workbench({own.toolchain.name: own}, (), ())

    found = [*bench._to_ask()]

    assert found[0] is own
    assert len(found) == 1 + others


def case(kernel: str, **changes: Any) -> Case:
    return Case(kernel, {}, {}, Layout(), "fake", 0, 1, 60.0, 0, **changes)


def test_programs_are_needed_only_for_cases_that_can_run(laboratory: Laboratory) -> None:
    bench = Workbench(laboratory.built, ("fake",), (), programs={"own": object()})  # type: ignore[dict-item]
    on_device = replace(case("poisson_cg"), params={"memory": "device"})
    cases = [case("poisson_cg"), on_device, case("poisson_cg"), case("own")]

    assert bench.needed([*cases, case("ring", absent="no ranks")]) == {"fake": [POISSON, DEVICE]}


def test_only_missing_programs_are_built_and_simgrid_has_its_own_remedy(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, str, list[KernelProgram]]] = []

    def maker(by: str) -> Callable[..., None]:
        def make(found: Build, programs: list[KernelProgram], **_: object) -> None:
            made.append((by, found.toolchain.name, programs))

        return make

    monkeypatch.setattr(build, "build", maker("build"))
    monkeypatch.setattr(simgrid, "make", maker("simgrid"))
    simulated = replace(FAKE, name="simgrid", family="simgrid")
    builds = {**laboratory.built, "simgrid": Build(simulated, laboratory.programs, "5eed")}
    bench = Workbench(builds, ("fake",), ())
    fake = KernelProgram("fake")
    requested = {"fake": [fake, POISSON], "simgrid": [DEVICE], "pending": [POISSON]}

    bench.build(requested, QUIET)

    assert made == [("build", "fake", [POISSON]), ("simgrid", "simgrid", [DEVICE])]
    ours, simulators = bench.to_build(requested)
    assert "poisson_cg for fake" in ours
    assert "poisson_cg (device) for simgrid" in simulators


def test_a_preview_uses_what_exists_and_names_downloads(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "names", lambda: ["fake", "mpich", "system"])
    monkeypatch.setattr(library, "_look", lambda _: None)

    bench, first = workbench.preview({"one": None, "other": ["fake+cuda", "mpich", "system", "x"]})

    assert [*bench.built] == ["fake", "fake+cuda"]
    assert bench.built["fake+cuda"].toolchain.device == "cuda"
    assert (bench.names, bench.pending, [*bench.missing]) == (("fake",), ("mpich",), ["system"])
    assert [one.where for one in bench.problems] == ["other"]
    assert len(first) == 1 and " mpich " in first[0]


def test_a_folder_given_as_a_matrix_is_refused_before_a_query(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        Kernels(lambda: iter([])).prepared("spmv", {"matrix": str(tmp_path)}, 1)

    (problem,) = caught.value.problems
    assert problem.where == str(tmp_path) and problem.what.startswith("is a folder")
