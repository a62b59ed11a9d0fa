# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import re
from typing import Any

import pytest
from recorded import MACHINE, Raw, bad, cases, pingpong, poisson, quick, stream

from haloscope.papers import tables as papers
from haloscope.report.findings import cliffs, findings, topics
from haloscope.report.findings import layouts as layout_findings
from haloscope.report.tables import Context
from haloscope.study import kinds


def texts(raws: list[Raw]) -> list[str]:
    own = cases(raws)
    context = Context(shelf=papers.list_papers(), machine=MACHINE, all_cases=own)
    return [finding.text for finding in findings(own, context)]


def test_the_quick_study_in_plain_words() -> None:
    assert texts(quick()) == [
        "2 of 85 launches are in no table: 1 gave a wrong answer and 1 ran out of time. "
        "The notes name them.",
        "2 cores give 1.9 times the memory bandwidth of one (1.87 to 1.95 of 5 launches): 24.7 "
        "GB/s against 12.9 GB/s (triad).",
        "The fused solver moves 23.3 GB/s, 46 % of what stream's triad does (N = 1024, 24 MiB in "
        "L3, 2 cores, medians of 4 launches).",
        "The textbook solver moves 12.1 GB/s, 70 % of what stream's triad does (N = 1024, 32 MiB "
        "in L3, 1 core, medians of 4 launches).",
        "Variant fused against textbook, 2 settings (1 process): faster in 2 (2.15 to 2.17 times "
        "as fast, most with N = 512: 2.11 to 2.22 of 5 launches).",
        "With 2 processes, N = 1024 (fused, nonblocking) is solved 1.93 times as fast as with one "
        "(1.86 to 1.99 of 4 launches): an efficiency of 96 %.",
        "N = 1024 on one core takes 16.5 s (16.1 to 16.5 s of 4 launches) here (textbook); "
        "published (textbook): 18.9 s on tara (hpcf-2010-6, table 3.1) and 6.65 s on Stampede2 "
        "(hpcf-2018-10, table 3.1).",
        "Errors agree with the published ones within 0.01 %, iteration counts are the same (14 "
        "cases; tara, hpcf-2010-6, table 3.1).",
        "Exchange nonblocking against blocking, 3 settings (fused, 2 processes): faster in 3 (1.04 "
        "to 1.05 times as fast, median 1.04, most with N = 1024: 1.01 to 1.07 of 4 launches).",
        "Ping-pong, medians of 5 launches: 1 B take 456 ns one way; the highest bandwidth is 9.98 "
        "GB/s, at 256 KiB.",
    ]


def test_more_than_the_triad_moved_is_no_share_of_it() -> None:
    assert not any("stream's triad" in text for text in texts([stream(), poisson(512, time_s=0.1)]))


def test_what_a_cache_gives_is_not_called_the_memorys_bandwidth() -> None:
    raw = stream()
    raw["points"] = [point for point in raw["points"] if point["size_bytes"] == 2**15]

    assert texts([raw]) == []


def test_another_variant_beside_the_published_one_is_named() -> None:
    told = next(text for text in texts([poisson(1024, time_s=2.0)]) if "on one core" in text)

    assert told.startswith(
        "N = 1024 on one core takes 2.00 s (one launch) here (fused); published (textbook): "
        "18.9 s on tara "
    )


def test_the_fastest_of_several_settings_beside_the_published_one_says_so() -> None:
    close, spread = (
        poisson(1024, time_s=time, layout={"bind": bind})
        for bind, time in (("close", 3.0), ("spread", 2.0))
    )
    textbook = poisson(512, variant="textbook", time_s=0.5)

    told = next(text for text in texts([close, spread, textbook]) if "on one core" in text)

    assert "takes 2.00 s (one launch) here (fused, the fastest of 2 settings); published" in told


def test_of_names_of_one_program_the_fastest_is_not_of_settings() -> None:
    """One process exchanges nothing: what lies between two ways to do so is chance."""
    ways = [
        poisson(1024, time_s=time, exchange=exchange)
        for exchange, time in (("blocking", 3.0), ("nonblocking", 2.0))
    ]

    told = next(text for text in texts(ways) if "on one core" in text)

    assert "(fused, the fastest of 2 cases of one program); published" in told


def test_a_published_time_has_no_more_digits_than_its_paper_prints() -> None:
    told = next(text for text in texts([poisson(128, variant="textbook")]) if "on one core" in text)

    assert told.endswith("published: 0.03 s on tara (hpcf-2010-6, table 3.1).")


def test_ratios_have_their_interval_where_launches_allow_one() -> None:
    raws = [poisson(256, ranks=p, launch=k) for p in (1, 2) for k in range(6)]

    (scaling, *_) = texts(raws)

    assert scaling.startswith("With 2 processes, N = 256 is solved 1.9")
    assert "times as fast as with one (95 % interval 1." in scaling


def test_a_speedup_names_the_variant_and_calls_no_fixed_iterations_a_solve() -> None:
    def headline(iterations: int) -> str:
        raws = [
            poisson(256, ranks=p, variant=variant, time_s=time / p)
            for p in (1, 2)
            for variant, time in (("textbook", 4.0), ("fused", 2.0))
        ]
        for raw in raws:
            raw["params"]["iterations"] = iterations
        return next(text for text in texts(raws) if text.startswith("With 2 processes"))

    assert headline(0) == (
        "With 2 processes, N = 256 (fused) is solved 2.00 times as fast as with one (one launch, "
        "too few launches to tell): an efficiency of 100 %."
    )
    assert headline(16).startswith(
        "With 2 processes, an iteration at N = 256 (fused) is 2.00 times as fast as with one (one "
    )


def test_processes_with_threads_are_counted_as_cores() -> None:
    raws = [poisson(256, ranks=p, threads=4) for p in (1, 8)]

    (scaling,) = (text for text in texts(raws) if text.startswith("With "))

    assert scaling.startswith("With 32 cores, N = 256 is solved ")
    assert " times as fast as with 4 (one launch, " in scaling


def test_an_efficiency_above_one_names_the_caches_that_it_may_come_from() -> None:
    """Seven vectors of N = 256 are 3.7 MB: above the L2 of one core, below that of two."""
    ends = {}
    for variant in ("pipelined", "textbook"):
        raws = [
            {**raw, "case": f"{variant}-{p}", "params": {**raw["params"], "variant": variant}}
            for p in (1, 2)
            for raw in [poisson(256, ranks=p, time_s=1 / p**2)]
        ]
        (scaling,) = (text for text in texts(raws) if text.startswith("With "))
        ends[variant] = scaling.rpartition("efficiency of ")[2]

    assert ends == {
        "pipelined": "200 % (what a sweep goes through lies in L3 with 1, in L2 with 2).",
        "textbook": "200 % (by so few launches, more than 100 % is not shown).",
    }


def test_what_is_slower_is_said_to_take_longer() -> None:
    raws = [
        poisson(256, ranks=p, launch=k, time_s=p * time)
        for p in (1, 2)
        for k, time in enumerate((1.0, 1.01, 1.02, 1.03, 1.04, 1.05))
    ]

    (scaling, *_) = texts(raws)

    said = re.fullmatch(
        r"With 2 processes, N = 256 takes 2.00 times as long as with one "
        r"\(95 % interval 1.9\d to 2.0\d\): an efficiency of 25 %.",
        scaling,
    )
    assert said, scaling


def test_shared_cores_and_simulation_are_said() -> None:
    raws = [
        poisson(64, ranks=4, layout={"oversubscribed": True}),
        poisson(128, clock="simulated", simulation={"verified": False}),
    ]

    shared, simulated, *_ = texts(raws)

    assert shared.startswith("1 of 2 cases is oversubscribed: ")
    assert simulated == (
        "Times of 1 of 2 cases are simulated (‡): nothing ran there. Time alone was simulated, so "
        "that there is no answer to verify."
    )


def test_a_busy_machine_is_said_first() -> None:
    own = cases([poisson(64, launch=k, time_s=time) for k, time in enumerate((1.0, 1.2, 1.4))])
    context = Context(machine={**MACHINE, "busy_processors": 1.23}, all_cases=own)

    busy, uneven = findings(own, context)

    assert (busy.tone, uneven.tone) == ("warning", "warning")
    assert busy.text.startswith("Other programs kept 1.2 processors busy")
    assert uneven.text.startswith(
        "In the only case with several launches the slowest took more than 1.3 times as long"
    )


def test_what_is_larger_than_a_cache_and_still_served_by_it_in_part_is_said_to_be() -> None:
    """A triad over as large a set moves twice what the largest one does."""

    def solver(faster: float) -> str:
        triads = stream()
        for point in triads["points"]:
            if point["size_bytes"] == 2**27:
                point["times_s"] = [time / faster for time in point["times_s"]]
        (said,) = (text for text in texts([poisson(2048), triads]) if "solver moves" in text)
        return said

    assert "(N = 2048, 96 MiB in memory, 1 core, measured once" in solver(1.0)
    assert "caches" not in solver(1.0)
    assert solver(2.0).endswith(
        "; caches serve a part of it, as the triad, with lines read only to be overwritten, moves "
        "34.7 GB/s over 128 MiB, 17.2 GB/s over 256 MiB)."
    )


def test_one_number_of_cores_makes_no_comparison() -> None:
    assert texts([stream()]) == ["Memory bandwidth (triad) on 1 core, measured once: 12.9 GB/s."]


def test_nothing_good_leaves_nothing_to_say_but_that() -> None:
    raws = [bad(poisson(64), "failed", "killed"), bad(stream(), "timeout", "not done")]

    assert texts(raws) == [
        "2 of 2 launches are in no table: 1 failed and 1 ran out of time. The notes name them."
    ]


def test_one_launch_is_in_no_table_and_two_are() -> None:
    lost = [bad(poisson(64, launch=k), "failed", "killed") for k in (0, 1)]

    assert texts(lost[:1])[0].startswith("The only launch is in no table: it failed.")
    assert texts(lost)[0].startswith("2 of 2 launches are in no table: 2 failed.")


def test_errors_that_differ_from_the_published_are_not_passed_over() -> None:
    raw = poisson(1024)
    raw["result"]["error_max"] = 3.2e-6

    assert any("within 2.3 %, iteration counts are the same" in text for text in texts([raw]))


def test_other_iteration_counts_than_the_published_are_not_the_same() -> None:
    raw = poisson(1024)
    raw["result"]["iterations"] = 1583

    assert any("iteration counts within 0.1 %" in text for text in texts([raw]))


def test_meshes_each_twice_as_fine_say_how_their_errors_fall() -> None:
    (told,) = (
        text for text in texts([poisson(n) for n in (128, 256, 512, 1024)]) if "fine" in text
    )

    assert told == (
        "Where the mesh is twice as fine, the error is 3.97 to 4.00 times smaller (N = 128 to "
        "1024); second order gives about 4."
    )


def test_too_few_meshes_have_no_order() -> None:
    assert not any("second order" in text for text in texts([poisson(n) for n in (256, 512, 1024)]))
    assert not any("second order" in text for text in texts([poisson(n) for n in (64, 256, 1024)]))


def test_only_serial_times_stand_beside_published_serial_times() -> None:
    assert not any("published: " in text for text in texts([poisson(1024, ranks=2)]))


def layouts(*seconds: float, launches: int = 6) -> list[Raw]:
    """N = 256 on two cores: two processes and one process of two threads, seconds of each."""
    shapes = ((2, 1), (1, 2))
    return [
        poisson(256, ranks=ranks, threads=threads, launch=k, time_s=time * (1 + 0.01 * k))
        for (ranks, threads), time in zip(shapes, seconds, strict=True)
        for k in range(launches)
    ]


def test_the_fastest_layout_is_named_and_what_the_others_are_against_it() -> None:
    assert texts(layouts(2.0, 3.0))[-1] == (
        "N = 256 on 2 cores is fastest with 2 processes (2.05 s). "
        "Against it, slower: 1 process, 2 threads."
    )


def test_layouts_are_compared_on_as_many_nodes_and_simulated_trifles_are_equal() -> None:
    told: dict[str, Any] = {
        "clock": "simulated",
        "simulation": {"cluster": "stampede2", "verified": False},
    }

    def mapped(nodes: int, mapping: str, time_s: float) -> Raw:
        raw = poisson(256, nodes=nodes, ranks=16, time_s=time_s, **told)
        layout = {**raw["layout"], "mapping": mapping}
        return {**raw, "layout": layout, "case": f"{raw['case']}-{mapping}"}

    raws = [
        *(mapped(2, "block", 3.0), mapped(2, "random", 3.0001)),
        *(mapped(4, "block", 2.0), mapped(4, "random", 2.5)),
    ]

    assert texts(raws)[-1] == (
        "N = 256 on 16 cores of 2 nodes, simulated on stampede2, has its lowest time with block "
        "(3.00 s). Against it, equal: random."
    )


def test_a_simulated_layout_that_was_published_as_slower_says_so() -> None:
    """On 32 nodes of Stampede2: 9 s with a process a node, 7 s with two, 6 s with four and more."""

    def simulated(*seconds: float) -> list[str]:
        raws = [
            poisson(
                8192,
                nodes=32,
                ranks=32 * ppn,
                threads=32 // ppn,
                variant="textbook",
                exchange="nonblocking",
                time_s=time_s,
                clock="simulated",
                simulation={"cluster": "stampede2", "verified": False},
            )
            for ppn, time_s in zip((1, 2, 4), seconds, strict=True)
        ]
        paper = papers.load("hpcf-2018-10")
        context = Context(paper=paper, machine=MACHINE, all_cases=cases(raws))
        return [one.text for one in layout_findings.find(cases(raws), context)]

    (contrary,) = simulated(4.42, 4.58, 4.73)
    assert contrary.endswith(
        "is fastest with 32 processes, 32 threads (4.42 s). Against it, slower: 2 others. "
        "Published otherwise of this cluster: 00:00:06 with 128 processes, 8 threads, 00:00:09 "
        "with 32 processes, 32 threads (Stampede2, hpcf-2018-10, table 7.1)."
    )
    (alike,) = simulated(4.73, 4.58, 4.42)
    assert alike.endswith("Against it, slower: 2 others.")


def test_a_layout_is_not_called_slower_without_launches_enough_to_tell() -> None:
    assert texts(layouts(2.0, 3.0, launches=2))[-1].endswith(
        "Against it, too few launches to tell: 1 process, 2 threads."
    )


def test_bindings_alone_are_not_told_as_layouts_by_another_test() -> None:
    raws = [
        poisson(256, ranks=2, launch=k, time_s=time, layout={"bind": bind})
        for bind, time in (("close", 1.0), ("spread", 2.0))
        for k in range(4)
    ]

    (told,) = (text for text in texts(raws) if "spread" in text)

    assert told.startswith("Bind spread against close")


def times(raw: Raw, factor: float) -> Raw:
    """A ping-pong with all its times multiplied."""
    for point in raw["points"]:
        point["times_s"] = [factor * time for time in point["times_s"]]
    return raw


@pytest.mark.parametrize(
    ("factor", "changes", "said"),
    [
        (1, {}, None),
        (100, {}, None),  # 45 µs: TCP within a node does as much
        (1000, {}, "take 447 µs one way; more than 100 µs is not usual within a node"),
        (100, {"transport": "shm"}, "more than 20 µs is not usual by shared memory"),
        (1000, {"nodes": 2}, None),
        (1 / 30, {}, "less than a cache line needs between cores (20 ns)"),
        (1000, {"layout": {"oversubscribed": True}}, None),  # is said as such
    ],
)
def test_latencies_that_no_machine_has_are_remarked_on(
    factor: float, changes: dict[str, Any], said: str | None
) -> None:
    raws = [times(pingpong(launch=k, sizes=[8, 64], **changes), factor) for k in range(6)]
    found = [text for text in texts(raws) if "one way" in text and "Ping-pong:" not in text]

    assert len(found) == (said is not None)
    assert said is None or said in found[0]


@pytest.mark.parametrize(
    ("factor", "sizes", "said"),
    [
        (1, [2**20, 2**28], None),
        (1e-3, [2**20, 2**28], "more than cores can store (400 GB/s each)"),
        (1e4, [2**20, 2**28], "below any network in use (10.0 MB/s)"),
        (0.1, [2**20, 2**28], "at 256 MiB, which no cache holds, more than the memory gives"),
        (0.1, [2**20, 2**22], None),  # 4 MiB are in a cache of 32
    ],
)
def test_bandwidths_that_no_machine_has_are_remarked_on(
    factor: float, sizes: list[int], said: str | None
) -> None:
    raws = [times(pingpong(launch=k, sizes=sizes), factor) for k in range(6)]
    found = [text for text in texts([*raws, stream(ranks=2)]) if text.startswith("pingpong: ")]

    assert bool(found) == (said is not None)
    assert said is None or any(said in text for text in found)


def test_a_simulated_solve_that_a_cache_just_holds_is_near_a_step_of_the_model() -> None:
    """256 x 256 points of four vectors take 2 MiB, which is what a core's L2 holds here."""

    def told(edge: int, **changes: Any) -> list[str]:
        raws = [poisson(edge, variant="textbook", **changes)]
        own = cases(raws)
        return [one.text for one in cliffs.find(own, Context(machine=MACHINE, all_cases=own))]

    simulated: Raw = {"clock": "simulated", "simulation": {"cluster": "x", "verified": False}}
    (text,) = told(256, **simulated)
    assert text.startswith("Near a step of the model, simulated on x: ") and "(at L2)" in text
    assert told(1024, **simulated) == []
    assert told(256) == []


def messages(factor: float, **changes: Any) -> list[Raw]:
    return [times(pingpong(launch=k, sizes=[8, 2**20], **changes), factor) for k in range(6)]


def test_a_few_ways_to_exchange_messages_are_told_one_by_one() -> None:
    (told,) = (text for text in texts([*messages(1), *messages(2, mode="osu")]) if "Ping" in text)

    assert told == (
        "Ping-pong: 8 B take one way 447 ns (imb) and 894 ns (osu); the highest bandwidth is "
        "9.88 GB/s at 1 MiB (imb) and 4.94 GB/s at 1 MiB (osu)."
    )


def test_of_many_ways_to_exchange_messages_the_best_alone_is_told() -> None:
    raws = [raw for k in range(5) for raw in messages(1 + k, transport=f"t{k}")]
    (told,) = (text for text in texts(raws) if "Ping" in text)

    assert told.startswith("Ping-pong: 8 B take 447 ns one way (t0)")
    assert told.endswith("at 1 MiB (t0), of 5 settings.")


def test_streams_have_their_most_messages_and_most_bytes_a_second() -> None:
    raws = [*messages(1, mode="stream"), *messages(2, mode="bistream")]
    (told,) = (text for text in texts(raws) if "Streams" in text)

    assert told.startswith("Streams of messages: at most 2.24 M/s of 8 B each (stream); the ")
    assert told.endswith("9.88 GB/s, at 1 MiB (stream).")
    assert not any("Streams" in text for text in texts(messages(1)))


def test_the_topic_of_a_study_s_first_table_comes_before_all_but_what_spoils_it() -> None:
    order = [topic.__name__.rpartition(".")[2] for topic in topics("exchange")]
    usual = [topic.__name__.rpartition(".")[2] for topic in topics()]

    spoiling = order.index("exchange")
    assert order[:spoiling] == usual[:spoiling]
    assert usual[spoiling] == "solver"
    assert sorted(order) == sorted(usual)


def test_every_table_that_a_topic_answers_is_one_that_a_study_can_ask_for() -> None:
    named = {kind for topic in topics() for kind in getattr(topic, "ANSWERS", ())}

    assert named and named <= set(kinds.tables())
