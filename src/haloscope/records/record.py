# SPDX-License-Identifier: BSD-3-Clause
"""The record of one launch of one case, as written by runs and read by reports.

A file has one JSON object per line. Every record is synced to disk before the next case starts, so
a crash costs at most the running case. An incomplete line is dropped on reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Annotated, Any

from haloscope.keys import Key
from haloscope.records.keys import inside as keys
from haloscope.records.keys import machine as machine_keys
from haloscope.records.keys import measured as measured_keys
from haloscope.records.keys.inside import CLOCKS, LONGEST_S, OUTCOMES

_NOTHING = "if nothing was measured"
_EMPTY = "empty if there are none"


@dataclass(frozen=True, slots=True)
class Record:
    """One launch of one case, with the keys of docs/records.md.

    A missing key is None, or empty. names: all keys of the JSON object, in their order; many
    records share one tuple. more: the values of undeclared keys.
    """

    schema: Annotated[int, Key("version of the record format: 1", by="runner")]
    case: Annotated[str, Key("id of the case: a hash of its settings", by="runner")]
    launch: Annotated[int, Key("number of the launch, counted from 0", by="runner")]
    kernel: Annotated[str, Key("name of the kernel", by="runner")]
    params: Annotated[
        dict[str, Any], Key("all parameters of the kernel with their resolved values", by="runner")
    ]
    layout: Annotated[
        dict[str, Any],
        Key(
            "requested and actual placement of ranks and threads",
            by="runner",
            keys=keys.RecordedLayout,
        ),
    ]
    toolchain: Annotated[
        dict[str, Any],
        Key("MPI library, and build of halobench", by="runner", keys=keys.ToolchainUsed),
    ]
    clock: Annotated[
        str,
        Key(f"type of the clock for the times: {' or '.join(CLOCKS)}", by="runner", values=CLOCKS),
    ]
    outcome: Annotated[
        str,
        Key(
            f"outcome of the launch: {', '.join(OUTCOMES)} (the case is not supported here)",
            by="runner",
            values=OUTCOMES,
        ),
    ]
    times_s: Annotated[
        list[float],
        Key(
            "time per step on the slowest rank, one value per repetition; for a sweep, "
            "the sum over its points",
            by="halobench",
            unit="s",
            most=LONGEST_S,
            absent=f"empty {_NOTHING}",
        ),
    ]
    names: tuple[str, ...] = field(repr=False)
    more: dict[str, Any] = field(repr=False)
    reason: Annotated[
        str | None, Key("reason for the outcome", by="runner", absent="null if the outcome is ok")
    ] = None
    transport: Annotated[
        str | None, Key("requested transport", by="runner", absent="null if the library chooses")
    ] = None
    transport_seen: Annotated[
        str | None,
        Key(
            "transport that the library reported",
            by="runner",
            absent="null if none was reported, or if simulated",
        ),
    ] = None
    runner: Annotated[str | None, Key("name of the runner that wrote the record", by="runner")] = (
        None
    )
    steps: Annotated[
        int | None,
        Key(
            "number of steps per repetition",
            by="halobench",
            absent=f"null for a sweep, or {_NOTHING}",
        ),
    ] = None
    warmup: Annotated[
        int | None, Key("number of warm-up repetitions", by="halobench", absent=f"null {_NOTHING}")
    ] = None
    synchronisation: Annotated[
        str | None,
        Key(
            "method by which all ranks start a repetition together",
            by="halobench",
            absent=f"null {_NOTHING}",
        ),
    ] = None
    rounds: Annotated[
        dict[str, Any] | None,
        Key(
            "accuracy of the synchronised starts",
            by="halobench",
            absent=f"null if repetitions start after a barrier; absent {_NOTHING}",
            keys=measured_keys.Rounds,
        ),
    ] = None
    points: Annotated[
        list[dict[str, Any]],
        Key(
            "measurements for each size of a sweep",
            by="halobench",
            absent=_EMPTY,
            keys=measured_keys.Point,
        ),
    ] = field(default_factory=list)
    phases: Annotated[
        list[dict[str, Any]],
        Key(
            "phases of a step, with their times",
            by="halobench",
            absent=_EMPTY,
            keys=measured_keys.Phase,
        ),
    ] = field(default_factory=list)
    parts: Annotated[
        list[dict[str, Any]],
        Key(
            "parts of a step, timed separately",
            by="halobench",
            absent=f"empty unless requested; absent {_NOTHING}",
            keys=measured_keys.Part,
        ),
    ] = field(default_factory=list)
    timeline: Annotated[
        list[dict[str, Any]],
        Key(
            "timeline of all calls in one step of each point",
            by="halobench",
            absent=f"empty unless requested; absent {_NOTHING}",
            keys=measured_keys.Trace,
        ),
    ] = field(default_factory=list)
    result: Annotated[
        dict[str, Any], Key("results that the kernel declares", by="halobench", absent=_EMPTY)
    ] = field(default_factory=dict)
    work: Annotated[
        dict[str, Any] | None,
        Key(
            "work of one step: memory traffic, operations, and messages",
            by="halobench",
            absent=f"null {_NOTHING}",
            keys=measured_keys.Work,
        ),
    ] = None
    memory: Annotated[
        dict[str, Any] | None,
        Key(
            "memory use of all ranks together",
            by="halobench",
            absent=f"null {_NOTHING}",
            keys=measured_keys.RecordedMemory,
        ),
    ] = None
    timer: Annotated[
        dict[str, Any] | None,
        Key(
            "timer that measured the times",
            by="halobench",
            absent=f"null {_NOTHING}, or if simulated",
            keys=measured_keys.Timer,
        ),
    ] = None
    device: Annotated[
        str | None,
        Key(
            "device whose memory contains the data of the kernel: a GPU with its name "
            "and runtime, emulated (host memory is used and times are not "
            "representative of a device), or simulated (a GPU of the cluster file)",
            by="halobench",
            absent="absent if the data is in host memory",
        ),
    ] = None
    gpus: Annotated[
        list[dict[str, Any]] | None,
        Key(
            "GPU of each rank",
            by="halobench",
            absent="absent without a real GPU, and in older records",
            keys=machine_keys.GpuOfRank,
        ),
    ] = None
    simulation: Annotated[
        dict[str, Any] | None,
        Key(
            "details of the simulation",
            by="runner",
            absent="absent if measured, and for unsupported cases",
            keys=machine_keys.Simulation,
        ),
    ] = None
    model: Annotated[
        dict[str, Any] | None,
        Key(
            "this machine's cluster file, from which model times are computed",
            by="runner",
            absent="null without such a file; absent if simulated",
            keys=machine_keys.ModelUsed,
        ),
    ] = None
    allocation: Annotated[
        dict[str, Any] | None,
        Key(
            "nodes allocated by a batch system; launches with the same values of `job` "
            "and `restarts` ran on the same nodes",
            by="runner",
            absent="absent without a batch system",
            keys=machine_keys.AllocationUsed,
        ),
    ] = None
    tuning: Annotated[
        dict[str, Any] | None,
        Key(
            "the user's settings of the MPI library",
            by="runner",
            absent="absent if simulated, for unsupported cases, and in older records",
            keys=keys.TuningUsed,
        ),
    ] = None
    program: Annotated[
        dict[str, Any] | None,
        Key(
            "external program that ran as the kernel",
            by="runner",
            absent="absent for kernels of halobench, and for unsupported cases",
            keys=keys.ProgramUsed,
        ),
    ] = None
    imported: Annotated[
        dict[str, Any] | None,
        Key(
            "output of another benchmark from which the record was made",
            by="runner",
            absent="absent if haloscope ran or simulated the launch",
            keys=keys.ImportedFrom,
        ),
    ] = None
    machine: Annotated[
        dict[str, Any] | None,
        Key(
            "machine on which the case ran, or which was simulated",
            by="runner",
            keys=machine_keys.Machine,
        ),
    ] = None
    command: Annotated[
        list[str] | None,
        Key(
            "complete command line of the launch, as a list of arguments",
            by="runner",
            absent="null for unsupported cases",
        ),
    ] = None
    started: Annotated[str | None, Key("start time of the launch (UTC, ISO 8601)", by="runner")] = (
        None
    )
    ended: Annotated[str | None, Key("end time of the launch (UTC, ISO 8601)", by="runner")] = None
    wall_s: Annotated[
        float | None,
        Key(
            "wall time of the whole launch on this machine; 0 for unsupported cases",
            by="runner",
            unit="s",
            most=LONGEST_S,
        ),
    ] = None
    seed: Annotated[int | None, Key("seed of the random order of launches", by="runner")] = None
    study: Annotated[str | None, Key("name of the study", by="runner")] = None
    run: Annotated[
        int | None, Key("index of the study's [[runs]] table, counted from 0", by="runner")
    ] = None
    haloscope: Annotated[str | None, Key("version of haloscope", by="runner")] = None
    git: Annotated[
        dict[str, Any] | None,
        Key(
            "state of haloscope's sources",
            by="runner",
            absent="null outside a git checkout",
            keys=machine_keys.Checkout,
        ),
    ] = None
    stderr: Annotated[
        str | None,
        Key(
            "last part of the printed output",
            by="runner",
            absent="absent if the outcome is ok, and for unsupported cases",
        ),
    ] = None
    stopped: Annotated[
        str | None,
        Key(
            "rule that ended the launches, in the last record of a case: narrow, "
            "count, or time in a study with a precision; parted if measured advice "
            "ended the launches of all cases together",
            by="campaign",
            absent="null in all other records; absent in the output of `once`",
        ),
    ] = None
    changed: Annotated[
        list[str],
        Key(
            "changes since the plan was made (library, compiler, sources, machine, or "
            "cluster file)",
            by="campaign",
            absent="absent without --accept-change",
        ),
    ] = field(default_factory=list)

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Record:
        """Return the record of a valid JSON object."""
        names, own, more = _named(tuple(raw))
        return cls(
            names=names,
            more={name: raw[name] for name in more},
            **{name: raw[name] for name in own},
        )

    @property
    def raw(self) -> dict[str, Any]:
        """The JSON object, created on demand: keeping tens of thousands would take much memory."""
        return {
            name: self.more[name] if name in self.more else getattr(self, name)
            for name in self.names
        }

    @property
    def key(self) -> tuple[str, int]:
        """Case and launch."""
        return self.case, self.launch


@cache
def _named(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the keys of a JSON object: all, declared ones, and others; equal tuples are shared."""
    known = {*key_names()[0]}
    own = tuple(name for name in names if name in known)
    return names, own, tuple(name for name in names if name not in known)


@cache
def key_names() -> tuple[list[str], list[str]]:
    """Return all keys of a record, and the required ones."""
    keys = [key for key in fields(Record) if key.name not in ("names", "more")]
    needed = [key.name for key in keys if key.default is MISSING and key.default_factory is MISSING]
    return [key.name for key in keys], needed
