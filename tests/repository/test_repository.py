# SPDX-License-Identifier: BSD-3-Clause
"""What is in the repository beside the code: documentation, licence, forms, recipes, packages."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from licence import has_licence, sources
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from haloscope import __version__
from haloscope.study import file as study_file

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LINES_OF_A_SCREEN = 50


def test_every_ready_study_is_listed_with_the_questions() -> None:
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    by_commands = {"calibrate", "validate-local"}  # calibrate, validate local

    missing = {path.stem for path in study_file.ready()} - set(re.findall(r"[\w-]+", page))

    assert missing <= by_commands


def test_the_readme_fits_one_screen_and_has_both_commands() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()

    assert len(lines) <= LINES_OF_A_SCREEN
    assert [line.split("  #")[0].rstrip() for line in lines if line.startswith("./")] == [
        "./haloscope run quick",
        "./check",
    ]


@pytest.mark.parametrize(
    "page",
    [path for one in ("*.md", "docs/**/*.md", ".github/*.md") for path in sorted(ROOT.glob(one))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_link_target_exists(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    links += re.findall(r'<img src="([^"]+)"', text)

    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]

    assert not missing


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_source_file_states_its_licence(path: Path) -> None:
    assert has_licence(path), "python tests/support/licence.py writes the line"


def test_the_version_is_stored_once_and_the_change_log_begins_with_it() -> None:
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## \[?([\w.]+)\]? ", log, re.M)

    assert heading is not None and heading[1] == __version__
    assert PROJECT["dynamic"] == ["version"]
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text(), re.M)


def test_the_change_log_has_a_line_for_each_entry() -> None:
    """Keep a Changelog's sections, and one line of at most 160 characters for each entry."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    sections = {line for line in lines if line.startswith("### ")}
    entries = [line for line in lines if line.startswith("- ")]

    assert sections <= {f"### {one}" for one in ("Added", "Changed", "Fixed", "Removed")}
    assert len(entries) > 30
    assert not [line for line in entries if len(line) > 160]
    assert not [line for line in lines if line.startswith(" ")]  # no entry goes on


SCHEMAS = {
    "github-workflows": ".github/workflows/*.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "citation-file-format": "CITATION.cff",
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_issue_forms_and_workflows_have_only_valid_keys(schema: str) -> None:
    files = sorted(ROOT.glob(SCHEMAS[schema]))
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]

    done = subprocess.run([*check, *files], capture_output=True, text=True, check=False)

    assert files
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("form", sorted(ROOT.glob(".github/ISSUE_TEMPLATE/[!c]*.yml")), ids=str)
def test_a_form_requests_the_output_of_doctor(form: Path) -> None:
    assert "haloscope doctor --json" in form.read_text(encoding="utf-8")


def test_the_hosted_check_is_the_same_with_two_compilers_and_every_python() -> None:
    text = (ROOT / ".github/workflows/check.yml").read_text(encoding="utf-8")

    assert "run: ./check\n" in text
    assert "compiler: [g++, clang++]" in text
    assert re.findall(r'"(3\.\d+)"', text) == ["3.11", "3.12", "3.13", "3.14"]
    assert "secrets." not in text


def test_the_spack_package_has_the_requirements_of_the_wheel() -> None:
    path = ROOT / "packaging/spack/packages/haloscope/package.py"
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    needed = [
        str(ast.literal_eval(call.args[0]))
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "depends_on"
    ]
    spacks = dict(one.removeprefix("py-").rstrip(":").split("@") for one in needed if ":" in one)

    for one in (Requirement(text) for text in PROJECT["dependencies"]):
        (least,) = one.specifier
        assert Version(spacks[canonicalize_name(one.name)]) == Version(least.version), one.name
