# SPDX-License-Identifier: BSD-3-Clause
"""Which tests a change can reach: those of the rooms that know it, and never too few."""

from __future__ import annotations

import pytest
from reach import files_reached, importing_tests, rooms_above


def test_a_package_reaches_its_direct_and_indirect_importers() -> None:
    assert rooms_above({"commands"}) == {"commands", "cli", "__main__"}
    assert rooms_above({"report"}) == {"report", "commands", "cli", "__main__"}
    assert {"analysis", "report", "predict", "commands"} <= rooms_above({"stats"})


def test_a_changed_package_runs_its_tests_and_those_of_its_importers() -> None:
    found = files_reached(["src/haloscope/topics/common/words.py"])
    assert {"tests/report", "tests/commands", "tests/repository"} <= {*found}
    assert "tests/stats" not in found


def test_a_test_is_affected_by_its_imports_and_support_modules() -> None:
    by_itself, by_support = "tests/analysis/test_comparison.py", "tests/models/test_jacobi.py"
    assert by_itself in files_reached(["src/haloscope/topics/common/words.py"])
    assert by_support in files_reached(["src/haloscope/toml.py"])


def test_a_command_line_change_affects_tests_that_start_it() -> None:
    found = {*files_reached(["src/haloscope/cli.py"])}
    assert {"tests/faults/test_environments.py", "tests/commands/test_screen.py"} <= found
    assert "tests/stats/test_tails.py" not in found


@pytest.mark.parametrize(
    "name", ["halobench/kernel.hpp", "tests/support/a.py", "studies/a.toml", "clusters/a.toml"]
)
def test_a_change_to_a_common_file_runs_all_tests(name: str) -> None:
    assert files_reached([name]) == ["tests"]


def test_a_page_affects_tests_that_name_it_and_a_test_affects_itself() -> None:
    assert "tests/records/test_records_page.py" in files_reached(["docs/records.md"])
    assert "tests/repository" in files_reached([f"docs/{'x' * 9}.md"])
    assert "tests/stats/test_tails.py" in files_reached(["tests/stats/test_tails.py"])


def test_tests_of_a_change_are_changed_tests_or_direct_importers() -> None:
    found = {
        *importing_tests(
            ["src/haloscope/analysis/validation/bands.py", "tests/stats/test_tails.py"]
        )
    }
    assert {"tests/analysis/validation/test_bands.py", "tests/stats/test_tails.py"} <= found
    assert "tests/analysis/test_comparison.py" not in found
    others = ["docs/records.md", "tests/support/fake/fakes.py", "tests/test_gone.py"]
    assert importing_tests(others) == []
