# SPDX-License-Identifier: BSD-3-Clause
import recorded
from noted import shows
from recorded import bad, cases, changed, of_case, poisson, records, star_forest, stream

from haloscope.analysis.cases import label_of, name_of, own_settings, row_name, select, values
from haloscope.analysis.facets import facets
from haloscope.analysis.grouping import Planned, group
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Settings, describe, settings_of, varying


def test_only_good_launches_are_in_a_sample() -> None:
    raws = [poisson(64, launch=k, time_s=float(k + 1)) for k in range(4)]
    raws[1] = bad(raws[1], "wrong", "error above bound")
    raws[2] = bad(raws[2], "misplaced", "rank 1 ran on processor 0")

    (case,) = cases(raws)

    assert case.times_s == [1.0, 4.0]
    assert [record.outcome for record in case.excluded] == ["wrong", "misplaced"]


def test_a_launch_counts_once_by_the_median_of_its_repetitions() -> None:
    raws = [changed(poisson(64, launch=k), times_s=[9.0, 1.0, float(k)]) for k in (2, 3)]

    (case,) = cases(raws)

    assert case.times_s == [2.0, 3.0]
    assert case.time == Estimate(2.5, 2.0, 3.0, 2, "range")


def test_one_launch_has_a_range_and_no_interval() -> None:
    (case,) = cases([changed(poisson(64), times_s=[1.0, 3.0, 2.0])])

    assert case.time == Estimate(2.0, 1.0, 3.0, 1, "repetitions")


def test_simulated_times_have_no_variation() -> None:
    (case,) = cases([poisson(64, launch=k, time_s=1.0, clock="simulated") for k in range(8)])

    assert case.band and case.band.factor > 1
    assert case.time == Estimate(1.0, None, None, 8, "simulated", band=case.band.factor)


def test_a_planned_case_without_a_record_has_no_launches() -> None:
    known = records([poisson(64, launch=k) for k in range(2)])
    absent = {"kernel": "poisson_cg", **{k: poisson(128)[k] for k in ("params", "layout")}}
    plan = [
        Planned(known[0].case, "poisson_cg", known[0].params, 3),
        Planned("other", "poisson_cg", settings_of({**absent, "toolchain": "system"}), 3),
    ]

    measured, missing = group(known, plan)

    assert (len(measured.launches), measured.planned) == (2, 3)
    assert (missing.number("n"), missing.launches, missing.planned) == (128, (), 3)
    assert missing.time is None
    assert missing.settings["runner"] == "local"


def test_cases_that_differ_only_in_protocol_are_separate_facets() -> None:
    """Also those that differ in what means nothing to them: the report of both ended in a crash."""
    once = recorded.pingpong()
    longer = of_case(once, params={**once["params"], "warmup": 9})
    ways = [star_forest("sf_grid", mpi=mpi) for mpi in ("gpu_aware", "staged")]

    assert [part.label for part in facets(cases([once, longer]), ())] == [
        "warmup = 0",
        "warmup = 9",
    ]
    assert [part.label for part in facets(cases([once, longer]), ("mode",))] == [
        "warmup = 0",
        "warmup = 9",
    ]
    assert [len(part.cases) for part in facets(cases([once, longer]), ("warmup",))] == [2]
    labels = [part.label for part in facets(cases(ways), ())]
    assert sorted(labels) == sorted(f"case {raw['case']}" for raw in ways)


def test_facets_are_named_by_the_settings_that_differ() -> None:
    own = cases(
        [
            poisson(n, ranks=ranks, exchange=exchange)
            for n in (64, 128)
            for ranks in (1, 2)
            for exchange in ("blocking", "nonblocking")
        ]
    )

    parts = facets(own, ("n", "nodes", "ppn"))
    assert [part.label for part in parts] == ["blocking", "nonblocking"]
    assert [len(part.cases) for part in parts] == [4, 4]

    by_layout = facets(own, ("exchange",))
    assert by_layout[0].label == "n = 64, 1 process"
    assert by_layout[-1].label == "n = 128, 2 processes"
    assert facets(own[:1], ())[0].label == ""


def test_requesting_a_surface_does_not_change_the_setting() -> None:
    own = cases([poisson(64), poisson(128, surface=9)])

    assert [part.label for part in facets(own, ("n",))] == [""]


def test_lists_of_sizes_distinguish_settings_only_as_a_last_resort() -> None:
    imb, osu = {"mode": "imb", "sizes": "0:4M"}, {"mode": "osu", "sizes": "0:1M"}

    assert varying([imb, osu]) == ["mode"]
    assert varying([imb, {**imb, "sizes": "8"}]) == ["sizes"]
    assert varying([imb, osu, {**osu, "sizes": "8"}]) == ["mode", "sizes"]


def test_derived_settings_are_not_part_of_a_name() -> None:
    one: Settings = {"variant": "sstep", "s": 2, "topology": "1x1", "ppn": 1}
    two: Settings = {"variant": "fused"}
    pair = {**one, "topology": "2x1", "ppn": 2}

    assert varying([one, {**two, "topology": "1x1", "ppn": 1}, pair]) == ["variant", "ppn"]
    assert varying([pair, {**pair, "topology": "1x2"}]) == ["topology"]
    assert varying([one, {**one, "s": 4}]) == ["s"]


def test_names_distinguish_a_case_from_others_of_its_kernel() -> None:
    own = cases([poisson(64), poisson(128), poisson(128, nodes=2, ranks=4), stream(ranks=2)])

    assert [label_of(case, own) for case in own] == [
        "n = 64, 1 node, 1 process per node",
        "n = 128, 1 node, 1 process per node",
        "n = 128, 2 nodes, 2 processes per node",
        "stream",
    ]
    assert name_of(own[0], own[:2]) == "poisson_cg: n = 64"
    assert row_name(own[0], own[:2]) == "n = 64"
    assert row_name(own[0], [own[0], own[3]]) == "poisson_cg"
    assert name_of(own[3], own) == "stream"


def test_one_thread_is_the_first_point_of_every_binding_of_threads() -> None:
    bound = [
        poisson(64, threads=threads, layout={"bind": "spread", "thread_bind": how})
        for threads in (2, 4)
        for how in ("close", "spread")
    ]
    parts = facets(
        cases([poisson(64, layout={"bind": "spread"}), *map(of_case, bound)]), ["threads"]
    )

    found = {
        part.settings["thread_bind"]: [case.number("threads") for case in part.cases]
        for part in parts
    }
    assert found == {"close": [1, 2, 4], "spread": [1, 2, 4]}


def test_one_thread_is_not_mentioned_if_processes_vary() -> None:
    shared_out = cases([poisson(64, ranks=2), poisson(64, threads=2)])
    threads = cases([poisson(64), poisson(64, threads=2)])

    assert [label_of(case, shared_out) for case in shared_out] == [
        "1 process, 2 threads",
        "2 processes",
    ]
    assert [label_of(case, threads) for case in threads] == ["1 thread", "2 threads"]


def test_tasks_of_uneven_nodes_stand_instead_of_processes_per_node() -> None:
    raws = [
        poisson(64, ranks=7, nodes=nodes, layout={"tasks": 7, "ppn": -(-7 // nodes)})
        for nodes in (2, 3)
    ]
    own = cases([of_case(raw) for raw in raws])

    assert [own_settings(case, own) for case in own] == [
        {"kernel": "poisson_cg", "tasks": 7, "nodes": nodes} for nodes in (2, 3)
    ]


def test_tasks_and_nodes_give_the_processes_per_node() -> None:
    """Where nodes differ in that, those of the fullest ones are named."""
    even = {"nodes": 8, "ppn": 2, "threads": 1, "tasks": 16}
    uneven = {**even, "nodes": 5, "ppn": 4}

    assert describe(even, ["nodes", "ppn", "tasks"]) == "8 nodes, 16 tasks"
    assert describe(even, ["ppn", "tasks"]) == "16 tasks"
    assert describe(even, ["nodes", "ppn"]) == "8 nodes, 2 processes per node"
    assert shows(describe(uneven, ["nodes", "ppn"]), "5 nodes", "most 4 ", "per node")
    assert describe(uneven, ["ppn"]) == "16 processes"


def test_select_accepts_values_and_lists_of_values() -> None:
    own = cases(
        [poisson(n, exchange=e) for n in (64, 128, 256) for e in ("blocking", "persistent")]
    )

    chosen = select(own, {"n": [64, 256], "exchange": "persistent"})

    assert [case.number("n") for case in chosen] == [64, 256]
    assert select(own, {"no such setting": 1}) == []
    assert values(own, "n") == [64, 128, 256]


def test_core_sharing_is_detected() -> None:
    shared, alone = (
        cases([poisson(64, layout={"oversubscribed": flag})])[0] for flag in (True, False)
    )

    assert shared.oversubscribed
    assert not alone.oversubscribed


def test_the_fixture_resembles_the_quick_study() -> None:
    kernels = {case.kernel for case in cases(recorded.quick())}

    assert kernels == {"stream", "pingpong", "poisson_cg"}


def test_simulated_replicates_vary_like_launches() -> None:
    simulation = {"cluster": "x", "spread": {"nodes": 0.02, "phases": 0.0, "seed": 1}}
    times = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    raws = [
        poisson(64, launch=k, time_s=time, clock="simulated", simulation=simulation)
        for k, time in enumerate(times)
    ]
    (case,) = cases(raws)

    assert (case.replicated, case.alike) == (True, False)
    assert case.time is not None
    assert (case.time.method, case.time.low, case.time.high) == ("rank interval", 1.0, 6.0)
