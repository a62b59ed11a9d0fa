# SPDX-License-Identifier: BSD-3-Clause
"""Keys of what a program measured, inside a record."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

from haloscope.records.keys.inside import LONGEST_S, NOT_OURS, NOT_TOLD, STAR_FORESTS, Key


class Shape(TypedDict):
    """Data that a star forest moves."""

    messages: Annotated[int, Key("messages sent by the rank that writes the record")]
    remote_bytes: Annotated[int, Key("bytes that it sends to other ranks", unit="bytes")]
    local_bytes: Annotated[int, Key("bytes that stay on it", unit="bytes")]
    moved_bytes: Annotated[
        dict[str, float],
        Key("bytes moved in memory by part, on the rank with the most", unit="bytes"),
    ]
    waits: NotRequired[
        Annotated[
            dict[str, int],
            Key(
                "waits for a device stream after the start of a broadcast and of a reduction",
                absent="absent in older records",
            ),
        ]
    ]


class Point(TypedDict):
    """One size of a sweep."""

    size_bytes: Annotated[int, Key("size of the message or the arrays", unit="bytes")]
    operation: Annotated[
        str | None, Key("collective or loop", absent="null if the kernel has only one")
    ]
    n: NotRequired[Annotated[int, Key("edge length of the cube", kernels=("sf_grid",))]]
    passes: NotRequired[Annotated[int, Key("passes over the arrays per step", kernels=("stream",))]]
    messages: NotRequired[Annotated[int, Key("messages per step", kernels=("pingpong",))]]
    checked_messages: NotRequired[
        Annotated[int, Key("messages whose content was verified", kernels=("pingpong",))]
    ]
    shape: NotRequired[Annotated[Shape, Key("data that it moves", kernels=STAR_FORESTS)]]
    result: Annotated[
        dict[str, Any], Key("results that the kernel declares, medians over repetitions")
    ]
    steps: Annotated[int, Key("steps per repetition", least=1)]
    times_s: Annotated[
        list[float],
        Key(
            "time per step on the slowest rank, one value per repetition", unit="s", most=LONGEST_S
        ),
    ]
    bytes: Annotated[float, Key("memory traffic per step of all ranks", unit="bytes")]


class TimeOverRanks(TypedDict):
    """A time on all ranks."""

    min: NotRequired[
        Annotated[float, Key("fastest rank", unit="s", most=LONGEST_S, absent=NOT_TOLD)]
    ]
    mean: Annotated[float, Key("mean over ranks", unit="s", most=LONGEST_S)]
    max: NotRequired[
        Annotated[float, Key("slowest rank", unit="s", most=LONGEST_S, absent=NOT_TOLD)]
    ]


class Phase(TypedDict):
    """A named part of a step, timed inside the step."""

    name: Annotated[str, Key("name of the phase")]
    calls: NotRequired[Annotated[int, Key("calls per step", absent=NOT_OURS)]]
    time_s: Annotated[TimeOverRanks, Key("time per step, mean over all timed steps")]
    median_s: NotRequired[
        Annotated[
            TimeOverRanks,
            Key("time per step, median over repetitions", absent="absent in older records"),
        ]
    ]
    bytes: NotRequired[
        Annotated[float, Key("memory traffic per step of all ranks", unit="bytes", absent=NOT_OURS)]
    ]
    flops: NotRequired[
        Annotated[float, Key("floating-point operations per step of all ranks", absent=NOT_OURS)]
    ]
    model_s: Annotated[
        float | None,
        Key(
            "time per step by the node model, on the slowest rank",
            unit="s",
            absent="null without a node model or computation",
            most=LONGEST_S,
        ),
    ]
    by_rank_s: NotRequired[
        Annotated[
            list[float],
            Key(
                "time per step of each rank: the others wait for the slowest",
                unit="s",
                absent="absent without computation, on one rank, and if simulated",
                most=LONGEST_S,
            ),
        ]
    ]


class Part(TypedDict):
    """A part of a step, timed separately."""

    point: Annotated[int, Key("index in `points`, from 0")]
    name: Annotated[str, Key("name of the part")]
    steps: Annotated[int, Key("steps per repetition")]
    times_s: Annotated[
        list[float], Key("time per step, one value per repetition", unit="s", most=LONGEST_S)
    ]


class Trace(TypedDict):
    """Timeline of one step of one point."""

    clock_error_s: Annotated[float, Key("largest error of the shared clock", unit="s")]
    ranks: Annotated[
        list[list[list[Any]]],
        Key(
            "calls of each rank, in seconds after the start: [phase, depth, begin, end]; device "
            "operations, by the phase that launched them: [phase, 0, begin, end, stream]",
            unit="s",
        ),
    ]


class Rounds(TypedDict):
    """Quality of starts at a common time on a shared clock."""

    clock_error_s: Annotated[float, Key("largest error of the shared clock", unit="s")]
    repeated: Annotated[int, Key("rounds repeated because a rank started late")]
    late_s: Annotated[
        list[list[float]],
        Key(
            "delay of each round, by point",
            unit="s",
            absent="empty if none was late",
            least=-LONGEST_S,
        ),
    ]


class Work(TypedDict):
    """Work of one step of all points on all ranks."""

    bytes: Annotated[float, Key("memory traffic", unit="bytes")]
    flops: Annotated[float, Key("floating-point operations")]
    messages: Annotated[float, Key("messages sent, excluding those inside collectives")]


class RecordedMemory(TypedDict):
    """Memory of all ranks together."""

    predicted_bytes: Annotated[int, Key("predicted by the plan", unit="bytes")]
    allocated_bytes: Annotated[int, Key("allocated for the kernel's arrays", unit="bytes")]
    rss_bytes: Annotated[
        int | None, Key("resident memory at the end", unit="bytes", absent="null if simulated")
    ]
    peak_bytes: Annotated[
        int | None, Key("largest resident memory", unit="bytes", absent="null if simulated")
    ]


class Timer(TypedDict):
    """Clock used for the times."""

    function: Annotated[str, Key("name of its function")]
    resolution_s: Annotated[float, Key("resolution", unit="s")]
    cost_s: Annotated[float, Key("cost of a reading", unit="s")]
