# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the keys that a file may have, made from the models that read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined


def default_of(field: FieldInfo) -> str:
    """What a key is where it is left out, as TOML has it."""
    if field.is_required():
        return "required"
    value: Any = field.get_default(call_default_factory=True)
    if value is None or value is PydanticUndefined or value in ([], {}, ()):
        return ""
    if isinstance(value, BaseModel):
        return ""
    return f"`{_toml(value)}`"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(map(_toml, value))
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


_OMITTED = re.compile(r"(.*); (?:(.+) if omitted|if omitted, (.+)|(required for [^;]+))")
"""_OMITTED matches a description that ends in what is true without the key."""


def rows(
    model: type[BaseModel],
    without: Collection[str] = (),
    kind: Callable[[FieldInfo], str] | None = None,
) -> Iterator[str]:
    """A row a key: its name, its type (with kind), its description, and its default."""
    for name, field in model.model_fields.items():
        if name not in without:
            description = (field.description or "").replace("|", r"\|")
            default = default_of(field)
            if not default and (found := _OMITTED.fullmatch(description)):
                description, default = found[1], next(filter(None, found.groups()[1:]))
            types = [kind(field)] if kind else []
            yield f"| {' | '.join((f'`{name}`', *types, description, default))} |"


DETERMINERS = ("a", "an", "another", "each", "one", "the", "this")
"""DETERMINERS are the first words of a description that needs no article."""


def introduction(title: str, description: str) -> str:
    """A sentence from the title of a table and a description: "`[node]` describes a node."."""
    first, rest = description.split(" ", 1)
    if first[1:].islower() or len(first) == 1:
        first = first.lower()
    article = "" if first in DETERMINERS else "the "
    verb = "describe" if "` and `" in title else "describes"
    return f"{title} {verb} {article}{first} {rest}"


HEAD = ("| key | description | default |", "|---|---|---|")
HEAD_WITH_TYPES = ("| key | type | description | default |", "|---|---|---|---|")
"""HEAD is the head of such a table."""
