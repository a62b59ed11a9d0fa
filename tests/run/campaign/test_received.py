# SPDX-License-Identifier: BSD-3-Clause
"""Plans that somebody else may have written: what they name is checked before anything runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes import STUDY, Laboratory

from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.study.case import identity

Run = Callable[..., int]
Change = Callable[[dict[str, Any]], None]


def of_a_case(**changes: Any) -> Change:
    return lambda plan: plan["cases"][0].update(changes)


def of_a_layout(**changes: Any) -> Change:
    return lambda plan: plan["cases"][0]["layout"].update(changes)


def with_its_id(case: dict[str, Any]) -> None:
    """Give a case the id of its settings, as whoever means harm does."""
    layout = Layout(**case["layout"])
    case["case"] = identity(
        case["kernel"], case["params"], layout, case["toolchain"], case["transport"]
    )


@pytest.fixture
def received(haloscope: Run, study_file: Callable[[str], Path], tmp_path: Path) -> Path:
    """A folder whose launches are all still to be done."""
    haloscope("run", study_file(STUDY), "--out", tmp_path / "received")
    (tmp_path / "received" / "records.jsonl").write_text("")
    return tmp_path / "received"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (of_a_case(kernel="../../evil"), "'../../evil'"),
        (of_a_case(kernel="--out"), "'--out'"),
        (of_a_case(given={"--out": "/tmp/evil"}), "'--out'"),
        (of_a_case(given={"n": "/etc/passwd"}), "n = '/etc/passwd'"),
        (of_a_case(given={"n": "../../etc/passwd"}), r"n = '\.\./\.\./etc/passwd'"),
        (of_a_case(given={"n": ["x"]}), r'cases#1\.given\.n.*\["x"\]'),
        (of_a_case(files="/etc"), "/etc, not in "),
        (of_a_case(toolchain="/bin"), "'/bin'"),
        (of_a_layout(ppn="2 --host evil"), "cases#1.layout.ppn"),
        (of_a_layout(threads=True), "cases#1.layout.threads: invalid value true"),
        (of_a_layout(nodes=0), "nodes, ppn, and threads"),
    ],
)
def test_a_received_case_that_no_study_allows_is_refused(
    haloscope: Run, laboratory: Laboratory, received: Path, change: Change, expected: str
) -> None:
    plan = json.loads((received / "plan.json").read_text())
    change(plan)
    with_its_id(plan["cases"][0])
    (received / "plan.json").write_text(json.dumps(plan))
    laboratory.launches.clear()

    with pytest.raises(UserError, match=expected):
        haloscope("run", "--resume", received)

    assert laboratory.launches == []
    assert (received / "records.jsonl").read_text() == ""


def test_a_path_from_a_received_plan_is_never_written_to(
    haloscope: Run, received: Path, tmp_path: Path
) -> None:
    plan = json.loads((received / "plan.json").read_text())
    (received / "inside").symlink_to(tmp_path)
    for keep in (tmp_path / "elsewhere", received / ".." / "x", received / "inside" / "x"):
        (received / "plan.json").write_text(json.dumps({**plan, "keep": str(keep)}))

        with pytest.raises(UserError, match="--keep DIR"):
            haloscope("run", "--resume", received)

    with pytest.raises(UserError, match="--keep requires"):
        haloscope("run", "--resume", received, "--keep", tmp_path / "x")
