# SPDX-License-Identifier: BSD-3-Clause
"""Print texts that users see, drawn at random from all of them, for a reader to judge.

usage: .venv/bin/python tests/support/drawn_texts.py [--seed N] [--each 10] [--anew]

Ten each of help, kernels' descriptions, errors, pages, reports (docs/gallery), and doctor's, each
whole, as a user sees it: an argument with its name, an error with its remedy, a row of a table with
the heads of its columns. Rows of numbers, paths, and code are not texts. The first call runs tests
for some minutes, and keeps the errors that they provoke; --anew repeats this.
"""

from __future__ import annotations

import argparse
import html
import importlib
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from haloscope.commands import COMMANDS, module_of

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "haloscope"
WORD = re.compile(r"(?<![\w=./-])[A-Za-z]{2,}(?![\w=/(])")
"""WORD is a word; settings (n=512), identifiers, and paths are none."""
KEPT = ROOT / "build" / "texts.json"
"""KEPT is the file of the errors and of the doctor's results."""
TESTS = (
    "advice",
    "clusters",
    "commands",
    "lab",
    "outputs",
    "papers",
    "programs",
    "records",
    "sites",
    "study",
    "run/campaign/test_received.py",
    "run/doctor/test_doctor.py",
    "run/jobs/test_following.py",
    "run/jobs/test_submission.py",
    "run/prepare/test_matrices.py",
    "run/prepare/test_probing.py",
    "run/prepare/test_workbench.py",
    "toolchains/launching/test_launch.py",
    "toolchains/test_library.py",
    "test_cache.py",
    "test_cli.py",
    "test_toml.py",
)
"""TESTS are tests that provoke most errors in little time."""


def helps() -> Iterator[str]:
    """Summaries, descriptions, and arguments of all commands, each argument after its name."""
    for name, summary in COMMANDS.items():
        parser = argparse.ArgumentParser()
        importlib.import_module(module_of(name)).set_up(parser)
        yield f"haloscope {name}: {summary}"
        yield from of_parser(parser)


def of_parser(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The texts of a parser and of its subcommands."""
    yield from (parser.description or "").split("\n\n")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from of_parser(inner)
        elif action.dest != "help" and is_text(action.help or ""):
            names = ", ".join(action.option_strings) or action.dest.upper()
            yield f"{names}: {action.help}".replace("%%", "%")


def described(value: Any) -> Iterator[str]:
    """Every help, summary, and description within a JSON document, each help after its name."""
    if isinstance(value, list):
        for one in value:
            yield from described(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if not isinstance(one, str) or key not in ("help", "summary", "description"):
                yield from described(one)
            elif key == "help" and is_text(one):
                yield f"{value['name']}: {one}"
            elif key != "help":
                yield one


def provoked(*, anew: bool) -> dict[str, list[str]]:
    """Errors and the doctor's results with real values, as tests provoke them."""
    if anew or not KEPT.is_file():
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pytest", "-p", "recorded_texts", "--texts", str(KEPT)]
        marks = "not (lab or toolchains or latex or long or coverage or minutes)"
        subprocess.run(
            [*command, "-m", marks, "-k", "not interrupt", *(f"tests/{name}" for name in TESTS)],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
            stdout=sys.stderr, check=False,
        )  # fmt: skip
    kept: dict[str, list[str]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return kept


def pages() -> Iterator[str]:
    """Paragraphs, items, and rows of tables of all pages but decisions."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        parts = re.split(r"\n\s*\n|\n(?=[-#] |\d\. )", text) if path.stem != "decisions" else ()
        for part in parts:
            if part.lstrip().startswith("|"):
                yield from rows(part.strip().splitlines())
            elif not part.startswith(("#", "![", "<")):
                yield part


def rows(lines: list[str]) -> Iterator[str]:
    """The rows of a table that are not mostly numbers, each cell with its head."""
    heads, _, *body = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines
    ]
    for row in body:
        numbers = len(re.findall(r"(?<![\w.])\d[\d.,]*", " ".join(row)))
        if any(map(is_text, row)) and len(WORD.findall(" ".join(row))) > 4 * numbers:
            cells = zip(heads, row, strict=False)
            yield " | ".join(f"{head}: {cell}" if head else cell for head, cell in cells if cell)


def reports() -> Iterator[str]:
    """Sentences, notes, and cells of the reports in the gallery."""
    for path in sorted((ROOT / "docs" / "gallery").glob("*.html")):
        page = path.read_text(encoding="utf-8")
        for found in re.findall(r"<(li|p|figcaption)\b[^>]*>(.*?)</\1>", page, re.DOTALL):
            text = re.sub("</strong>|<small[^>]*>", " | " if found[0] == "li" else "", found[1])
            yield html.unescape(re.sub("<[^>]+>", "", text))


def one_line(text: str) -> str:
    """A text without line breaks, but for those in the remedy of an error."""
    what, *remedy = text.split("\n    ")
    return "\n    ".join(" ".join(part.split()) for part in (what, *remedy))


def shortened(text: str) -> str:
    """At most 600 characters of a text, in whole sentences."""
    return text if len(text) <= 600 else text[: text.rfind(". ", 0, 600) + 1] or text[:600]


def is_text(text: str) -> bool:
    """Whether it has four words."""
    return len(WORD.findall(text)) > 3


def main() -> None:
    """Draw and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--anew", action="store_true")
    asked = parser.parse_args()
    print(f"seed {asked.seed}")
    chance = random.Random(asked.seed)
    kernels = json.loads((SOURCE / "records" / "kernels.json").read_text(encoding="utf-8"))
    pools = {"help": helps(), "kernels": described(kernels),
             "pages": pages(), "reports": reports(), **provoked(anew=asked.anew)}  # fmt: skip
    for name, texts in pools.items():
        every = dict.fromkeys(one_line(text) for text in texts)
        for text in chance.sample([text for text in every if is_text(text)], asked.each):
            print(f"[{name}] {shortened(text)}")


if __name__ == "__main__":
    main()
