# SPDX-License-Identifier: BSD-3-Clause
"""Keys of what a program measured, inside a record."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

from haloscope.keys import Key
from haloscope.records.keys.inside import LONGEST_S, NOT_OURS, NOT_PRINTED, STAR_FORESTS


class Shape(TypedDict):
    """Data that a star forest moves."""

    messages: Annotated[int, Key("number of messages sent by the rank that writes the record")]
    remote_bytes: Annotated[
        int, Key("bytes sent to other ranks by the rank that writes the record", unit="bytes")
    ]
    local_bytes: Annotated[
        int, Key("bytes that stay on the rank that writes the record", unit="bytes")
    ]
    moved_bytes: Annotated[
        dict[str, float],
        Key(
            "bytes moved in memory by each part of the operation, on the rank that moves the most",
            unit="bytes",
        ),
    ]
    waits: NotRequired[
        Annotated[
            dict[str, int],
            Key(
                "number of waits for a device stream after the start of a broadcast and "
                "after the start of a reduction",
                absent="absent in older records",
            ),
        ]
    ]


class Point(TypedDict):
    """Measurements for one size of a sweep."""

    size_bytes: Annotated[int, Key("size of the message or the arrays", unit="bytes")]
    operation: Annotated[
        str | None,
        Key(
            "name of the collective operation or of the loop",
            absent="null if the kernel has only one",
        ),
    ]
    n: NotRequired[Annotated[int, Key("edge length of the cube", kernels=("sf_grid",))]]
    passes: NotRequired[
        Annotated[int, Key("number of passes over the arrays per step", kernels=("stream",))]
    ]
    messages: NotRequired[Annotated[int, Key("number of messages per step", kernels=("pingpong",))]]
    checked_messages: NotRequired[
        Annotated[int, Key("number of messages whose content was verified", kernels=("pingpong",))]
    ]
    shape: NotRequired[Annotated[Shape, Key("data that the operation moves", kernels=STAR_FORESTS)]]
    result: Annotated[
        dict[str, Any], Key("results that the kernel declares, as medians over repetitions")
    ]
    steps: Annotated[int, Key("number of steps per repetition", least=1)]
    times_s: Annotated[
        list[float],
        Key(
            "time per step on the slowest rank, one value per repetition", unit="s", most=LONGEST_S
        ),
    ]
    bytes: Annotated[float, Key("memory traffic of all ranks per step", unit="bytes")]


class TimeOverRanks(TypedDict):
    """A time over all ranks: minimum, mean, and maximum."""

    min: NotRequired[
        Annotated[
            float, Key("time on the fastest rank", unit="s", most=LONGEST_S, absent=NOT_PRINTED)
        ]
    ]
    mean: Annotated[float, Key("mean time over all ranks", unit="s", most=LONGEST_S)]
    max: NotRequired[
        Annotated[
            float, Key("time on the slowest rank", unit="s", most=LONGEST_S, absent=NOT_PRINTED)
        ]
    ]


class Phase(TypedDict):
    """A named part of a step, timed inside the step."""

    name: Annotated[str, Key("name of the phase")]
    calls: NotRequired[Annotated[int, Key("number of calls per step", absent=NOT_OURS)]]
    time_s: Annotated[TimeOverRanks, Key("time per step, mean over all timed steps")]
    median_s: NotRequired[
        Annotated[
            TimeOverRanks,
            Key("time per step, median over repetitions", absent="absent in older records"),
        ]
    ]
    bytes: NotRequired[
        Annotated[float, Key("memory traffic of all ranks per step", unit="bytes", absent=NOT_OURS)]
    ]
    flops: NotRequired[
        Annotated[
            float, Key("number of floating-point operations of all ranks per step", absent=NOT_OURS)
        ]
    ]
    model_s: Annotated[
        float | None,
        Key(
            "time per step on the slowest rank, as predicted by the node model",
            unit="s",
            absent="null without a node model, and for phases without computation",
            most=LONGEST_S,
        ),
    ]
    by_rank_s: NotRequired[
        Annotated[
            list[float],
            Key(
                "time per step on each rank; the other ranks wait for the slowest one",
                unit="s",
                absent="absent for phases without computation, for one rank, and if simulated",
                most=LONGEST_S,
            ),
        ]
    ]


class Part(TypedDict):
    """A part of a step, timed separately."""

    point: Annotated[int, Key("index of the point in `points`, counted from 0")]
    name: Annotated[str, Key("name of the part")]
    steps: Annotated[int, Key("number of steps per repetition")]
    times_s: Annotated[
        list[float], Key("time per step, one value per repetition", unit="s", most=LONGEST_S)
    ]


class Trace(TypedDict):
    """Timeline of one step of one point."""

    clock_error_s: Annotated[float, Key("largest error of the shared clock", unit="s")]
    ranks: Annotated[
        list[list[list[Any]]],
        Key(
            "calls of each rank as [phase, depth, begin, end], and device operations "
            "as [phase, 0, begin, end, stream] with the phase that launched them; "
            "times are seconds after the start of the step",
            unit="s",
        ),
    ]


class Rounds(TypedDict):
    """Accuracy of repetitions that start at a common time on a shared clock."""

    clock_error_s: Annotated[float, Key("largest error of the shared clock", unit="s")]
    repeated: Annotated[int, Key("number of rounds that were repeated because a rank started late")]
    late_s: Annotated[
        list[list[float]],
        Key(
            "delay of each round, one list per point",
            unit="s",
            absent="empty if no round was late",
            least=-LONGEST_S,
        ),
    ]


class Work(TypedDict):
    """Work of one step, summed over all points and ranks."""

    bytes: Annotated[float, Key("memory traffic of all ranks", unit="bytes")]
    flops: Annotated[float, Key("number of floating-point operations")]
    messages: Annotated[
        float, Key("number of messages sent, excluding messages inside collective operations")
    ]


class RecordedMemory(TypedDict):
    """Memory of all ranks together."""

    predicted_bytes: Annotated[int, Key("memory predicted by the plan", unit="bytes")]
    allocated_bytes: Annotated[
        int, Key("memory allocated for the arrays of the kernel", unit="bytes")
    ]
    rss_bytes: Annotated[
        int | None,
        Key("resident memory at the end of the launch", unit="bytes", absent="null if simulated"),
    ]
    peak_bytes: Annotated[
        int | None, Key("peak resident memory", unit="bytes", absent="null if simulated")
    ]


class Timer(TypedDict):
    """Timer that measured the times."""

    function: Annotated[str, Key("name of the function that reads the timer")]
    resolution_s: Annotated[float, Key("resolution of the timer", unit="s")]
    cost_s: Annotated[float, Key("time to read the timer once", unit="s")]
