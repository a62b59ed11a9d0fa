# SPDX-License-Identifier: BSD-3-Clause
"""A number of a cluster file: value, interval, and source, which may be published cells."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    model_serializer,
)

from haloscope.study.values import OneOrMore
from haloscope.toml import TomlTable

PositiveCount = Annotated[int, Field(gt=0, strict=True)]
"""A whole number from 1, as TOML has it: no text and no true."""

Number = Annotated[float, Field(strict=True)]
"""A number as TOML has it, whole or not: no text and no true."""


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Some words: no empty ones."""

Source = Text
"""Where numbers are from: a data sheet, a paper, a calibration; or "assumed", and why."""


CellValues = Annotated[
    tuple[StrictInt | StrictFloat | StrictStr, ...], OneOrMore(), Field(min_length=1)
]


class SetBy(TomlTable):
    """Cells of published tables to which a number was fitted. These cells are not predictions."""

    paper: Text
    """id of the paper (haloscope paper list)"""
    tables: tuple[Text, ...] = Field(min_length=1)
    """ids of the tables of the paper"""
    where: dict[str, CellValues] = Field(default_factory=dict)
    """values of columns that select the cells; all cells of the tables if omitted"""


CONTENT_ONLY = "content only"
"""The key of a serialization's context that leaves out what simulations do not depend on."""


class Quantity(TomlTable):
    """A number in the unit of its key, with its interval and its source."""

    value: Annotated[Number, Field(gt=0)]
    """value of the quantity, above 0"""
    low: Number | None = None
    """lower end of the interval of the value"""
    high: Number | None = None
    """upper end of the interval of the value"""
    source: Source
    """source of the number: a data sheet, a paper, or a calibration, or 'assumed' with the
    reason"""
    set_by: tuple[SetBy, ...] = ()
    """cells of published tables to which the number was fitted; none if omitted"""

    @model_serializer(mode="wrap")
    def _without_empty(
        self, handler: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any]:
        """All keys; `set_by` only where there are such cells and the content is not all."""
        found: dict[str, Any] = handler(self)
        if not self.set_by or (info.context or {}).get(CONTENT_ONLY):
            found.pop("set_by", None)
        return found
