# SPDX-License-Identifier: BSD-3-Clause
"""Generate docs/records.md from the types of a record; find keys that nothing describes."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import (
    Annotated,
    Any,
    NotRequired,
    Union,
    get_args,
    get_origin,
    is_typeddict,
)

from keys_page import introduction

from haloscope.keys import Key
from haloscope.records import keys
from haloscope.records.record import Record

PAGE = Path(__file__).parents[3] / "docs" / "records.md"
WORDS = {str: "text", int: "integer", float: "number", bool: "true or false", dict: "object"}
START = """\
# Records

This page lists all keys of a record. A record describes one launch of one case. Each record is a
JSON object on one line of `records.jsonl`. It is written to disk before the next launch starts,
and is never changed later. If two records have the same case and launch number, the first launch
failed and was repeated, and the last record counts.

Reports ignore lines of `records.jsonl` with any of these errors, and name the lines in a warning:

- A value has the wrong type, or a key occurs twice.
- A measured time is not above 0.
- The outcome is `ok`, but the error of the answer (`error_max`) exceeds its bound
  (`error_max_bound`).
- A parameter or result differs from the kernel's declaration (`haloscope describe KERNEL`).
- The id of a case is not the hash of its settings.

The "written by" column names the writer of a key: halobench (measurements), the runner (the
request, the end of the launch, and halobench's description of itself), or the campaign that keeps
the records. Keys of times end in `_s` (seconds), and keys of sizes end in `_bytes`. Unknown values
are null or absent, never 0.

`python tests/support/pages/record_page.py` generates this page from `record.py`, `keys.py`, and
`keys.json` in `src/haloscope/records`.
"""


def described(owner: type) -> dict[str, tuple[Any, Key]]:
    """The type and the description of each key of an object."""
    hints = (
        (name, get_args(hint)[0] if get_origin(hint) is NotRequired else hint)
        for name, hint in keys.described(owner).items()
    )
    return {name: get_args(hint) for name, hint in hints if get_origin(hint) is Annotated}


def objects(
    owner: type, path: str = "", by: str | None = None
) -> Iterator[tuple[str, type, str | None]]:
    """An object and all those inside it, with where each stands (layout.seen[]) and who writes."""
    yield path, owner, by
    for name, (hint, key) in described(owner).items():
        inner, many = inside(hint, key)
        if inner is not None:
            yield from objects(inner, f"{path}.{name}{many}".lstrip("."), key.by or by)


def inside(hint: Any, key: Key) -> tuple[type | None, str]:
    """The object, or that of a list's entries, which a key holds; and "[]" where it is a list."""
    if optional(hint):
        hint = next(one for one in get_args(hint) if one is not type(None))
    many = "[]" if get_origin(hint) in (list, Sequence) else ""
    hint = get_args(hint)[0] if many else hint
    return key.keys or (hint if is_typeddict(hint) else None), many


def optional(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def in_words(hint: Any) -> str:
    if optional(hint):
        return " or ".join("null" if one is type(None) else in_words(one) for one in get_args(hint))
    if get_origin(hint) in (list, Sequence):
        return f"list of {plural(in_words(get_args(hint)[0]))}"
    if get_origin(hint) is dict and get_args(hint)[1] is float:
        return "object of numbers"
    if hint is Any:
        return "value"
    return WORDS.get(get_origin(hint) or hint, "object")


def plural(word: str) -> str:
    first, *rest = word.split(" ")
    return " ".join([f"{first}s", *rest])


def page() -> str:
    """The whole page."""
    lines = [START]
    for path, owner, by in objects(Record):
        title = f"`{path}`" if path else "The record"
        text = [introduction(title, (owner.__doc__ or "").strip()), ""] if path else []
        lines += [
            f"## {title}\n",
            *text,
            "| key | type | unit | written by | meaning | missing values |",
        ]
        lines.append("|---" * 6 + "|")
        for name, (hint, key) in described(owner).items():
            kernels = ", ".join(key.kernels)
            absent = f"absent except in records of {kernels}" if kernels else key.absent
            cells = (f"`{name}`", in_words(hint), key.unit, key.by or by, key.meaning, absent)
            lines.append("| " + " | ".join(cell or "" for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def unknown(record: Any, owner: type = Record, path: str = "") -> list[str]:
    """The keys in a record that nothing describes."""
    if isinstance(record, list):
        return [name for one in record for name in unknown(one, owner, path)]
    if not isinstance(record, Mapping):
        return []
    keys = described(owner)
    names = [f"{path}.{name}".lstrip(".") for name in record if name not in keys]
    for name, (hint, key) in keys.items():
        inner, _ = inside(hint, key)
        if inner is not None:
            names += unknown(record.get(name), inner, f"{path}.{name}".lstrip("."))
    return names


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
