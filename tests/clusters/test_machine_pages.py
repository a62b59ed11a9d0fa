# SPDX-License-Identifier: BSD-3-Clause
"""docs/clusters.md and docs/sites.md are what the models say, and every key is described there."""

from __future__ import annotations

from pathlib import Path

import pytest
from machine_pages import CLUSTERS, NAMED_BY_FILE, PAGES, SITES, _models
from pydantic import BaseModel

from haloscope.clusters.file import load
from haloscope.clusters.schema import Cluster, missing_for_simulation
from haloscope.sites.schema import BatchSite


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_page_matches_the_code(path: Path) -> None:
    made = PAGES[path]()

    assert path.read_text(encoding="utf-8") == made, "python tests/support/pages/machine_pages.py"


def below(model: type[BaseModel]) -> set[type[BaseModel]]:
    """A model, and all that its tables consist of."""
    inner = {one for field in model.model_fields.values() for one in _models(field.annotation)}
    return {model}.union(*map(below, inner))


@pytest.mark.parametrize(("whole", "tables"), [(Cluster, CLUSTERS), (BatchSite, SITES)])
def test_every_table_of_the_file_is_on_the_page(
    whole: type[BaseModel], tables: tuple[tuple[str, type[BaseModel]], ...]
) -> None:
    assert {model for _, model in tables} == below(whole)


@pytest.mark.parametrize(("title", "model"), [*CLUSTERS, *SITES])
def test_every_key_documents_its_allowed_values(title: str, model: type[BaseModel]) -> None:
    unsaid = {name for name, field in model.model_fields.items() if not field.description}

    assert unsaid <= {*NAMED_BY_FILE.get(model, ())}, title


def test_the_template_file_suffices_to_simulate_several_nodes() -> None:
    cluster = load(Path(__file__).parents[2] / "docs" / "examples" / "cluster" / "cluster.toml")

    assert cluster.nodes > 1 and cluster.network is not None
    assert missing_for_simulation(cluster) == []
