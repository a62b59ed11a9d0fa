# SPDX-License-Identifier: BSD-3-Clause
import errno
import json
import logging
import os
import random
import re
import resource
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from noted import shows
from recorded import case_id, quick

from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.records import strict_json
from haloscope.records.log import append, latest, read, reading
from haloscope.records.record import Record
from haloscope.study.case import identity


def record(launch: int = 0, **more: Any) -> dict[str, Any]:
    raw = {
        "schema": 1,
        "launch": launch,
        "kernel": "fake",
        "params": {"n": 8},
        "layout": {
            **{"nodes": 1, "ppn": 2, "ranks": 2, "threads": 1},
            **{"places": "cores", "bind": "close"},
        },
        "toolchain": {"name": "fake"},
        "transport": None,
        "clock": "wall",
        "outcome": "ok",
        "times_s": [0.5],
    }
    return {**raw, "case": case_id(raw), **more}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "records.jsonl"


def test_appended_records_are_read_back(file: Path) -> None:
    first, second = record(result={"error_max": 1e-6}, wall_s=2.5), record(launch=1, extra="kept")
    append(file, first)
    append(file, second)
    one, other = read(file)
    assert (one.case, one.launch, one.times_s, one.wall_s) == (first["case"], 0, [0.5], 2.5)
    assert one.result == {"error_max": 1e-6}
    assert (one.memory, one.reason, one.points) == (None, None, [])
    assert other.raw == second
    assert file.read_text().count("\n") == 2


def test_a_record_is_flushed_to_disk_before_append_returns(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_size))
    append(file, record())
    assert synced == [file.stat().st_size]


def test_a_missing_file_has_no_records(file: Path) -> None:
    assert read(file) == []


def test_a_truncated_line_is_dropped_with_a_warning(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    append(file, record())
    file.write_bytes(file.read_bytes() + json.dumps(record(launch=1)).encode()[:40])
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert [one.launch for one in read(file)] == [0]
    (line,) = caplog.messages
    assert line.startswith(f"{file}:2: ")


def test_appending_after_a_truncated_line_starts_a_new_line(file: Path) -> None:
    append(file, record())
    file.write_bytes(file.read_bytes() + b'{"schema":1,"case":"c0f')
    append(file, record(launch=1))
    assert [json.loads(line)["launch"] for line in file.read_text().splitlines()] == [0, 1]


def test_appending_keeps_a_complete_line_without_a_newline(file: Path) -> None:
    file.write_text(json.dumps(record()))
    append(file, record(launch=1))
    assert [one.launch for one in read(file)] == [0, 1]


def test_a_malformed_line_in_the_middle_is_named_and_skipped(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [
        json.dumps(record()),
        "garbage",
        "[1]",
        json.dumps(record(schema=2)),
        '{"schema": 1, "case": "c0ffee", "launch": 0}',
        json.dumps(record(launch=1)),
    ]
    file.write_text("\n".join(lines) + "\n")
    with caplog.at_level(logging.WARNING):
        assert [one.launch for one in read(file)] == [0, 1]
    assert [re.match(r".*?:\d+: ", line)[0] for line in caplog.messages] == [  # type: ignore[index]
        f"{file}:2: ",
        f"{file}:3: ",
        f"{file}:4: ",
        f"{file}:5: ",
    ]
    missing = caplog.messages[3].rpartition(": ")[2].removesuffix(" missing").split(", ")
    assert missing[0].endswith("kernel")
    assert missing[1:] == ["params", "layout", "toolchain", "clock", "outcome", "times_s"]


def test_of_many_invalid_lines_only_the_first_are_named(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file.write_text("garbage\n" * 28)
    with caplog.at_level(logging.WARNING):
        assert read(file) == []
    assert len(caplog.messages) == 6
    assert caplog.messages[4].startswith(f"{file}:5: ")
    assert caplog.messages[5].startswith(f"{file}: 28 ")
    assert reading(file).left_out[27].split(": ") == ["line 28", "not a JSON object"]


HUGE = "1" + "0" * 400


def timeline(depth: object) -> list[dict[str, Any]]:
    """Of one rank with two calls, the second at some depth."""
    ranks = [[["step", 0, 0, 1], ["halo", depth, 0, 1]]]
    return [{"clock_error_s": 0, "ranks": ranks}]


def good(**changes: Any) -> dict[str, Any]:
    """Results of a kernel with a bound on its error."""
    return {"error_max": 1e-10, "error_max_bound": 1e-9, **changes}


POINT: dict[str, Any] = {"size_bytes": 8, "operation": None, "result": {}, "steps": 1, "bytes": 0}


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        ({"times_s": [-0.5]}, "times_s#1: invalid value -0.5"),
        ({"times_s": [0.5, 0]}, "times_s#2: invalid value 0"),
        ({"times_s": [1e-300]}, "times_s#1: invalid value 1e-300"),
        ({"times_s": [1e300]}, "times_s#1: invalid value 1e+300"),
        ({"times_s": [True]}, "times_s#1: invalid value true"),
        ({"times_s": [None]}, "times_s#1: invalid value null"),
        ({"times_s": ["0.5"]}, """times_s#1: invalid value "0.5\""""),
        ({"times_s": None}, "times_s: invalid value null"),
        ({"times_s": []}, "times_s is empty"),
        ({"points": [{**POINT, "times_s": [-1]}]}, "points#1.times_s#1: invalid value -1"),
        ({"points": [{**POINT, "times_s": [0]}]}, "points#1.times_s#1: invalid value 0"),
        ({"clock": "simulated", "times_s": [0, 1e-300]}, "times_s#2: invalid value 1e-300"),
        ({"points": [{"times_s": [1]}]}, "points#1.size_bytes missing"),
        ({"points": {}}, "points: invalid value {}"),
        (
            {"timeline": timeline("x")},
            """timeline#1.ranks#1#2: invalid value ["halo", "x", 0, 1]""",
        ),
        ({"timeline": timeline(True)}, "timeline#1.ranks#1#2: invalid value"),
        (
            {"result": good(error_max=2e-9)},
            "result.error_max: invalid value 2e-09, must",
        ),
        (
            {"result": good(error_max=-1)},
            ("result.error_max: invalid value -1, ", "at most 1e-09"),
        ),
        ({"result": good(error_max=None)}, "result.error_max: invalid value null"),
        ({"result": good(error_max="0")}, """result.error_max: invalid value "0\""""),
        ({"result": good(error_max_bound=True)}, " at most true"),
        ({"case": [1]}, "case: invalid value [1]"),
        ({"launch": -1}, "launch: invalid value -1"),
        ({"launch": 0.5}, "launch: invalid value 0.5"),
        ({"outcome": "fine"}, """outcome: invalid value "fine\""""),
        ({"clock": "sun"}, """clock: invalid value "sun\""""),
        ({"params": [1]}, "params: invalid value [1]"),
        ({"layout": {}}, "layout.nodes missing"),
        ({"toolchain": {"name": 1}}, "toolchain.name: invalid value 1"),
        ({"machine": {"cores": "many"}}, """machine.cores: invalid value "many\""""),
        ({"wall_s": -1}, "wall_s: invalid value -1"),
        ({"changed": "all"}, """changed: invalid value "all\""""),
    ],
)
def test_an_invalid_record_is_skipped_with_file_and_line(
    file: Path,
    caplog: pytest.LogCaptureFixture,
    damage: dict[str, Any],
    what: str | tuple[str, ...],
) -> None:
    lines = [json.dumps(one) for one in (record(), record(**damage), record(launch=1))]
    file.write_text("\n".join(lines) + "\n")

    assert [one.launch for one in read(file)] == [0, 1]

    (message,) = caplog.messages
    assert message.startswith(f"{file}:2: ")
    assert shows(message, *((what,) if isinstance(what, str) else what))


def test_answers_with_and_without_a_bound_are_read(file: Path) -> None:
    unbound = {"error_max": None, "error_max_bound": None}
    for launch, result in enumerate((good(), good(error_max=1e-9), unbound, {"error_max": 5})):
        append(file, record(launch=launch, result=result))
    append(file, record(launch=4, result=good(error_max=5), outcome="wrong"))

    assert len(read(file)) == 5


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("0.5", "NaN", "NaN"),
        ("0.5", "1e400", "too large: 1e400"),
        ("0.5", HUGE, f"too large: {HUGE[:20]}"),
        ('"n": 8', f'"n": {HUGE}', f"too large: {HUGE[:20]}"),
        ('"n": 8', '"n": 8, "n": 9', "'n'"),
        ('"launch": 0', '"launch": 0, "launch": 1', "'launch'"),
        ('"n": 8', '"n": ' + "[" * 99999 + "]" * 99999, "nested too deeply"),
        ("fake", "f\\udcffke", "not UTF-8"),
    ],
    ids=lambda text: text[:30],
)
def test_json_that_is_not_a_valid_record_is_skipped(
    file: Path, caplog: pytest.LogCaptureFixture, old: str, new: str, what: str
) -> None:
    damaged = json.dumps(record()).replace(old, new).encode().replace(b"\\udcff", b"\xff")
    file.write_bytes(damaged + b"\n" + json.dumps(record(launch=1)).encode() + b"\n")

    assert [one.launch for one in read(file)] == [1]

    (line,) = caplog.messages
    assert line.startswith(f"{file}:1: ") and what in line


@pytest.mark.parametrize("depth", [51, 500, 900, 5000])
@pytest.mark.parametrize(("begin", "end"), ["[]", ('{"a":', "}")])
def test_deeply_nested_json_is_handled(
    file: Path, caplog: pytest.LogCaptureFixture, depth: int, begin: str, end: str
) -> None:
    deep = json.dumps(record(result={"a": 5})).replace(
        "5}", begin * depth + "1" + end * depth + "}"
    )
    file.write_text(deep + "\n" + json.dumps(record(launch=1)) + "\n")

    assert [one.launch for one in read(file)] == [1]

    (line,) = caplog.messages
    assert line.startswith(f"{file}:1: ")


def test_brackets_in_strings_do_not_count_as_nesting(file: Path) -> None:
    append(file, record(reason="[" * 99 + "}{" * 99, outcome="failed", times_s=[]))
    assert len(read(file)) == 1


def test_an_overlong_line_is_skipped_without_loading_it(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strict_json, "LENGTH_LIMIT", 2**21)
    append(file, record())
    with file.open("r+b") as opened:
        opened.seek(0, os.SEEK_END)
        opened.truncate(opened.tell() + 2**26)  # of zeros, which take no room on the disk

    tracemalloc.start()
    assert [one.launch for one in read(file)] == [0]
    append(file, record(launch=1))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    (line,) = caplog.messages
    assert line.startswith(f"{file}:2: ")
    assert most < 4 * strict_json.LENGTH_LIMIT
    assert [one.launch for one in read(file)] == [0, 1]


def test_an_overlong_plan_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "plan.json").open("wb") as opened:
        opened.truncate(2**40)
    with pytest.raises(UserError, match=r"plan.json: .* 256 MiB"):
        strict_json.content(tmp_path / "plan.json")


def test_a_record_whose_settings_contradict_its_id_is_skipped(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = record(params={"n": 16})
    append(file, other)

    assert read(file) == []
    (line,) = caplog.messages
    assert line.startswith(f"{file}:1: ")
    assert str(other["case"]) in line and case_id(other) in line


@pytest.mark.parametrize(
    ("layout", "known"),
    [
        ({"ppn": 2, "threads": 2, "bind": "spread"}, "5489c6b33e4b"),
        ({"ppn": 1, "threads": 4, "bind": "spread"}, "c02e6c41d652"),
        ({"ppn": 1, "threads": 4, "bind": "close"}, "7079f0158eb3"),
        ({"ppn": 4, "threads": 1, "bind": "spread"}, "3671bf9a4baa"),
    ],
)
def test_older_records_bind_threads_like_processes(layout: dict[str, Any], known: str) -> None:
    """known: the id before threads had a binding of their own."""
    asked = Layout.recorded({"nodes": 1, "places": "cores", **layout})
    several = layout["threads"] > 1
    assert asked.as_recorded().get("thread_bind") == (layout["bind"] if several else None)
    assert identity("stream", {}, asked, "system", None) == known
    other = replace(asked, thread_bind="spread" if asked.thread_bind == "close" else "close")
    assert (identity("stream", {}, other, "system", None) == known) is not several


def test_layouts_take_defaults_for_null() -> None:
    assert Layout.recorded({"nodes": 2, "threads": None}) == Layout.recorded({"nodes": 2})


def test_records_with_ranks_that_contradict_their_layout_are_skipped(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def with_layout(**changed: int) -> dict[str, Any]:
        raw = record()
        raw["layout"] = {**raw["layout"], "nodes": 3, "ppn": 3, "ranks": 7, **changed}
        return {**raw, "case": case_id(raw)}

    append(file, with_layout(tasks=7))
    append(file, with_layout())
    append(file, with_layout(tasks=6, ranks=6))

    assert [one.layout["ranks"] for one in read(file)] == [7]
    ranks, tasks = caplog.messages
    assert "layout.ranks: invalid value 7" in ranks and "layout.tasks = 6 " in tasks


def test_a_simulated_step_without_messages_may_take_zero_time(file: Path) -> None:
    append(file, record(clock="simulated", times_s=[0, 0.0]))
    assert [one.times_s for one in read(file)] == [[0, 0.0]]


def test_random_damage_never_causes_a_traceback(file: Path) -> None:
    lines = [json.dumps(one).encode() for one in quick(launches=1)]
    chance = random.Random(1)
    for _ in range(200):
        content = bytearray(b"\n".join(lines) + b"\n")
        for _ in range(chance.randrange(1, 5)):
            at = chance.randrange(len(content))
            content[at : at + chance.randrange(9)] = chance.randbytes(chance.randrange(9))
        file.write_bytes(content)

        assert len(read(file)) <= len(lines)


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "link to nothing"])
def test_a_special_file_is_refused_without_waiting(file: Path, kind: str) -> None:
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        elsewhere = file.with_name("elsewhere")
        file.symlink_to(elsewhere)
        if kind == "link":
            append(elsewhere, record())

    with pytest.raises(UserError) as caught:
        read(file)
    assert [one.where for one in caught.value.problems] == [str(file)]


def test_the_latest_record_of_a_case_and_launch_counts() -> None:
    made = [record(outcome="failed"), record(launch=1), record(outcome="ok", wall_s=3.0)]
    outcomes = [(one.launch, one.outcome) for one in latest(map(Record.of, made))]
    assert outcomes == [(0, "ok"), (1, "ok")]


def test_non_finite_numbers_are_never_written(file: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        append(file, record(wall_s=float("nan")))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Files of this process can grow no further than that."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_failed_write_leaves_the_file_unchanged(file: Path, end: str) -> None:
    file.write_text(json.dumps(record()) + end)
    before = file.read_bytes()

    with largest_file(len(before) + 40), pytest.raises(OSError, match=str(file)) as caught:
        append(file, record(launch=1))

    assert caught.value.errno == errno.EFBIG
    assert file.read_bytes() == before
    append(file, record(launch=1))
    assert [one.launch for one in read(file)] == [0, 1]


def test_a_full_disk_loses_only_the_record_that_does_not_fit(small_disk: Path) -> None:
    file, numbers = small_disk / "records.jsonl", iter(range(9999))

    with pytest.raises(OSError) as full:
        for launch in numbers:
            append(file, record(launch=launch))

    assert full.value.errno == errno.ENOSPC
    kept = read(file)
    assert len(kept) > 9
    assert [one.launch for one in kept] == list(range(next(numbers) - 1))
    assert file.read_bytes().endswith(b"}\n")
