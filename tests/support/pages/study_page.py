# SPDX-License-Identifier: BSD-3-Clause
"""Generate docs/studies.md from the schema of a study and the kinds of tables and figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from keys_page import HEAD, rows
from pydantic import BaseModel

from haloscope.study import kinds
from haloscope.study.kinds import Kind
from haloscope.study.schema import LayoutAxes, Run, Study, TableElement
from haloscope.study.settings import SETTINGS
from haloscope.topics import figures, tables

PAGE = Path(__file__).parents[3] / "docs" / "studies.md"
START = """\
# Studies

This page lists all keys of a study, and all kinds of tables and figures. A study is a TOML file:
`studies/NAME.toml` in this repository, or a file of your own ([an example](measuring.md#a-study)).
`haloscope run FILE --dry-run` prints the errors of a study, its cases, and the tables and figures
that would be empty. It does not launch anything.

Editors with TOML support (taplo, Even Better TOML) complete and check keys and values with a JSON
Schema. Write the schema once with `haloscope schema study > study.schema.json`, and begin the study
with the line `#:schema ./study.schema.json`. Schemas for clusters, sites, and programs also exist.

Each key of `params` and `layout` can have one value or a list of values (an axis). The cases of a
run are the product of its axes. `python tests/support/pages/study_page.py` generates this page from
`src/haloscope/study/schema.py` and `kinds.py`.
"""
MODELS: tuple[tuple[str, type[BaseModel], str], ...] = (
    ("The study", Study, "The following keys are at the top of a study."),
    ("`[[runs]]`", Run, "Each `[[runs]]` table describes one kernel and its axes."),
    ("`layout`", LayoutAxes, "The keys of `layout` place the ranks and threads of a run."),
    (
        "`[[tables]]` and `[[figures]]`",
        TableElement,
        "The report contains the tables and figures that the study lists, in the same order. If "
        "the study lists none, the report contains every kind that applies.",
    ),
)


def keys(model: type[BaseModel]) -> Iterator[str]:
    """A row a key: its name, what it may be, what it is where it is left out."""
    for row in rows(model):
        yield _KIND if row.startswith("| `kind` |") else row


_KIND = "| `kind` | a kind from the list at the end of this page | required |"
"""_KIND stands for a description that has all kinds, which the page lists at its end."""


def shows(kind: Kind) -> str:
    """The first line of the docstring of its table, or else of its figure."""
    builder = tables.TABLES[kind.name] if kind.table else figures.FIGURES[kind.name]
    return (builder.__doc__ or "").split("\n")[0].rstrip(".")


def row_of(kind: Kind) -> str:
    what = " and ".join(
        word for word, there in (("table", kind.table), ("figure", kind.figure)) if there
    )
    needs = [f"`{kind.having}` set"] if kind.having else []
    if kind.over:
        one_of = "one of " if len(kind.over) > 1 else ""
        needs.append(f"several values of {one_of}{', '.join(f'`{name}`' for name in kind.over)}")
    names = [f"`{name}`" for name in kind.kernels]
    of = ", ".join([*names, *kind.shown[len(names) :]]) or "any"
    return f"| `{kind.name}` | {what} | {shows(kind)} | {of} | {'; '.join(needs)} |"


def page() -> str:
    """The whole page."""
    lines = [START]
    for title, model, description in MODELS:
        lines += [f"## {title}\n", f"{description}\n", *HEAD, *keys(model), ""]
    lines += [
        "`where` selects cases by their settings: the kernel's parameters (`haloscope describe",
        f"KERNEL`) and {', '.join(f'`{name}`' for name in SETTINGS)}.",
        "\n## Kinds of tables and figures\n",
        "| kind | type | contents | kernels | required settings of the cases |",
        "|---|---|---|---|---|",
        *map(row_of, kinds.KINDS),
        "\n## Findings\n",
        "The key `answer` of a study names the findings that answer its question.\n",
        "| name | subject |",
        "|---|---|",
        *(f"| `{name}` | {subject} |" for name, subject in kinds.FINDINGS.items()),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
