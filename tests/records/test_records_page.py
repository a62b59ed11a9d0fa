# SPDX-License-Identifier: BSD-3-Clause
"""docs/records.md says of a record what the code says, and records have no other keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from record_page import PAGE, described, objects, page, unknown

from haloscope.records.record import Record

STUDY = """
title = "ours"
[[runs]]
kernel = "fake"
params = { n = 8 }
layout = { ppn = 2 }
[[runs]]
kernel = "fake"
params = { n = 8 }
layout = { ppn = 2 }
transports = ["ucx"]
[[runs]]
kernel = "fake"
params = { n = 8, fault = ["crash", "wrong"] }
"""


def test_the_page_matches_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python tests/support/pages/record_page.py"


def test_every_field_is_documented() -> None:
    for path, owner, _ in objects(Record):
        assert {*owner.__annotations__} - {"names", "more"} == {*described(owner)}, path


def test_every_key_documents_its_writer_and_meaning() -> None:
    for path, owner, by in objects(Record):
        for name, (_, key) in described(owner).items():
            assert key.meaning and (key.by or by), f"{path}.{name}"


def lines(folder: Path) -> Iterator[dict[str, Any]]:
    for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize("on", ["local", "stampede2"])
def test_records_have_only_documented_keys(
    haloscope: Callable[..., int], study_file: Callable[[str], Path], tmp_path: Path, on: str
) -> None:
    haloscope("run", study_file(STUDY), "--out", tmp_path / "out", "--on", on)
    records = list(lines(tmp_path / "out"))

    assert {record["outcome"] for record in records} == {"ok", "absent", "failed", "wrong"}
    assert [name for record in records for name in unknown(record)] == []
    late = {
        "allocation",
        "imported",
        "program",
        "device",
        "gpus",
        "rounds",
        "parts",
        "timeline",
        "simulation",
        "model",
        "stderr",
        "tuning",
        "changed",
    }  # not in each of them
    for record in records:
        assert {*described(Record)} - {*record} <= late


def test_an_undocumented_key_is_found() -> None:
    strange = {"schema": 1, "new": 1, "layout": {"seen": [{"rank": 0, "moon": "full"}]}}

    assert unknown(strange) == ["new", "layout.seen.moon"]
