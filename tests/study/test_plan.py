# SPDX-License-Identifier: BSD-3-Clause
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_machine import two_sockets
from fakes import FakeProgram
from noted import shows
from plans import SITE, planned

from haloscope.errors import Problem
from haloscope.host import machine
from haloscope.study.case import Value
from haloscope.study.checks.capacity import PlaceFacts, Site
from haloscope.study.expansion import expand
from haloscope.study.plan import Plan
from haloscope.study.program import Forecast
from haloscope.study.schema import Study
from haloscope.study.settings import settings_of


def shapes(plan: Plan) -> list[tuple[int, int]]:
    return [(case.layout.ppn, case.layout.threads) for case in plan.cases]


def problems(plan: Plan) -> list[str]:
    return [str(problem) for problem in plan.problems]


def test_every_list_is_an_axis() -> None:
    run = {
        "params": {"n": [8, 16], "flag": [True, False]},
        "layout": {"ppn": [1, 2], "bind": ["close", "spread"]},
    }
    plan = planned(run)
    settings = {
        (case.params["n"], case.params["flag"], case.layout.ppn, case.layout.bind)
        for case in plan.cases
    }
    assert len(plan.cases) == len(settings) == 16
    assert (16, "false", 2, "spread") in settings
    assert (plan.problems, plan.notes) == ((), ())


@pytest.mark.parametrize(
    ("cores", "layout", "expected"),
    [
        (4, {"ppn": "powers"}, [(1, 1), (2, 1), (4, 1)]),
        (6, {"ppn": "powers"}, [(1, 1), (2, 1), (4, 1), (6, 1)]),
        (1, {"ppn": "powers"}, [(1, 1)]),
        (3, {"ppn": "every"}, [(1, 1), (2, 1), (3, 1)]),
        (4, {"ppn": [1, "cores"]}, [(1, 1), (4, 1)]),
        (1, {"ppn": [1, "cores"]}, [(1, 1)]),
        (4, {"threads": "cores"}, [(1, 4)]),
        (6, {"cores": "cores", "ppn": "divisors"}, [(1, 6), (2, 3), (3, 2), (6, 1)]),
        (6, {"cores": 4}, [(1, 4), (2, 2), (4, 1)]),
        (4, {"cores": [2, 4], "ppn": [1, 2]}, [(1, 2), (2, 1), (1, 4), (2, 2)]),
    ],
)
def test_keywords_of_a_layout(
    cores: int,
    layout: dict[str, Any],
    expected: list[tuple[int, int]],
) -> None:
    plan = planned({"layout": layout}, site=replace(SITE, cores=cores))
    assert shapes(plan) == expected


@pytest.mark.parametrize(
    ("layout", "what"),
    [
        ({"ppn": "divisors"}, "layout.cores"),
        ({"cores": 4, "threads": 2}, "threads"),
        ({"cores": 4, "ppn": 3}, "ppn = 3"),
    ],
)
def test_incompatible_layout_keywords(layout: dict[str, Any], what: str) -> None:
    (problem,) = planned({"layout": layout}).problems
    assert problem.where == "runs#1.layout" and what in problem.what


def test_all_problems_of_all_runs_are_found_at_once() -> None:
    plan = planned(
        {"kernel": "fak"},
        {"params": {"m": 3, "n": [0, 2]}, "layout": {"ppn": [3, 5]}},
        {"params": {"n": 2**15}},
    )
    for problem, (where, value, remedy) in zip(
        plan.problems,
        (
            ("runs#1.kernel", "'fak'", "'fake'?"),
            ("runs#2.layout", "4 cores", "--oversubscribe"),
            ("runs#2.params.m", "'m'", "fault, flag, n, repetitions, steps, warmup"),
            ("runs#2", "fake n=0", "1 or more"),
            ("runs#2", "fake ranks=3", "ranks"),
            ("runs#2", "fake ranks=5", "ranks"),
            ("runs#3.params", "8 GiB", "n=11585"),  # 8 n^2 bytes
        ),
        strict=True,
    ):
        assert problem.where == where
        assert value in problem.what and remedy in problem.remedy


def test_too_many_nodes_are_a_note() -> None:
    plan = planned({"layout": {"nodes": [1, 2, 4], "ppn": [1, 2]}})
    assert shapes(plan) == [(1, 1), (2, 1)]
    assert plan.problems == ()
    (note,) = plan.notes
    assert note.endswith(": fake on 2 and 4 nodes")


def test_two_socket_cases_are_skipped_on_a_single_socket(tmp_path: Path) -> None:
    """The other machine is one of two sockets, as its /proc and /sys tell."""
    fake = two_sockets(tmp_path)
    there = [name for name, pair in machine.placements(fake.root, range(8)).items() if pair]
    run = {"name": "between", "layout": {"ppn": [2, 4]}, "several_sockets": True}

    assert shapes(planned(run, site=replace(SITE, placements=there))) == [(2, 1), (4, 1)]
    one = planned(run, {"layout": {"ppn": 1}}, site=replace(SITE, placements=["same-cache"]))
    assert shapes(one) == [(1, 1)]
    assert [note.rpartition(": ")[2] for note in one.notes] == ["between"]
    elsewhere = planned(run, site=replace(SITE, facts=SIMULATED, name="orfeo-thin"))
    (note,) = elsewhere.notes
    assert "orfeo-thin" in note and note.endswith(": between")
    wrong = planned({**run, "params": {"m": 1}}, site=SITE)
    assert wrong.problems[0].where == "runs#1.params.m"


def test_cases_that_are_too_large_are_skipped_only_on_request() -> None:
    run = {"params": {"n": [8, 2**15]}, "layout": {"ppn": [4, 8, 16]}, "skip_too_large": True}
    plan = planned(run)
    assert [case.label for case in plan.cases] == ["fake n=8, 4 ranks"]
    assert plan.problems == ()
    crowded, large = plan.notes
    assert "4 cores" in crowded and "ppn = 8 and 16, threads = 1" in crowded
    assert "1 GiB" in large and "fake n=32768, 4 ranks (needs 8 GiB)" in large


def test_a_simulated_node_may_exceed_its_memory_if_the_study_allows_it() -> None:
    run = {"params": {"n": [8, 2**15]}, "beyond_memory": True}
    small = replace(CLUSTER, memory_bytes=2**30, arithmetic_bytes=2**40)
    there = planned(run, site=small)
    assert [case.params["n"] for case in there.cases] == [8, 2**15]
    (note,) = there.notes
    assert "1 GiB" in note and note.endswith("fake n=32768, 1 rank (8 GiB)")
    assert len(planned({**run, "beyond_memory": False}, site=small).cases) == 1
    here = replace(CLUSTER, memory_bytes=2**30, arithmetic_bytes=2**30)
    for refused in (planned({**run, "execute": True}, site=here), planned(run)):
        (problem,) = refused.problems
        assert problem.where == "runs#1.params"
        assert "8 GiB" in problem.what and "1 GiB" in problem.what


@pytest.mark.parametrize(
    "left_out", [{"only_simulated": True}, {"layout": {"ppn": [8, 9]}, "skip_too_large": True}]
)
def test_parameters_of_skipped_runs_are_checked_too(left_out: dict[str, Any]) -> None:
    wrong, refused = planned({"params": {"n": [8, -1], "m": 1}, **left_out}).problems
    assert wrong.where == "runs#1.params.m"
    assert (refused.where, "fake n=-1" in refused.what) == ("runs#1", True)
    assert problems(planned({"params": {"n": 8}, **left_out})) == []
    (unknown,) = planned({"kernel": "fke", **left_out}).problems
    assert unknown.where == "runs#1.kernel" and "'fke'" in unknown.what


def test_memory_is_checked_over_all_nodes_and_reported_per_node() -> None:
    run = {"params": {"n": [16_000, 2**15]}, "layout": {"nodes": [1, 2]}, "skip_too_large": True}
    plan = planned(run, site=replace(SITE, nodes=2))
    assert [case.label for case in plan.cases] == [
        "fake n=16000, 2 ranks on 2 nodes"
    ]  # 8 n^2 bytes
    (note,) = plan.notes
    assert re.findall(r"n=(\d+), (\d) ranks?[^(;]*\(needs ([\d.]+) GiB", note) == [
        *(("16000", "1", "1.91"), ("32768", "1", "8"), ("32768", "2", "4")),
    ]


def test_layouts_refused_by_the_kernel_count_as_too_large() -> None:
    site = replace(SITE, cores=9)
    run = {"layout": {"ppn": [8, 9]}, "skip_too_large": True}
    plan = planned(run, site=site)
    assert shapes(plan) == [(8, 1)]
    (note,) = plan.notes
    assert "fake ranks=9 on 9 ranks" in note
    assert not plan.problems

    for refused in ({**run, "skip_too_large": False}, {**run, "layout": {"ppn": 9}}):
        (problem,) = planned(refused, site=site).problems
        assert "fake ranks=9" in problem.what
    assert "fake n=0" in planned({**run, "params": {"n": 0}}, site=site).problems[0].what


@pytest.mark.parametrize(
    ("ppn", "said", "can"), [([8, 9], None, True), ([8, 9], False, False), (9, None, False)]
)
def test_a_study_gets_a_hint_how_to_skip_refused_layouts(
    ppn: int | list[int], said: bool | None, can: bool
) -> None:
    run = {"layout": {"ppn": ppn}, **({} if said is None else {"skip_too_large": said})}

    (problem,) = problems(planned(run, site=replace(SITE, cores=9)))

    assert ("skip_too_large = true" in problem) == can


def test_all_problems_of_a_layout_are_reported_at_once() -> None:
    layout = {"ppn": [56, 3], "cores": 28, "nodes": [1, 2000], "threads": 2}
    run = {"layout": layout, "skip_too_large": False, "params": {"n": -1}}
    found = planned(run).problems
    assert [one.where for one in found] == [
        "runs#1.layout.nodes",
        *["runs#1.layout"] * 3,
        "runs#1",
    ]
    for problem, value in zip(
        found, ("2000", "threads", "ppn = 56", "ppn = 3", "fake n=-1"), strict=True
    ):
        assert value in problem.what
    shape, nodes = planned({"layout": {"ppn": 56, "cores": 28, "nodes": 2000}}).problems
    assert "ppn = 56" in shape.what and "28 cores" in shape.what
    assert (nodes.where, "2000" in nodes.what) == ("runs#1.layout.nodes", True)
    one, two = planned({"layout": {"tasks": [1, 2, 8], "nodes": 4}}, site=CLUSTER).problems
    assert "1 task" in one.what and "2 tasks" in two.what


def test_too_many_processes_and_missing_nodes_are_reported_together() -> None:
    """Otherwise the user corrects the nodes, and then gets an error about the processes."""
    for skip in ({}, {"skip_too_large": False}):
        found = planned({"layout": {"nodes": [2, 2000], "ppn": [4, 64]}, **skip}).problems
        assert {one.where for one in found} == {"runs#1.layout.nodes", "runs#1.layout"}
        (crowded,) = (one for one in found if one.where == "runs#1.layout")
        assert "64 ranks" in crowded.what
    some = planned({"layout": {"nodes": [1, 2000], "ppn": 64}}).problems
    assert [one.where for one in some] == ["runs#1.layout", "runs#1"]  # without 2000, skipped
    far = {"layout": {"nodes": 2000, "ppn": 4}, "params": {"n": 9000}}
    assert planned(far).problems == ()  # skipped as a whole
    larger = replace(SITE, facts=SIMULATED, nodes=4, name="eagle")
    far = {"layout": {"nodes": 2000, "ppn": 64}, "params": {"n": 200_000}}
    assert planned(far, site=larger).problems == ()


def test_contradictions_of_different_keys_are_reported_at_once() -> None:
    layout = {
        "nodes": 4,
        "ppn": "divisors",
        "threads": "divisors",
        "mapping_seed": 2,
        "allocation_seed": 3,
    }
    found = [one.what for one in planned({"layout": layout}, site=CLUSTER).problems]
    starts = ["ppn = 'divisors'", "threads = 'divisors'", "mapping_seed", "allocation_seed"]
    assert [what.startswith(start) for what, start in zip(found, starts, strict=True)] == [True] * 4
    tasks = {"nodes": 4, "tasks": 2, "ppn": 1}
    found = [one.what for one in planned({"layout": tasks}, site=CLUSTER).problems]
    assert ["2 tasks" in found[0], "ppn" in found[1], len(found)] == [True, True, 2]


def test_an_unknown_transport_and_a_bad_parameter_are_reported_together() -> None:
    site = replace(SITE, transports={"fake": ["sm", "tcp"]})
    run = {"transports": ["carrier_pigeon"], "params": {"n": -1}}
    found = planned(run, site=site).problems
    assert [one.where for one in found] == ["runs#1.transports", "runs#1"]


def test_node_counts_are_not_checked_for_runs_on_other_clusters() -> None:
    """Its parameters are; it is skipped here with however many nodes."""
    run = {"only_simulated": True, "layout": {"nodes": 64, "ppn": 64}, "params": {"n": -1}}
    (problem,) = planned(run).problems
    assert "fake n=-1" in problem.what


@pytest.mark.parametrize(
    ("remote", "layout", "remedy"),
    [
        (True, {"ppn": 56}, "at most 4 ranks per node"),
        (True, {"ppn": 3, "threads": 2}, "at most 2 ranks per node"),
        (True, {"ppn": 1, "threads": 9}, "at most 4 threads per rank"),
        (False, {"ppn": 8}, "or use --oversubscribe"),
    ],
)
def test_a_layout_that_fits_the_node_is_suggested(
    remote: bool, layout: dict[str, int], remedy: str
) -> None:
    run = {"layout": layout, "skip_too_large": False}
    found = planned(run, site=CLUSTER if remote else SITE)

    (crowded,) = [one for one in found.problems if "layout" in one.where]
    assert remedy in crowded.remedy


def test_a_remedy_applies_to_the_site_and_the_command() -> None:
    (large,) = planned({"params": {"n": 2**15}}).problems
    assert "n=11585" in large.remedy and "nodes" not in large.remedy
    (large,) = planned({"params": {"n": 2**15}, "skip_too_large": False}, site=CLUSTER).problems
    assert "more nodes" in large.remedy

    def once(**run: Any) -> str:
        study = Study.model_validate({"title": "t", "runs": [{"kernel": "fake", **run}]})
        site = replace(SITE, transports={"fake": ["sm", "tcp"]})
        (problem,) = expand(study, site, FakeProgram(), words=True).problems
        return problem.remedy

    assert "--ranks" in once(params={"tasks": "2"})
    assert "--" not in once(params={"bind": "close"}) and "bind" in once(params={"bind": "close"})
    assert "'all'" not in once(transports=["pigeon"]) and "tcp" in once(transports=["pigeon"])


def test_a_quoted_number_is_refused() -> None:
    study = {"title": "t", "runs": [{"kernel": "fake", "params": {"n": ["8", 16, "x"]}}]}
    there = Study.model_validate(study)
    texts = [
        one.what
        for one in expand(there, SITE, FakeProgram()).problems
        if one.where == "runs#1.params.n"
    ]
    assert len(texts) == 2 and '"8"' in texts[0] and '"x"' in texts[1]
    words = Study.model_validate({**study, "runs": [{"kernel": "fake", "params": {"n": "8"}}]})
    assert expand(words, SITE, FakeProgram(), words=True).problems == ()


@pytest.mark.parametrize(
    ("key", "meant"),
    [("N", "'n'?"), ("ranks", "layout.tasks"), ("ppn", "layout.ppn")],
)
def test_a_misnamed_parameter_is_named(key: str, meant: str) -> None:
    (problem,) = planned({"params": {key: 2}}).problems
    assert (problem.where, meant in problem.remedy) == (f"runs#1.params.{key}", True)


def test_missing_nodes_are_reported_with_problems_of_the_kernel() -> None:
    """Otherwise the user corrects the first, and then gets an error about the second."""

    class Small(FakeProgram):
        def forecast(
            self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
        ) -> Forecast:
            return Forecast(dict(params), 8, [Problem("n", "refused", "fewer rows than ranks")])

    runs = [{"kernel": "fake", "layout": {"nodes": 2000}}]
    found = expand(Study.model_validate({"title": "t", "runs": runs}), SITE, Small())

    assert {one.where for one in found.problems} == {"runs#1", "runs#1.layout.nodes"}


def test_divisors_of_the_core_count_are_listed() -> None:
    (problem,) = planned({"layout": {"cores": 12, "ppn": 5}}).problems
    assert problem.remedy.endswith(" 1, 2, 3, 4, 6, 12")


SIMULATED = PlaceFacts(clock="simulated", remote=True, deterministic=True)
CLUSTER = replace(SITE, nodes=1736, toolchains=("simgrid",), facts=SIMULATED, name="stampede2")


def test_messages_in_cache_cannot_be_simulated() -> None:
    class Cold(FakeProgram):
        def parameters(self, kernel: str) -> Mapping[str, Any]:
            return {"cache": "warm"}

        def forecast(
            self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
        ) -> Forecast:
            return Forecast(dict(params), 8, ())

    study = Study.model_validate(
        {"title": "t", "runs": [{"kernel": "fake", "params": {"cache": ["warm", "off"]}}]}
    )
    warm, cold = (case.absent for case in expand(study, CLUSTER, Cold()).cases)
    assert warm is None and cold is not None and "cache=off" in cold


def test_a_simulated_device_is_a_gpu_of_the_cluster() -> None:
    class Device(FakeProgram):
        def parameters(self, kernel: str) -> Mapping[str, Any]:
            return {"memory": "host", "gpus_shared": 1}

        def forecast(
            self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
        ) -> Forecast:
            return Forecast(dict(params), 8, ())

    def absent(site: Site) -> list[str | None]:
        params, layout = {"memory": ["host", "device"], "gpus_shared": [1, 2]}, {"ppn": 4}
        run = {"kernel": "fake", "params": params, "layout": layout}
        study = Study.model_validate({"title": "t", "runs": [run]})
        return [case.absent for case in expand(study, site, Device()).cases]

    assert absent(SITE) == [None] * 3  # where devices are emulated
    host, without, shared = absent(CLUSTER)
    assert host is None and without == shared
    assert without is not None and "node.gpu" in without
    host, too_many, enough = absent(replace(CLUSTER, gpus=2))
    assert host is None and enough is None
    assert too_many is not None and too_many.endswith("gpus_shared = 2")


def test_arrays_must_fit_in_the_memory_of_the_gpus_of_a_layout() -> None:
    class Device(FakeProgram):
        def parameters(self, kernel: str) -> Mapping[str, Any]:
            return {"memory": "host", "n": 8, "gpus_shared": 1}

        def forecast(
            self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
        ) -> Forecast:
            arrays = int(params["n"]) * ranks * 2**30
            return Forecast(dict(params), 2 * arrays, (), device_bytes=arrays)

    def wrong(shared: int, n: int) -> list[str]:
        params = {"memory": "device", "gpus_shared": shared, "n": n}
        run = {"kernel": "fake", "params": params, "layout": {"nodes": 3, "ppn": 4}}
        study = Study.model_validate({"title": "t", "runs": [{**run, "skip_too_large": False}]})
        there = replace(CLUSTER, nodes=4, memory_bytes=2**40, gpus=4, gpu_bytes=16 * 2**30)
        return problems(expand(study, there, Device()))

    assert wrong(1, 16) == wrong(2, 8) == []
    (too_large,) = wrong(1, 17)
    assert "17 GiB" in too_large and "16 GiB" in too_large and "n=16" in too_large
    (on_two,) = wrong(2, 9)
    assert "18 GiB" in on_two


def test_a_case_without_its_library_does_not_affect_the_rest() -> None:
    class Picky(FakeProgram):
        def forecast(
            self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
        ) -> Forecast:
            found = super().forecast(kernel, params, ranks, threads)
            return replace(found, absent="no FFTW: add it" if params["n"] == 16 else None)

    run = {"kernel": "fake", "params": {"n": [8, 16]}}
    study = Study.model_validate({"title": "t", "launches": 5, "runs": [run]})
    plan = expand(study, SITE, Picky())
    assert plan.problems == ()
    assert [(case.absent, case.launches) for case in plan.cases] == [
        (None, 5),
        ("no FFTW: add it", 1),
    ]


def test_an_unsupported_simulation_does_not_affect_the_rest() -> None:
    plan = planned(
        {"params": {"n": [8, 2**15]}, "layout": {"ppn": [4, 8], "threads": [1, 2]}},
        {"layout": {"nodes": [2, 4096]}},
        {"layout": {"ppn": 2}, "transports": ["default", "tcp"]},
        {"layout": {"ppn": 3}, "toolchains": ["mpich"]},
        site=CLUSTER,
    )
    assert plan.problems == ()
    threads, memory, nodes = plan.notes
    assert re.findall(r"ppn = ([^,]+), threads = (\d)", threads) == [("4 and 8", "2"), ("8", "1")]
    assert shows(memory, "n=32768", "4 ranks", "8 GiB") and shows(nodes, "4096 nodes")
    assert [(case.label, case.absent is None) for case in plan.cases] == [
        ("fake n=8, 4 ranks", True),
        ("fake, 2 ranks on 2 nodes", True),
        ("fake, 2 ranks", True),
        ("fake, 2 ranks", False),
        ("fake, 3 ranks", False),
    ]
    assert "'tcp'" in str(plan.cases[3].absent) and "'mpich'" in str(plan.cases[4].absent)


class OnlyReal(FakeProgram):
    """As the other, but nothing that can be simulated."""

    def unable(self, kernel: str, toolchain: str, *, simulated: bool) -> str | None:
        return "external program" if simulated else None


def test_a_never_simulable_case_gets_no_hint_about_another_library() -> None:
    run = {"kernel": "fake", "toolchains": ["mpich"], "layout": {"ppn": 3}}
    study = Study.model_validate({"title": "t", "launches": 1, "runs": [run]})

    (case,) = expand(study, CLUSTER, OnlyReal()).cases
    (other,) = expand(study, CLUSTER, FakeProgram()).cases

    assert case.absent == "external program"
    assert "'mpich'" in str(other.absent)


class Solver(FakeProgram):
    """As the other, with a solve whose number of iterations is not known."""

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        found = super().forecast(kernel, params, ranks, threads)
        return Forecast({**found.params, "iterations": 0}, found.memory_bytes, ())


HERE = replace(CLUSTER, memory_bytes=2**40, arithmetic_bytes=2**30)
LARGE = {"params": {"n": [8, 2**15]}, "execute": True}


def test_arithmetic_that_exceeds_local_memory_is_refused() -> None:
    (problem,) = planned(LARGE, site=HERE).problems
    assert problem.where == "runs#1.params"
    assert "8 GiB" in problem.what and "1 GiB" in problem.what
    assert "n=11585" in problem.remedy and "skip_too_large = true" in problem.remedy
    without = planned({**LARGE, "execute": False}, site=HERE)
    assert (len(without.cases), without.problems, without.notes) == (2, (), ())


def test_arithmetic_that_exceeds_local_memory_is_skipped_on_request() -> None:
    """Where the study requests it, and elsewhere; the error then names the alternative."""
    study = Study.model_validate({"title": "t", "runs": [{"kernel": "fake", **LARGE}]})
    unasked = study.model_copy(
        update={"runs": [study.runs[0].model_copy(update={"execute": False})]}
    )
    for plan, why in (
        (planned({**LARGE, "skip_too_large": True}, site=HERE), "arithmetic"),
        (expand(unasked, HERE, Solver()), "iterations"),
    ):
        assert [case.label for case in plan.cases] == ["fake n=8, 1 rank"]
        assert plan.problems == ()
        (note,) = plan.notes
        assert why in note and note.endswith("fake n=32768, 1 rank (needs 8 GiB)")


def test_a_duplicate_case_is_verified_if_either_requests_it() -> None:
    runs = ({"execute": False, "launches": 2}, {"execute": True})
    for order in (runs, runs[::-1]):
        (case,) = planned(*order, site=HERE).cases
        assert (case.execute, case.launches) == (True, 2)


def test_execute_is_not_a_setting_and_has_no_effect_on_real_runs() -> None:
    (plain,), (asked,) = planned({}).cases, planned({"execute": True}).cases
    assert (plain.id, plain.execute, asked.id, asked.execute) == (asked.id, False, plain.id, True)
    large = planned({"params": {"n": 8192}, "execute": True})  # 512 MiB of 1 GiB
    assert (len(large.cases), large.problems) == (1, ())


def test_runs_for_simulated_clusters_do_not_run_on_this_machine() -> None:
    runs = ({"layout": {"ppn": 2}}, {"layout": {"ppn": 4}, "only_simulated": True})
    assert shapes(planned(*runs)) == [(2, 1)]
    assert shapes(planned(*runs, site=CLUSTER)) == [(2, 1), (4, 1)]


def test_oversubscribed_cases_are_marked() -> None:
    plan = planned({"layout": {"ppn": [4, 8]}}, site=replace(SITE, oversubscribe=True))
    assert [(case.layout.ppn, case.oversubscribed) for case in plan.cases] == [
        (4, False),
        (8, True),
    ]


def test_hardware_threads_count_as_slots_on_request() -> None:
    layout = {"ppn": [2, 4], "threads": 2, "places": ["cores", "threads"]}
    plan = planned({"layout": layout, "skip_too_large": True})
    shapes = [(case.layout.ppn, case.layout.places) for case in plan.cases]
    assert shapes == [(2, "cores"), (2, "threads"), (4, "threads")]
    plan = planned({"layout": {"ppn": 9, "places": "threads"}})
    assert "8 hardware threads" in problems(plan)[0]


def test_equal_settings_are_one_case() -> None:
    plan = planned({"params": {"n": 8}}, {"launches": 3}, {"params": {"n": "8"}})
    (case,) = plan.cases
    assert case.launches == 3
    (note,) = plan.notes
    assert "2 " in note


LIBRARIES = replace(
    SITE,
    toolchains=("one",),
    transports={"one": ("shm", "tcp"), "two": ("tcp", "ucx")},
    missing={"three": "'three' can't be fetched"},
    placements=("same-cache",),
)


def libraries(plan: Plan) -> list[tuple[str, str | None, str | None]]:
    return [(case.toolchain, case.transport, case.absent) for case in plan.cases]


def test_libraries_and_transports_are_axes() -> None:
    run = {"toolchains": ["one", "two"], "transports": ["default", "tcp"]}
    assert libraries(planned(run, site=LIBRARIES)) == [
        ("one", None, None),
        ("one", "tcp", None),
        ("two", None, None),
        ("two", "tcp", None),
    ]


def test_all_transports_are_those_of_each_library() -> None:
    found = planned({"toolchains": ["one", "two"], "transports": "all"}, site=LIBRARIES)
    assert [one[:2] for one in libraries(found)] == [
        ("one", "shm"),
        ("one", "tcp"),
        ("two", "tcp"),
        ("two", "ucx"),
    ]


def test_an_unsupported_case_has_one_launch_and_a_reason() -> None:
    run = {"toolchains": ["one", "two", "three"], "transports": "ucx"}
    plan = planned(run, site=LIBRARIES, launches=5)
    assert plan.problems == ()
    (first, second, third) = libraries(plan)
    assert first[:2] == ("one", "ucx") and str(first[2]).endswith(" shm, tcp")
    assert second == ("two", "ucx", None)
    assert third == ("three", "ucx", LIBRARIES.missing["three"])
    assert [case.launches for case in plan.cases] == [1, 5, 1]


def test_an_unavailable_transport_is_refused_with_the_available_ones() -> None:
    run = {"toolchains": ["one", "two", "three"], "transports": "psm3"}
    (problem,) = planned(run, site=LIBRARIES).problems
    assert problem.where == "runs#1.transports" and "'psm3'" in problem.what
    assert "shm, tcp" in problem.remedy and "tcp, ucx" in problem.remedy
    run = {"toolchains": ["three"], "transports": "psm3"}
    assert libraries(planned(run, site=LIBRARIES)) == [
        ("three", "psm3", LIBRARIES.missing["three"])
    ]


def test_placements_have_two_ranks_and_unavailable_ones_are_reported() -> None:
    plan = planned({"layout": {"placement": "all"}}, site=LIBRARIES)
    assert plan.problems == ()
    absent = {case.layout.placement: case.absent for case in plan.cases}
    assert absent.pop("same-cache") is None
    assert {*absent} == {"same-core", "same-socket", "other-socket", "other-node"}
    assert all(f"'{name}'" in str(why) for name, why in absent.items())
    assert {case.layout.ranks for case in plan.cases} == {2}
    simulated = replace(LIBRARIES, facts=SIMULATED, name="stampede2")
    (other,) = planned({"layout": {"placement": "same-core"}}, site=simulated).cases
    assert "'other-node'" in str(other.absent) and "bind" not in str(other.absent)
    of_sockets = replace(simulated, sockets_differ=True)
    (other,) = planned({"layout": {"placement": "same-core"}}, site=of_sockets).cases
    assert "bind = close" in str(other.absent) and "bind = spread" in str(other.absent)


def test_threads_are_bound_in_several_ways_if_possible() -> None:
    axes = {"ppn": [1, 2], "threads": [1, 2], "bind": ["close", "spread", "none"]}
    plan = planned({"layout": {**axes, "thread_bind": ["close", "spread"]}})
    spread = {
        (one.layout.ppn, one.layout.threads, one.layout.bind)
        for one in plan.cases
        if one.layout.thread_bind == "spread"
    }

    assert spread == {(1, 2, "close"), (1, 2, "spread"), (2, 2, "spread")}
    assert len(plan.cases) == 12 + len(spread)


@pytest.mark.parametrize(
    ("sockets", "layout", "simulated"),
    [
        (2, {"ppn": 2, "threads": 2, "bind": "spread"}, True),
        (4, {"ppn": 2, "threads": 2, "bind": "spread"}, False),
        (4, {"ppn": 2, "threads": 2, "bind": "spread", "thread_bind": "spread"}, True),
        (4, {"ppn": 2, "threads": 2, "bind": "close"}, True),
        (4, {"ppn": 1, "threads": 2, "bind": "spread"}, True),
        (2, {"ppn": 2, "threads": 2, "bind": "spread", "places": "threads"}, False),
    ],
)
def test_close_threads_missing_in_the_node_model_are_absent(
    sockets: int, layout: dict[str, Any], simulated: bool
) -> None:
    site = replace(SITE, facts=SIMULATED, sockets=sockets)
    (case,) = planned({"layout": layout}, site=site).cases

    assert (case.absent is None) is simulated


def test_a_placement_excludes_other_layout_keys() -> None:
    run = {"layout": {"placement": "same-cache", "ppn": 4}}
    (problem,) = planned(run, site=LIBRARIES).problems
    assert problem.where == "runs#1.layout.placement"


class OfMemories(FakeProgram):
    """As the other, with a choice of memories."""

    def parameters(self, kernel: str) -> Mapping[str, Any]:
        return {**super().parameters(kernel), "memory": "host"}


@pytest.mark.parametrize(
    ("toolchains", "memory", "refused"),
    [
        (["one", "one+cuda"], ["device"], True),
        (["one", "two", "two+hip"], ["host", "device"], True),
        (["one", "one+cuda"], ["host"], False),
        (["one", "two"], ["device"], False),
        (["one+cuda", "one+hip"], ["device"], False),
    ],
)
def test_a_study_cannot_combine_an_emulated_device_and_a_gpu(
    toolchains: list[str], memory: list[str], *, refused: bool
) -> None:
    site = replace(LIBRARIES, transports=dict.fromkeys(toolchains, ()))
    run = {"kernel": "fake", "params": {"memory": memory}, "toolchains": toolchains}
    study = Study.model_validate({"title": "t", "launches": 3, "runs": [run]})

    found = problems(expand(study, site, OfMemories()))

    if not refused:
        assert found == []
        return
    (one,) = found
    assert one.startswith("memory = device: ")
    assert toolchains[-1] in one


class OfVariants(FakeProgram):
    """As the other, with a choice of variants."""

    def parameters(self, kernel: str) -> Mapping[str, Any]:
        return {**super().parameters(kernel), "variant": "plain"}


def test_a_variant_with_an_unknown_rate_is_a_case_with_a_reason() -> None:
    site = replace(SITE, variants={"fake": ["plain"]})
    run = {"kernel": "fake", "params": {"variant": ["plain", "temporal"]}}
    study = Study.model_validate({"title": "t", "launches": 3, "runs": [run]})
    plain, other = expand(study, site, OfVariants()).cases
    assert (plain.params["variant"], plain.launches, plain.absent) == ("plain", 3, None)
    assert (other.params["variant"], other.launches) == ("temporal", 1)
    assert "temporal" in str(other.absent) and str(other.absent).endswith(" plain")


class WithDevices(FakeProgram):
    """A kernel that works in the host's memory or in that of an emulated device."""

    def kernels(self) -> Sequence[str]:
        return ["fake", "poisson_cg"]

    def parameters(self, kernel: str) -> Mapping[str, Any]:
        of_a_device = {"mpi": "gpu_aware", "sync": "default_stream", "device_lag": "none"}
        return {"memory": "host", **of_a_device, "gpus_shared": 1, "variant": "textbook", "s": 4}

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        return Forecast({**self.parameters(kernel), **params}, 8, ())


def with_devices(kernel: str, params: dict[str, Any], *, words: bool = False, **run: Any) -> Plan:
    tables = [{"kernel": kernel, "params": params, **run}]
    study = Study.model_validate({"title": "t", "runs": tables})
    return expand(study, SITE, WithDevices(), words=words)


@pytest.mark.parametrize("left_out", [{}, {"only_simulated": True}])
@pytest.mark.parametrize(
    ("kernel", "params", "idle", "needed"),
    [
        ("fake", {"mpi": "staged"}, "mpi", "memory = device"),
        ("fake", {"mpi": ["gpu_aware", "staged"]}, "mpi", "memory = device"),
        ("fake", {"memory": "host", "device_lag": "eager"}, "device_lag", "memory = device"),
        ("fake", {"sync": "general"}, "sync", "memory = device"),
        ("fake", {"gpus_shared": 2}, "gpus_shared", "memory = device"),
        ("poisson_cg", {"s": 8}, "s", "variant = sstep"),
        ("poisson_cg", {"s": [4, 8], "variant": ["fused", "textbook"]}, "s", "variant = sstep"),
    ],
)
def test_a_parameter_without_effect_is_refused(
    kernel: str, params: dict[str, Any], idle: str, needed: str, left_out: dict[str, Any]
) -> None:
    (problem,) = with_devices(kernel, params, **left_out).problems
    assert problem.where == f"runs#1.params.{idle}"
    assert problem.what == f"{kernel} uses '{idle}' only with {needed}"


def test_a_remedy_can_be_typed_as_printed() -> None:
    for words, written in ((True, "memory=device"), (False, 'memory = "device"')):
        (problem,) = with_devices("fake", {"mpi": "staged"}, words=words).problems
        assert f"set {written}," in problem.remedy


def test_an_axis_applies_only_where_it_has_an_effect() -> None:
    axes: dict[str, Any] = {
        "memory": ["host", "device"],
        "mpi": ["gpu_aware", "staged"],
        "gpus_shared": [1, 2],
    }
    plan = with_devices("fake", axes)
    assert (plan.problems, plan.notes) == ((), ())
    of_device = [f"memory=device mpi={mpi} gpus_shared={n}" for mpi in axes["mpi"] for n in (1, 2)]
    assert [" ".join(case.arguments) for case in plan.cases] == ["memory=host", *of_device]


def test_a_parameter_with_the_same_name_belongs_to_its_kernel() -> None:
    class Own(FakeProgram):
        def parameters(self, kernel: str) -> Mapping[str, Any]:
            return {**super().parameters(kernel), "mpi": "fast"}

    study = Study.model_validate(
        {"title": "t", "runs": [{"kernel": "fake", "params": {"mpi": ["fast", "slow"]}}]}
    )
    plan = expand(study, SITE, Own())
    assert plan.problems == ()
    assert [settings_of(case.as_dict())["mpi"] for case in plan.cases] == ["fast", "slow"]
