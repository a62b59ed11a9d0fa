# SPDX-License-Identifier: BSD-3-Clause
"""docs/studies.md, made from what the code says a study may say, and of each kind of table."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from keys_page import HEAD, rows
from pydantic import BaseModel

from haloscope.study import kinds
from haloscope.study.kinds import Kind
from haloscope.study.schema import LayoutAxes, Run, Study, TableElement
from haloscope.study.settings import SETTINGS

PAGE = Path(__file__).parents[2] / "docs" / "studies.md"
START = """\
# Studies

A study is a question with the cases that answer it, in a TOML file: `studies/NAME.toml` of this
repository, or a file of your own. `haloscope run FILE --dry-run` says what is wrong with it, what
it would measure, and which tables and figures would have nothing to show; nothing is launched.

Every key of `params` and of `layout` is a value or a list of values: an axis. A run's cases are the
product of its axes. `src/haloscope/study/schema.py` and `kinds.py` say the same to the program, and
`python tests/support/study_page.py` writes this page from them.
"""
MODELS: tuple[tuple[str, type[BaseModel], str], ...] = (
    ("The study", Study, "The keys at the top of the file."),
    ("`[[runs]]`", Run, "One kernel over the product of its axes."),
    ("`layout`", LayoutAxes, "Where the ranks and threads of a run go."),
    (
        "`[[tables]]` and `[[figures]]`",
        TableElement,
        "What the report is to show, in this order; without any, every kind that the cases suit.",
    ),
)


def keys(model: type[BaseModel]) -> Iterator[str]:
    """A row a key: its name, what it may be, what it is where it is left out."""
    for row in rows(model):
        yield _KIND if row.startswith("| `kind` |") else row


_KIND = "| `kind` | a kind of the list below | must be given |"
"""_KIND stands for a description that has all kinds, which the page lists at its end."""


def shows(kind: Kind) -> str:
    """What its table, or else its figure, says of itself."""
    where = "tables" if kind.table else "figures"
    told = import_module(f"haloscope.report.{where}.{kind.name}").__doc__ or ""
    return told.split("\n")[0].rstrip(".")


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
    for title, model, told in MODELS:
        lines += [f"## {title}\n", f"{told}\n", *HEAD, *keys(model), ""]
    lines += [
        "`where` chooses by a case's settings: its kernel's parameters (`haloscope describe",
        f"KERNEL`) and {', '.join(f'`{name}`' for name in SETTINGS)}.",
        "\n## Kinds of tables and figures\n",
        "| kind | is | what it shows | of the kernels | whose cases have |",
        "|---|---|---|---|---|",
        *map(row_of, kinds.KINDS),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
