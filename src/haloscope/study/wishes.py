# SPDX-License-Identifier: BSD-3-Clause
"""What a study asks its report to show: kinds of tables and figures, each with its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Options:
    """What a study's [[tables]] or [[figures]] table asks for besides the kind.

    where:     settings to keep, each a value or a list of values: { n = [1024] }.
    title:     in place of the title that the kind gives.
    published: the id of the published table to set beside ours, where several would do.
    """

    where: Mapping[str, object] = field(default_factory=dict)
    title: str | None = None
    published: str | None = None


@dataclass(frozen=True)
class Wish:
    """One [[tables]] or [[figures]] table of a study: a kind and its options."""

    kind: str
    options: Options = field(default_factory=Options)
