# SPDX-License-Identifier: BSD-3-Clause
"""The record of one launch of one case, and the file of records that stands between run and report.

A file has one JSON object a line. Every record is synced to disk before the next case starts, so
that a crash costs at most the case in flight; a line that was cut off is dropped on reading.
"""

from __future__ import annotations

import gc
import json
import logging
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any

from haloscope.records import checked, keys, strict_json
from haloscope.records.keys import CLOCKS, LONGEST_S, OUTCOMES, Key
from haloscope.records.sharing import Sharing, case_of

SCHEMA = 1
_NOTHING = "if nothing was measured"
_EMPTY = "empty if there are none"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Record:
    """One launch of one case: what each key of the JSON object says, as docs/records.md has it.

    A key that is not there is None, or empty. raw: the JSON object itself.
    """

    schema: Annotated[int, Key("version of this format: 1", by="runner")]
    case: Annotated[str, Key("id of the case: a hash of its settings", by="runner")]
    launch: Annotated[int, Key("number of the launch, from 0", by="runner")]
    kernel: Annotated[str, Key("name of the kernel", by="runner")]
    params: Annotated[
        dict[str, Any], Key("all parameters of the kernel with their resolved values", by="runner")
    ]
    layout: Annotated[
        dict[str, Any],
        Key(
            "requested and actual places of ranks and threads",
            by="runner",
            keys=keys.RecordedLayout,
        ),
    ]
    toolchain: Annotated[
        dict[str, Any], Key("MPI library and build", by="runner", keys=keys.ToolchainUsed)
    ]
    clock: Annotated[
        str, Key(f"clock of the times: {', '.join(CLOCKS)}", by="runner", values=CLOCKS)
    ]
    outcome: Annotated[
        str,
        Key(f"{', '.join(OUTCOMES)} (not supported here)", by="runner", values=OUTCOMES),
    ]
    times_s: Annotated[
        list[float],
        Key(
            "time per step on the slowest rank, one value per repetition; of a sweep, the sum over "
            "points",
            by="halobench",
            unit="s",
            most=LONGEST_S,
            absent=f"empty {_NOTHING}",
        ),
    ]
    raw: dict[str, Any] = field(repr=False)
    reason: Annotated[
        str | None, Key("reason of the outcome", by="runner", absent="null for ok")
    ] = None
    transport: Annotated[
        str | None,
        Key("requested transport", by="runner", absent="null: the library's choice"),
    ] = None
    transport_seen: Annotated[
        str | None,
        Key(
            "transport that the library reported",
            by="runner",
            absent="null if not reported or simulated",
        ),
    ] = None
    runner: Annotated[str | None, Key("runner that wrote the record", by="runner")] = None
    steps: Annotated[
        int | None,
        Key("steps per repetition", by="halobench", absent=f"null for a sweep, and {_NOTHING}"),
    ] = None
    warmup: Annotated[
        int | None,
        Key("warm-up repetitions", by="halobench", absent=f"null {_NOTHING}"),
    ] = None
    synchronisation: Annotated[
        str | None,
        Key("how ranks start a repetition together", by="halobench", absent=f"null {_NOTHING}"),
    ] = None
    rounds: Annotated[
        dict[str, Any] | None,
        Key(
            "quality of the synchronised starts",
            by="halobench",
            absent=f"null for starts after a barrier; absent {_NOTHING}",
            keys=keys.Rounds,
        ),
    ] = None
    points: Annotated[
        list[dict[str, Any]],
        Key("sizes of a sweep", by="halobench", absent=_EMPTY, keys=keys.Point),
    ] = field(default_factory=list)
    phases: Annotated[
        list[dict[str, Any]],
        Key("phases of a step", by="halobench", absent=_EMPTY, keys=keys.Phase),
    ] = field(default_factory=list)
    parts: Annotated[
        list[dict[str, Any]],
        Key(
            "parts of a step, timed separately",
            by="halobench",
            absent=f"empty unless requested; absent {_NOTHING}",
            keys=keys.Part,
        ),
    ] = field(default_factory=list)
    timeline: Annotated[
        list[dict[str, Any]],
        Key(
            "all calls of one step of each point",
            by="halobench",
            absent=f"empty unless requested; absent {_NOTHING}",
            keys=keys.Trace,
        ),
    ] = field(default_factory=list)
    result: Annotated[
        dict[str, Any],
        Key("results that the kernel declares", by="halobench", absent=_EMPTY),
    ] = field(default_factory=dict)
    work: Annotated[
        dict[str, Any] | None,
        Key("work of one step", by="halobench", absent=f"null {_NOTHING}", keys=keys.Work),
    ] = None
    memory: Annotated[
        dict[str, Any] | None,
        Key(
            "memory of all ranks",
            by="halobench",
            absent=f"null {_NOTHING}",
            keys=keys.RecordedMemory,
        ),
    ] = None
    timer: Annotated[
        dict[str, Any] | None,
        Key(
            "clock used for the times",
            by="halobench",
            absent=f"null {_NOTHING}, or if simulated",
            keys=keys.Timer,
        ),
    ] = None
    device: Annotated[
        str | None,
        Key(
            "device of the kernel's memory: a GPU with its name and runtime; emulated (in the "
            "host's memory; times are not representative of a device); simulated (a GPU of the "
            "cluster file)",
            by="halobench",
            absent="absent for the host's memory",
        ),
    ] = None
    gpus: Annotated[
        list[dict[str, Any]] | None,
        Key(
            "GPU of each rank",
            by="halobench",
            absent="absent without a real GPU, and in older records",
            keys=keys.GpuOfRank,
        ),
    ] = None
    simulation: Annotated[
        dict[str, Any] | None,
        Key(
            "details of the simulation",
            by="runner",
            absent="absent if measured or not supported",
            keys=keys.Simulation,
        ),
    ] = None
    model: Annotated[
        dict[str, Any] | None,
        Key(
            "this machine's cluster file, from which model times are computed",
            by="runner",
            absent="null without one; absent if simulated",
            keys=keys.ModelUsed,
        ),
    ] = None
    allocation: Annotated[
        dict[str, Any] | None,
        Key(
            "nodes from a batch system; launches with equal job and restarts ran on the same nodes",
            by="runner",
            absent="absent without a batch system",
            keys=keys.AllocationUsed,
        ),
    ] = None
    tuning: Annotated[
        dict[str, Any] | None,
        Key(
            "the user's settings of the MPI library",
            by="runner",
            absent="absent if simulated or not supported, and in older records",
            keys=keys.TuningUsed,
        ),
    ] = None
    program: Annotated[
        dict[str, Any] | None,
        Key(
            "external program that ran as the kernel",
            by="runner",
            absent="absent for kernels of halobench, and if not supported",
            keys=keys.ProgramUsed,
        ),
    ] = None
    imported: Annotated[
        dict[str, Any] | None,
        Key(
            "the output of another benchmark that the record was made of",
            by="runner",
            absent="missing if haloscope ran or simulated the launch",
            keys=keys.ImportedFrom,
        ),
    ] = None
    machine: Annotated[
        dict[str, Any] | None,
        Key("machine that ran or was simulated", by="runner", keys=keys.Machine),
    ] = None
    command: Annotated[
        list[str] | None,
        Key("complete argument list", by="runner", absent="null if not supported"),
    ] = None
    started: Annotated[str | None, Key("start of the launch (UTC, ISO 8601)", by="runner")] = None
    ended: Annotated[str | None, Key("end of the launch (UTC, ISO 8601)", by="runner")] = None
    wall_s: Annotated[
        float | None,
        Key(
            "wall time of the whole launch on this machine; 0 if not supported",
            by="runner",
            unit="s",
            most=LONGEST_S,
        ),
    ] = None
    seed: Annotated[int | None, Key("seed of the order of launches", by="runner")] = None
    study: Annotated[str | None, Key("name of the study", by="runner")] = None
    run: Annotated[int | None, Key("number of the study's [[runs]] table, from 0", by="runner")] = (
        None
    )
    haloscope: Annotated[str | None, Key("version of haloscope", by="runner")] = None
    git: Annotated[
        dict[str, Any] | None,
        Key(
            "state of haloscope's sources",
            by="runner",
            absent="null outside a git checkout",
            keys=keys.Checkout,
        ),
    ] = None
    stderr: Annotated[
        str | None,
        Key(
            "last part of the printed output",
            by="runner",
            absent="absent for ok, and if not supported",
        ),
    ] = None
    stopped: Annotated[
        str | None,
        Key(
            "rule that ended the launches of a case, in its last record, if the study has a "
            "precision: narrow, count, time",
            by="campaign",
            absent="null otherwise; absent in the output of `once`",
        ),
    ] = None
    changed: Annotated[
        list[str],
        Key(
            "changes since the plan was made (library, compiler, sources, machine, cluster file)",
            by="campaign",
            absent="absent without --accept-change",
        ),
    ] = field(default_factory=list)

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Record:
        """The record in a JSON object that is one."""
        return cls(**{name: raw[name] for name in _keys()[0] if name in raw}, raw=dict(raw))

    @property
    def key(self) -> tuple[str, int]:
        """What it is the record of: case and launch."""
        return self.case, self.launch


@cache
def _keys() -> tuple[list[str], list[str]]:
    """All keys of a record, and those that it must have."""
    keys = [key for key in fields(Record) if key.name != "raw"]
    needed = [key.name for key in keys if key.default is MISSING and key.default_factory is MISSING]
    return [key.name for key in keys], needed


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Add one record to a file and see it on disk before returning.

    A line that a crash cut off is removed first: this record starts on a line of its own. OSError
    where the record does not fit on the disk, or can't be written whole: nothing of it is left.
    """
    line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    with path.open("ab+", buffering=0) as file:
        lacking_end = _end_last_line(file.fileno())
        size = os.fstat(file.fileno()).st_size
        try:
            _write_all(file.fileno(), lacking_end + line)
            os.fsync(file.fileno())
        except OSError as error:
            os.ftruncate(file.fileno(), size)
            raise OSError(error.errno, error.strerror, str(path)) from error


def _write_all(file: int, content: bytes) -> None:
    """Write everything: a write to a disk that fills up takes a part, and only the next fails."""
    while content:
        content = content[os.write(file, content) :]


def _end_last_line(file: int) -> bytes:
    """Cut off a last line that is no record; what is to be written for one that lacks its end."""
    size = os.fstat(file).st_size
    if size == 0 or os.pread(file, 1, size - 1) == b"\n":
        return b""
    start = _start_of_last_line(file, size)
    length = size - start
    if length < strict_json.LENGTH_LIMIT and _parsed(os.pread(file, length, start)) is not None:
        return b"\n"
    os.ftruncate(file, start)
    return b""


def _start_of_last_line(file: int, size: int) -> int:
    """Where the line begins that a file ends with, whose end may be lacking."""
    end = size
    while end > 0:
        begin = max(0, end - _AT_ONCE)
        if (before := os.pread(file, end - begin, begin).rfind(b"\n")) >= 0:
            return begin + before + 1
        end = begin
    return 0


_AT_ONCE = 2**20
"""_AT_ONCE is how many bytes are looked through at once, because most records have fewer."""


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        return strict_json.json_object(line)
    except ValueError:
        return None


def read(path: Path) -> list[Record]:
    """All records of a file, in the order they were made; [] if there is no file yet.

    Whatever is no record as docs/records.md has it is left out with a warning that names the line.
    The same case and launch may come several times, when it failed and was tried again: see
    `latest`. UserError where it is no ordinary file.
    """
    return [*_kept(path)[0]]


def no_records(path: Path) -> tuple[str, ...]:
    """What `read` leaves out of a file, a sentence a line: "line 8: params.s missing"."""
    return _kept(path)[1]


_Reading = tuple[tuple[Record, ...], tuple[str, ...]]
"""The records of a file, and what is no record, a sentence a line."""


def _kept(path: Path) -> _Reading:
    with suppress(OSError):
        status = path.stat()
        return _unchanged(path, status.st_ino, status.st_size, status.st_mtime_ns)
    return _read(path)


@lru_cache(maxsize=1)
def _unchanged(path: Path, *state: int) -> _Reading:
    """The records of a file in a state: a command needs those of its folder several times."""
    return _read(path)


def _read(path: Path) -> _Reading:
    left_out: list[tuple[int, str]] = []
    records = tuple(map(Record.of, whole(path, left_out)))
    return records, tuple(f"line {number}: {why}" for number, why in left_out)


WARNED = 5
"""WARNED is how many invalid lines are reported one by one: many mostly have the same reason."""


def whole(
    path: Path,
    left_out: list[tuple[int, str]] | None = None,
    *,
    cases: Collection[str] | None = None,
    tell: bool = True,
) -> Iterator[dict[str, Any]]:
    """The records of a file, one by one, each as its JSON object and whole: of what nothing is kept
    takes no memory. Else as `read`.

    left_out: to be told the number of each line that is no record, and why. cases: lines of others
    are passed over, not even parsed. tell: warn of what is left out.
    """
    left_out = [] if left_out is None else left_out
    right: dict[str, dict[str, Any]] = {}
    sharing = Sharing()
    with strict_json.opened(path) as file, _uncollected():
        for number, line in enumerate(strict_json.lines(file), start=1):
            if line is None:
                left_out.append((number, "longer than any record"))
                continue
            if not line.strip() or (cases is not None and case_of(line) not in cases):
                continue
            try:
                raw = _whole(line, sharing, right)
            except ValueError as error:
                cut_off = not line.endswith(b"\n") and _parsed(line) is None
                why = "the last record is incomplete" if cut_off else str(error)
                left_out.append((number, why))
                continue
            right[raw["case"]] = raw
            yield raw
    for number, why in left_out[:WARNED] if tell else ():
        _warn(f"{path}:{number}: skipped: {why}")
    if tell and len(left_out) > WARNED:
        _warn(f"{path}: {len(left_out)} invalid lines skipped in total")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without Python's search for garbage, which would look through all records again and again.

    Not later either, where there are many: they are needed as long as the command runs.
    """
    before, objects = gc.isenabled(), gc.get_count()[0]
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] - objects > MANY_OBJECTS:
            gc.freeze()
        if before:
            gc.enable()


MANY_OBJECTS = 100_000
"""MANY_OBJECTS is from how many objects on a search for garbage among them costs more than some
milliseconds: those of about a thousand records."""


def _whole(line: bytes, sharing: Sharing, right: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The record in a line. ValueError, in words, where it is none. right: the last, by case."""
    raw = sharing.read(line)
    if raw.get("schema") != SCHEMA:
        what = f"schema is {raw.get('schema')}, but this version of haloscope supports {SCHEMA}"
        raise ValueError(what)
    if missing := [name for name in _keys()[1] if name not in raw]:
        raise ValueError(f"{', '.join(missing)} missing")
    case = raw["case"]
    earlier = right.get(case) if isinstance(case, str) else None
    if problem := checked.wrong(raw, Record, earlier):
        raise ValueError(problem)
    return raw


@cache
def _warn(line: str) -> None:
    """Once: one command reads the same file for several purposes."""
    _log.warning(line)


def latest(records: Iterable[Record]) -> list[Record]:
    """The last record of each case and launch."""
    return list({record.key: record for record in records}.values())
