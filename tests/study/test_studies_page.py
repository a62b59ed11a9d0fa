# SPDX-License-Identifier: BSD-3-Clause
"""docs/studies.md says of a study what the code says."""

from __future__ import annotations

from study_page import MODELS, PAGE, page, shows

from haloscope.study import kinds
from haloscope.study.schema import FigureElement, TableElement


def test_the_page_matches_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python tests/support/pages/study_page.py"


def test_every_key_documents_its_allowed_values() -> None:
    for _, model, _ in MODELS:
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name}"
    assert {*TableElement.model_fields} == {*FigureElement.model_fields}


def test_every_kind_documents_its_content() -> None:
    assert [kind.name for kind in kinds.KINDS if len(shows(kind)) < 20] == []
