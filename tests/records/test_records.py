import errno
import json
import logging
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from haloscope.records.record import Record, append, latest, read


def record(case: str = "c0ffee", launch: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "case": case,
        "launch": launch,
        "kernel": "fake",
        "params": {"n": 8},
        "layout": {"nodes": 1, "ppn": 2, "ranks": 2},
        "toolchain": {"name": "fake"},
        "clock": "wall",
        "outcome": "ok",
        "times_s": [0.5],
        **more,
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "records.jsonl"


def test_what_is_appended_is_read(file: Path) -> None:
    first, second = record(result={"error_max": 1e-6}, wall_s=2.5), record(launch=1, extra="kept")
    append(file, first)
    append(file, second)
    one, other = read(file)
    assert (one.case, one.launch, one.times_s, one.wall_s) == ("c0ffee", 0, [0.5], 2.5)
    assert one.result == {"error_max": 1e-6}
    assert (one.memory, one.reason, one.points) == (None, None, [])
    assert other.raw == second
    assert file.read_text().count("\n") == 2


def test_a_record_is_on_disk_before_append_returns(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_size))
    append(file, record())
    assert synced == [file.stat().st_size]


def test_no_file_has_no_records(file: Path) -> None:
    assert read(file) == []


def test_a_cut_off_line_is_dropped_with_a_warning(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    append(file, record())
    file.write_bytes(file.read_bytes() + json.dumps(record(launch=1)).encode()[:40])
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert [one.launch for one in read(file)] == [0]
    assert caplog.messages == [f"{file}:2: the last record was cut off and is left out"]


def test_appending_after_a_cut_off_line_starts_anew(file: Path) -> None:
    append(file, record())
    file.write_bytes(file.read_bytes() + b'{"schema":1,"case":"c0f')
    append(file, record(launch=1))
    assert [json.loads(line)["launch"] for line in file.read_text().splitlines()] == [0, 1]


def test_appending_after_a_whole_line_that_only_lacks_its_end_keeps_it(file: Path) -> None:
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
    assert caplog.messages == [
        f"{file}:2: not a JSON object, left out",
        f"{file}:3: not a JSON object, left out",
        f"{file}:4: left out: its schema is 2, this haloscope reads 1",
        f"{file}:5: left out: kernel, params, layout, toolchain, clock, outcome, times_s missing",
    ]


def test_the_latest_of_a_case_and_launch_counts() -> None:
    made = [record(outcome="failed"), record(launch=1), record(outcome="ok", wall_s=3.0)]
    outcomes = [(one.launch, one.outcome) for one in latest(map(Record.of, made))]
    assert outcomes == [(0, "ok"), (1, "ok")]


def test_nothing_that_is_no_number_is_written(file: Path) -> None:
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
def test_a_record_that_can_not_be_written_whole_leaves_the_file_as_it_was(
    file: Path, end: str
) -> None:
    file.write_text(json.dumps(record()) + end)
    before = file.read_bytes()

    with largest_file(len(before) + 40), pytest.raises(OSError, match=str(file)) as caught:
        append(file, record(launch=1))

    assert caught.value.errno == errno.EFBIG
    assert file.read_bytes() == before
    append(file, record(launch=1))
    assert [one.launch for one in read(file)] == [0, 1]


def test_a_full_disk_costs_the_record_that_does_not_fit(small_disk: Path) -> None:
    file, numbers = small_disk / "records.jsonl", iter(range(9999))

    with pytest.raises(OSError, match="No space left on device"):
        for launch in numbers:
            append(file, record(launch=launch))

    kept = read(file)
    assert len(kept) > 9
    assert [one.launch for one in kept] == list(range(next(numbers) - 1))
    assert file.read_bytes().endswith(b"}\n")
