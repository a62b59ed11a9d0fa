# SPDX-License-Identifier: BSD-3-Clause
"""Print texts that users see, drawn at random from all of them, for a reader to judge.

usage: .venv/bin/python tests/support/drawn_texts.py [--seed N] [--each 10]

Ten each of help, kernels' descriptions, errors, pages, reports (docs/gallery), and doctor's.
"""

from __future__ import annotations

import argparse
import ast
import html
import importlib
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from haloscope.commands import COMMANDS, module_of

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "haloscope"
REASONS = ("what", "why", "remedy", "reason")


def helps() -> Iterator[str]:
    """Summaries, descriptions, and arguments of all commands."""
    for name, summary in COMMANDS.items():
        parser = argparse.ArgumentParser()
        importlib.import_module(module_of(name)).set_up(parser)
        yield summary
        yield from of_parser(parser)


def of_parser(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The texts of a parser and of its subcommands."""
    yield from (parser.description or "").split("\n\n")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from of_parser(inner)
        elif action.dest != "help":
            yield action.help or ""


def described(value: Any) -> Iterator[str]:
    """Every help, summary, and description within a JSON document."""
    if isinstance(value, list):
        for one in value:
            yield from described(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if isinstance(one, str) and key in ("help", "summary", "description"):
                yield one
            else:
                yield from described(one)


def literal(node: ast.AST) -> str:
    """A string as written, with {expressions} in place of their values; "" for anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(literal(part) for part in parts)
        case ast.FormattedValue(value=value):
            return f"{{{ast.unparse(value)}}}"
    return ""


def errors() -> Iterator[str]:
    """What problems say, and their remedies."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="Problem"), args=[_, *args]):
                    yield from map(literal, args)
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in REASONS:
                    yield literal(value)


def doctor() -> Iterator[str]:
    """What doctor's checks print."""
    for path in sorted((SOURCE / "run" / "doctor").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
                  for part in node.values}  # fmt: skip
        within |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        yield from (literal(node) for node in ast.walk(tree) if id(node) not in within)


def pages() -> Iterator[str]:
    """Paragraphs, items, and rows of tables of all pages but decisions."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        parts = re.split(r"\n\s*\n|\n(?=[-|#] ?|\d\. )", text) if path.stem != "decisions" else ()
        yield from (part for part in parts if not part.startswith(("#", "![")))


def reports() -> Iterator[str]:
    """Sentences, notes, and cells of the reports in the gallery."""
    for path in sorted((ROOT / "docs" / "gallery").glob("*.html")):
        page = path.read_text(encoding="utf-8")
        for found in re.findall(r"<(li|p|figcaption)\b[^>]*>(.*?)</\1>", page, re.DOTALL):
            yield html.unescape(re.sub("<[^>]+>", "", found[1]))


def main() -> None:
    """Draw and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--each", type=int, default=10)
    asked = parser.parse_args()
    print(f"seed {asked.seed}")
    chance = random.Random(asked.seed)
    kernels = json.loads((SOURCE / "records" / "kernels.json").read_text(encoding="utf-8"))
    pools = {"help": helps(), "kernels": described(kernels), "errors": errors(),
             "pages": pages(), "reports": reports(), "doctor": doctor()}  # fmt: skip
    for name, texts in pools.items():
        every = dict.fromkeys(" ".join(text.split()) for text in texts)
        long = [text for text in every if len(re.findall(r"[A-Za-z]{2,}", text)) > 3]
        for text in chance.sample(long, asked.each):
            print(f"[{name}] {text[:600]}")


if __name__ == "__main__":
    main()
