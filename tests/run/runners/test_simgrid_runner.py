# SPDX-License-Identifier: BSD-3-Clause
"""The simulating runner, with SimGrid itself."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cluster_files import described
from fakes import FAKE
from kernel_programs import SMPI
from noted import shows
from record_page import unknown

from haloscope.clusters.file import find
from haloscope.clusters.network import Algorithm
from haloscope.clusters.simgrid.defaults import ALGORITHMS, SELECTOR
from haloscope.errors import UserError
from haloscope.host import process
from haloscope.layout import Layout
from haloscope.paths import share
from haloscope.records.kernels import defaults
from haloscope.records.maker import CampaignFacts
from haloscope.run.runners import simulation
from haloscope.run.runners.simgrid import SimgridRunner
from haloscope.run.runners.simulation import Steps
from haloscope.study.case import Case, Launch
from haloscope.toolchains import build, fftw
from haloscope.toolchains.build import Build, KernelProgram
from haloscope.toolchains.simgrid import smpi as found_smpi

SESSION = CampaignFacts("a study", 1, {"host": "tiny", "cores": 4}, "0", None)
PARAMS = defaults("poisson_cg")


def runner(cache: Path, **changes: Any) -> SimgridRunner:
    built = Build(found_smpi(), SMPI, "hash")
    options = {"at_once": 2, "memory_bytes": 2**30, **changes}
    return SimgridRunner(SESSION, built, described(), cache, **options)


def launch(nodes: int = 2, ppn: int = 2, **given: Any) -> Launch:
    return Launch(
        Case(
            kernel="poisson_cg",
            given=given,
            params={**PARAMS, **given},
            layout=Layout(nodes, ppn),
            toolchain="simgrid",
            run=0,
            launches=1,
            timeout_s=600,
            memory_bytes=0,
        ),
        0,
    )


@pytest.mark.usefixtures("smpi")
@pytest.mark.parametrize(
    ("given", "simulated", "error"),
    [
        ({"variant": "textbook"}, 8, 2e-6),
        ({"variant": "fused"}, 8, 1e-3),
        ({"variant": "pipelined"}, 4 + 64, 0.01),
        ({"variant": "sstep"}, 4 + 32, 0.01),
        ({"variant": "sstep", "s": 6}, 4 + 6, 0.01),
    ],
)
def test_skipped_arithmetic_is_simulated_with_its_time(
    tmp_path: Path, given: dict[str, Any], simulated: int, error: float
) -> None:
    """What a solve does once is not multiplied; what it does once in a while is among the rest."""
    one = launch(n=256, **given).case
    (short,) = runner(tmp_path).run([Launch(one, 0)])
    (whole,) = runner(tmp_path).run([Launch(replace(one, execute=True), 0)])
    assert (short["outcome"], short["clock"]) == ("ok", "simulated"), short
    assert unknown(short) == []
    assert short["params"]["iterations"] == 0
    simulation, of_whole = short["simulation"], whole["simulation"]
    assert (simulation["iterations"], simulation["of_iterations"], simulation["verified"]) == (
        simulated,
        387,
        False,
    )
    assert of_whole["of_iterations"] is None
    assert short["result"]["iterations"] == whole["result"]["iterations"] == 387
    assert short["times_s"] == pytest.approx(whole["times_s"], rel=error)
    assert short["work"] == pytest.approx(whole["work"], rel=error)
    for one_phase, other in zip(short["phases"], whole["phases"], strict=True):
        assert one_phase["calls"] == pytest.approx(other["calls"], abs=2)
        assert one_phase["bytes"] == pytest.approx(other["bytes"], rel=2 / 13)
    named = sum(phase["time_s"]["mean"] for phase in short["phases"])
    assert named == pytest.approx(short["times_s"][0], rel=0.01)


@pytest.mark.usefixtures("smpi")
def test_requested_iterations_are_shortened_too(tmp_path: Path) -> None:
    launches = [launch(n=256, iterations=count) for count in (20, 40, 60, 80)]
    found = {r["params"]["iterations"]: r for r in runner(tmp_path).run(launches)}
    times = {count: record["times_s"][0] for count, record in found.items()}
    assert times[80] - times[60] == pytest.approx(times[60] - times[40], rel=1e-5)
    assert times[40] == pytest.approx(2 * times[20], rel=0.05)
    simulations = {count: record["simulation"] for count, record in found.items()}
    assert simulations[20]["of_iterations"] is None
    assert (simulations[80]["iterations"], simulations[80]["of_iterations"]) == (8, 80)
    assert simulations[80]["iterations_from"] == "given"


@pytest.mark.usefixtures("smpi")
def test_unknown_iteration_counts_are_solved_and_verified(tmp_path: Path) -> None:
    (record,) = runner(tmp_path).run([launch(n=20)])
    assert record["outcome"] == "ok", record
    assert record["simulation"]["verified"] is True
    assert record["result"]["error_max"] < 0.01


@pytest.mark.usefixtures("smpi")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_requested_complete_solve_is_verified(tmp_path: Path, threads: int) -> None:
    """Threads are in the node model alone: one does their arithmetic."""
    one = replace(launch(n=256).case, layout=Layout(2, 2, threads))
    (short,) = runner(tmp_path).run([Launch(one, 0)])
    (whole,) = runner(tmp_path).run([Launch(replace(one, execute=True), 0)])
    assert (short["simulation"]["verified"], whole["simulation"]["verified"]) == (False, True)
    assert short["result"]["error_max"] is None
    assert whole["result"]["error_max"] < 1e-4
    assert whole["simulation"]["of_iterations"] is None
    assert whole["result"]["iterations"] == short["result"]["iterations"] == 387
    assert whole["times_s"] == pytest.approx(short["times_s"], rel=1e-3)
    assert whole["case"] == short["case"]


@pytest.mark.usefixtures("smpi")
@pytest.mark.parametrize("asked", [True, False])
def test_too_few_iterations_are_a_wrong_answer(tmp_path: Path, asked: bool) -> None:
    """Whether the arithmetic was requested or not."""
    one = launch(n=64, max_iterations=5).case
    (record,) = runner(tmp_path).run([Launch(replace(one, execute=asked), 0)])
    assert (record["outcome"], record["simulation"]["verified"]) == ("wrong", True)
    assert "5 iterations" in record["reason"]


@pytest.mark.usefixtures("smpi")
def test_results_with_and_without_arithmetic_are_cached_separately(tmp_path: Path) -> None:
    params = {**defaults("jacobi3d"), "repetitions": 1, "size": "8x8x8"}
    one = replace(launch().case, kernel="jacobi3d", params=params)
    for execute in (False, True):
        for cached in (False, True):
            (record,) = runner(tmp_path).run([Launch(replace(one, execute=execute), 0)])
            simulation = record["simulation"]
            assert (simulation["verified"], simulation["cached"]) == (execute, cached)
            assert record["outcome"] == "ok", record


@pytest.mark.usefixtures("smpi")
def test_a_warmup_is_simulated_only_on_request_and_changes_no_time(tmp_path: Path) -> None:
    params = {**defaults("ring"), "repetitions": 1}
    one = replace(launch().case, kernel="ring", given={}, params=params)
    asked = replace(one, given={"warmup": 1}, params={**params, "warmup": 1})

    (without,) = runner(tmp_path / "without").run([Launch(one, 0)])
    (with_one,) = runner(tmp_path / "with").run([Launch(asked, 0)])

    assert (without["warmup"], with_one["warmup"]) == (0, 1)
    assert without["times_s"] == pytest.approx(with_one["times_s"], rel=1e-12)


@pytest.mark.parametrize(("memory", "asked"), [("host", ["warmup=0"]), ("device", [])])
def test_a_device_is_warmed_up(memory: str, asked: list[str]) -> None:
    """Its first operations find empty streams, and take another time."""
    params = {**defaults("sf_grid"), "memory": memory}
    one = replace(launch().case, kernel="sf_grid", given={}, params=params)

    words = simulation._asked(one, None, alike=True)

    assert [word for word in words if word.startswith("warmup=")] == asked


@pytest.mark.usefixtures("smpi")
def test_a_cached_result_belongs_to_one_platform_and_simgrid_version(tmp_path: Path) -> None:
    """The platform's sources are among halobench's, whose hash is part of the key."""
    copy = tmp_path / "halobench"
    shutil.copytree(share("halobench"), copy, ignore=shutil.ignore_patterns("tests"))
    before = build.source_hash(copy)
    text = (copy / "platform" / "nodes.cpp").read_text()
    (copy / "platform" / "nodes.cpp").write_text(text.replace("speed_flops = 1e9", "speed = 2"))
    after = build.source_hash(copy)
    assert before == build.source_hash() != after

    params = {**defaults("ring"), "repetitions": 1}
    one, smpi = replace(launch().case, kernel="ring", params=params), found_smpi()
    newer = replace(smpi, version="SimGrid 9.9")
    cached = []
    for toolchain, source in ((smpi, before), (smpi, before), (smpi, after), (newer, before)):
        built = Build(toolchain, SMPI, source)
        (record,) = replace(runner(tmp_path / "kept"), built=built).run([Launch(one, 0)])
        cached.append(record["simulation"]["cached"])
    assert cached == [False, True, False, False]


@pytest.mark.usefixtures("smpi")
@pytest.mark.parametrize(
    ("memory_bytes", "execute", "alone"),
    [
        (2000, True, False),
        (1999, True, True),
        (1999, False, False),
        (1, True, True),
    ],
)
def test_concurrent_simulations_fit_in_memory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    memory_bytes: int,
    execute: bool,
    alone: bool,
) -> None:
    """Folded ones take none. What takes all of it by itself is simulated by itself."""
    order: list[str] = []

    class Noted(process.Running):
        def __init__(self, *words: Any) -> None:
            order.append("begins")
            super().__init__(*words)

        def end(self, *words: Any) -> process.Ended:
            order.append("ends")
            return super().end(*words)

    own = runner(tmp_path, memory_bytes=memory_bytes)
    monkeypatch.setattr(process, "Running", Noted)
    cases = [replace(launch(n=n).case, memory_bytes=1000, execute=execute) for n in (64, 65)]
    found = list(own.run([Launch(one, 0) for one in cases]))
    assert [one["outcome"] for one in found] == ["ok", "ok"]
    assert order == (["begins", "ends"] * 2 if alone else ["begins", "begins", "ends", "ends"])


@pytest.mark.usefixtures("smpi")
def test_a_second_run_uses_the_cache_and_is_identical(tmp_path: Path) -> None:
    (first,) = runner(tmp_path).run([launch(n=64)])
    (second,) = runner(tmp_path).run([launch(n=64)])
    assert (first["simulation"]["cached"], second["simulation"]["cached"]) == (False, True)
    assert second["times_s"] == first["times_s"]
    assert second["phases"] == first["phases"]
    assert second["command"] == first["command"]
    assert "HALOBENCH_PLATFORM=platform" in first["command"], "as in the folder that --keep gives"
    (other,) = runner(tmp_path).run([launch(n=64, exchange="blocking")])
    assert other["simulation"]["cached"] is False


@pytest.mark.usefixtures("smpi")
def test_a_simulation_that_times_out_does_not_stop_the_others(tmp_path: Path) -> None:
    slow = launch(n=2048, rhs="random")  # its count is not known: all of it is computed
    slow = Launch(Case(**{**vars(slow.case), "timeout_s": 1.0}), 0)
    found = {record["outcome"]: record for record in runner(tmp_path).run([slow, launch(n=64)])}
    assert set(found) == {"ok", "timeout"}
    assert " 1 s " in found["timeout"]["reason"]


@pytest.mark.usefixtures("smpi")
def test_iterations_and_repetitions_of_a_study_are_shortened_too(tmp_path: Path) -> None:
    plain, given = launch(n=256), launch(n=256, iterations=0, repetitions=3)
    first, second = sorted(runner(tmp_path).run([plain, given]), key=lambda r: r["case"])
    assert first["outcome"] == second["outcome"] == "ok", (first, second)
    assert len(first["times_s"]) == len(second["times_s"]) == 1
    assert first["times_s"] == pytest.approx(second["times_s"])


@pytest.mark.usefixtures("smpi")
def test_simulation_files_can_be_kept(tmp_path: Path) -> None:
    """Whether the case was simulated before or not; run.sh simulates it again."""
    one = launch(n=64)
    (first,) = runner(tmp_path / "cache").run([one])
    (again,) = runner(tmp_path / "cache", keep=tmp_path / "kept").run([one])
    assert again["simulation"]["cached"] is True
    folder = tmp_path / "kept" / f"poisson_cg-4-ranks-2-nodes-{one.case.id}"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("hosts", "machine", "platform", "run.sh")
    ]
    written = (folder / "run.sh").read_text(encoding="utf-8")
    assert shows(written, "# poisson_cg n=64, 4 ranks ", " 2 nodes, ")
    folder = folder.rename(tmp_path / "moved")
    subprocess.run([folder / "run.sh"], check=True, capture_output=True)
    assert json.loads((folder / "record.json").read_text())["times_s"] == first["times_s"]
    assert (folder / "hosts").read_text().split() == [*("node-0", "node-0", "node-1", "node-1")]


@pytest.mark.usefixtures("smpi")
def test_case_text_is_never_executed_by_the_kept_script(tmp_path: Path) -> None:
    """A line that ended its comment was a command of the script."""
    evil = "blocking\ntouch ran\n\x1b]0;x\x07 $(touch ran) `touch ran`"
    kept = runner(tmp_path / "cache", keep=tmp_path / "kept")
    list(kept.run([launch(n=64, exchange=evil)]))
    (folder,) = (tmp_path / "kept").iterdir()
    subprocess.run([folder / "run.sh"], check=False, capture_output=True)
    assert not list(tmp_path.rglob("ran"))
    comment = (folder / "run.sh").read_text(encoding="utf-8").splitlines()[1]
    assert (
        comment.startswith("# poisson_cg n=64 exchange=blocking touch ran ")
        and "\\x1b]0;x\\x07" in comment
    )


@pytest.mark.usefixtures("smpi")
def test_kept_files_are_never_written_through_a_link(tmp_path: Path) -> None:
    one, outside, kept = launch(n=64), tmp_path / "outside", tmp_path / "kept"
    outside.mkdir()
    name = f"poisson_cg-4-ranks-2-nodes-{one.case.id}"
    (kept / name).mkdir(parents=True)
    (outside / "hosts").write_text("precious")
    (kept / name / "hosts").symlink_to(outside / "hosts")
    list(runner(tmp_path / "cache", keep=kept).run([one]))
    assert (outside / "hosts").read_text() == "precious"
    (kept / name).rename(tmp_path / "moved")
    (kept / name).symlink_to(outside)
    with pytest.raises(UserError, match=f"{kept / name}: "):
        list(runner(tmp_path / "cache", keep=kept).run([one]))


def test_an_absent_case_is_a_record(tmp_path: Path) -> None:
    absent = Launch(Case(**{**vars(launch(n=64).case), "absent": "no such placement"}), 0)
    unused = Build(FAKE, SMPI, "hash")
    (record,) = SimgridRunner(SESSION, unused, described(), tmp_path, 2, 2**30).run([absent])
    assert (record["outcome"], record["reason"]) == ("absent", "no such placement")
    assert record["clock"] == "simulated"


@pytest.mark.parametrize(
    ("timeout_s", "memory_bytes", "word"),
    [(100.0, 2**40, "timeout_s = "), (600.0, 2**20, "more memory")],
)
def test_a_case_that_cannot_complete_is_not_started(
    tmp_path: Path, timeout_s: float, memory_bytes: int, word: str
) -> None:
    """An earlier simulation of half as many ranks took 240 s: this one takes at least as long."""
    few, many = launch(nodes=2, ppn=2, n=64), launch(nodes=4, ppn=2, n=64)
    many = replace(many, case=replace(many.case, timeout_s=timeout_s))
    unused = Build(FAKE, SMPI, "hash")
    one = SimgridRunner(SESSION, unused, described(), tmp_path, 2, memory_bytes)
    one.costs.add(few.case, 240.0, 2**30)

    (record,) = one.run([many])

    assert (record["outcome"], record["case"]) == ("absent", many.case.id)
    assert word in record["reason"]


@pytest.mark.usefixtures("smpi")
def test_a_variant_without_a_rate_on_the_cluster_is_a_record_too(tmp_path: Path) -> None:
    changes = {"kernel": "jacobi3d", "params": {"variant": "temporal"}, "absent": "no rate"}
    absent = Launch(Case(**{**vars(launch(n=64).case), **changes}), 0)
    (record,) = replace(runner(tmp_path), cluster=find("orfeo-thin")).run([absent])
    assert (record["outcome"], record["reason"]) == ("absent", "no rate")


def program(folder: Path, body: str) -> Build:
    """A program of our own in place of halobench."""
    source = folder / "program.c"
    source.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <signal.h>\n"
        f"int main(int argc, char** argv) {{ MPI_Init(&argc, &argv); {body} MPI_Finalize(); }}\n"
    )
    binary = folder / KernelProgram("poisson_cg").file
    subprocess.run(["smpicc", "-o", str(binary), str(source)], check=True, capture_output=True)
    shutil.copy(SMPI / "platform.so", folder)
    return Build(found_smpi(), folder, "hash")


@pytest.mark.usefixtures("smpi")
def test_a_message_is_received_after_its_sender_ended(tmp_path: Path) -> None:
    """SMPI then needs the receiver's time, and has no host of the sender."""
    body = (
        "int r, i; char c = 0; MPI_Comm_rank(MPI_COMM_WORLD, &r);"
        "if (r > 0) MPI_Send(&c, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);"
        "else for (i = 1, usleep(1000); i < 4; ++i)"
        " MPI_Recv(&c, 1, MPI_CHAR, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
        'if (r == 0) fputs("received\\n", stderr);'
    )
    (record,) = replace(runner(tmp_path), built=program(tmp_path, body)).run([launch(n=64)])
    assert "received" in record["stderr"].splitlines(), record


@pytest.mark.usefixtures("smpi")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "char c; MPI_Recv(&c, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
            r"deadlock",
        ),
        (
            "raise(SIGKILL);",  # as the system ends what takes too much
            r"out of memory: .* \d.* MiB",
        ),
        (
            "char* p = malloc(1ul << 47); *p = 1;",
            r"out of memory: .* \d.* MiB",
        ),
        (
            'fputs("you may be exceeding the amount of mappings allowed\\n", stderr); exit(1);',
            r".*vm\.max_map_count = \d+",
        ),
        (
            'fputs("Failed to allocate stack.\\n", stderr); exit(1);',  # as SimGrid says it
            r"out of memory: .* \d.* MiB",
        ),
    ],
)
def test_deadlock_and_lack_of_memory_are_distinguished(
    tmp_path: Path, body: str, reason: str
) -> None:
    one = replace(runner(tmp_path), built=program(tmp_path, body))
    (record,) = one.run([launch(n=64)])
    assert record["outcome"] == "failed"
    assert re.match(reason, record["reason"]), record
    assert "arrays" not in record["reason"]  # they are folded


@pytest.mark.usefixtures("smpi")
def test_arrays_that_exceed_memory_are_reported_with_their_size(tmp_path: Path) -> None:
    one = replace(runner(tmp_path), built=program(tmp_path, "raise(SIGKILL);"))
    asked = replace(launch(n=64).case, execute=True, memory_bytes=2**40)
    (record,) = one.run([Launch(asked, 0)])
    assert "(arrays: 1024 GiB)" in record["reason"]


@pytest.mark.usefixtures("smpi")
def test_an_added_fftw_is_named_and_halobench_errors_are_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fftw, "environment", lambda: {"HALOBENCH_FFTW": "/added/fftw.so"})
    body = 'fprintf(stderr, "halobench: no %s\\n", getenv("HALOBENCH_FFTW")); exit(2);'
    one = replace(runner(tmp_path), built=program(tmp_path, body))

    (record,) = one.run([launch(n=64)])

    assert (record["outcome"], record["reason"]) == ("failed", "no /added/fftw.so")


@pytest.mark.usefixtures("smpi")
def test_simgrid_errors_are_quoted(tmp_path: Path) -> None:
    cluster = described()
    assert cluster.mpi is not None
    magic = Algorithm(algorithm="magic", source="a test")
    mpi = cluster.mpi.model_copy(update={"collectives": {"allreduce": magic}})
    odd = cluster.model_copy(update={"mpi": mpi})
    one = replace(runner(tmp_path), built=program(tmp_path, ""), cluster=odd)
    (record,) = one.run([launch(n=64)])
    assert record["outcome"] == "failed"
    assert record["reason"].startswith("SimGrid: Collective 'allreduce' ")
    assert shows(record["reason"], " 'magic'! ", " default, lr,")


@pytest.mark.usefixtures("smpi")
@pytest.mark.parametrize("operation", [name for name in ALGORITHMS if name != SELECTOR])
def test_simgrid_has_all_algorithms_allowed_in_cluster_files(
    tmp_path: Path, operation: str
) -> None:
    cluster = described()
    assert cluster.mpi is not None
    magic = Algorithm(algorithm="magic", source="a test")
    mpi = cluster.mpi.model_copy(update={"collectives": {operation: magic}})
    odd = cluster.model_copy(update={"mpi": mpi})
    one = replace(runner(tmp_path), built=program(tmp_path, ""), cluster=odd)
    (record,) = one.run([launch(n=64)])
    _, _, there = record["reason"].rstrip(".").partition("Valid algorithms: ")
    assert set(ALGORITHMS[operation]) <= set(there.split(", "))


@pytest.mark.usefixtures("smpi")
def test_ranks_are_mapped_according_to_the_layout(tmp_path: Path) -> None:
    one = launch(n=64)
    one = Launch(replace(one.case, layout=Layout(2, 2, mapping="round_robin")), 0)
    list(runner(tmp_path / "cache", keep=tmp_path / "kept").run([one]))
    (file,) = (tmp_path / "kept").glob("*/hosts")
    assert file.read_text().split() == ["node-0", "node-1", "node-0", "node-1"]


@pytest.mark.usefixtures("smpi")
def test_simulations_run_as_job_steps_with_shared_files(
    tmp_path: Path,
) -> None:
    """A step here is a shell that writes down what it runs, and where its files are."""
    shared, said = tmp_path / "shared", tmp_path / "said"
    shared.mkdir()
    step = ("sh", "-c", f'echo "$TMPDIR $*" >> {said}; exec "$@"', "step")
    one = launch(n=32, iterations=4)

    (as_step,) = runner(tmp_path / "a", steps=Steps(step, shared)).run([one])
    (here,) = runner(tmp_path / "b").run([one])

    (line,) = said.read_text().splitlines()
    folder, *command = line.split()
    assert Path(folder).parent == shared
    assert any(word.endswith("smpirun") for word in command)
    assert [*shared.iterdir()] == []
    assert as_step["outcome"] == here["outcome"] == "ok"
    assert as_step["times_s"] == here["times_s"]
    assert as_step["command"] == here["command"]
