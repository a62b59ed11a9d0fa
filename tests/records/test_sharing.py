"""What records of a case have in common is held once, and nothing of it is changed."""

from __future__ import annotations

import json
from pathlib import Path

from recorded import poisson, quick, write_folder

from haloscope.records.record import read
from haloscope.records.sharing import Sharing


def test_equal_values_of_a_case_are_one_object_after_reading(tmp_path: Path) -> None:
    raws = [poisson(64, launch=k) for k in range(3)]
    first, second, third = read(write_folder(tmp_path, raws) / "records.jsonl")

    assert first.machine is second.machine is third.machine
    assert first.params is third.params
    assert first.times_s != second.times_s


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    raws = [*quick(3), *quick(2)]

    read_again = read(write_folder(tmp_path, raws) / "records.jsonl")

    assert [record.raw for record in read_again] == json.loads(json.dumps(raws))


def test_values_of_other_types_stay_apart() -> None:
    sharing = Sharing()
    values = [{"n": value} for value in (1, 1.0, True, "1")]

    shared = [sharing.of({"case": "x", "params": value})["params"] for value in values]

    assert [repr(value) for value in shared] == [repr(value) for value in values]
