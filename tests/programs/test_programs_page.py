# SPDX-License-Identifier: BSD-3-Clause
"""docs/programs.md says of a program.toml what the code says."""

from __future__ import annotations

from programs_page import EXAMPLE, PAGE, TABLES, page

from haloscope.programs.file import load
from haloscope.programs.trust import Trusted
from haloscope.study import file as study_file


def test_the_page_matches_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python tests/support/pages/programs_page.py"


def test_every_key_documents_its_allowed_values() -> None:
    for _, model in TABLES:
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name}"


def test_the_example_is_a_valid_program() -> None:
    assert load(Trusted(EXAMPLE / "program.toml")).name == "heat1d"


def test_the_studies_of_the_examples_are_valid() -> None:
    for path in sorted(EXAMPLE.parent.glob("*.toml")):
        assert study_file.read(path).problems == ()
