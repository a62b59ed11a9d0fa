# SPDX-License-Identifier: BSD-3-Clause
"""A kernel's parameters given as text, validated against its declarations.

halobench validates by the same rules (base/params.cpp) when it runs; a test compares the two. This
module needs no program.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from haloscope.run.prepare.halobench import Kernel, KernelParameter

_SUFFIXES = {"K": 2**10, "M": 2**20, "G": 2**30}
_WHOLE = re.compile(r"(-?[0-9]+)([KMG]?)")
_REAL = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LARGEST = 9.0e18
"""Maximum of an integer: halobench's have 64 bits."""

Wrong = tuple[str, str, str]


def resolved(kernel: Kernel, given: Mapping[str, str]) -> tuple[dict[str, Any], list[Wrong]]:
    """Return all parameters by name, with their types, and what is wrong with the given ones."""
    declared = {one.name: one for one in kernel.parameters}
    params: dict[str, Any] = {name: one.default for name, one in declared.items()}
    wrong = []
    for key, text in given.items():
        if key not in declared:
            known = ", ".join(declared)
            wrong.append((key, text, f"no such parameter; give key=value, known: {known}"))
        elif "\0" in text:  # a NUL ends each argument in the protocol of --plan
            wrong.append((key, text.replace("\0", r"\x00"), "remove the zero byte"))
        elif allowed := refused(declared[key], text):
            wrong.append((key, text, allowed))
        else:
            params[key] = _typed(declared[key], text)
    return params, wrong


def refused(parameter: KernelParameter, text: str) -> str | None:
    """Return what is allowed if a value is not, or None."""
    match parameter.type:
        case "integer":
            good = _is_in_range(parameter, whole_number(text))
            return None if good else f"give an integer{_range(parameter)}"
        case "real":
            good = _is_in_range(parameter, _real(text))
            return None if good else f"give a number{_range(parameter)}"
        case "choice":
            good = text in parameter.choices
            return None if good else f"give one of {', '.join(parameter.choices)}"
        case "sizes":
            return next(_refused_sizes(parameter, text), None)
        case "text" | "file":  # validated by the kernel's plan
            return None


def whole_number(text: str) -> int | None:
    """Parse an integer with an optional suffix K, M, or G (2^10, 2^20, 2^30); None if invalid."""
    if (found := _WHOLE.fullmatch(text)) is None:
        return None
    value = int(found[1]) * _SUFFIXES.get(found[2], 1)
    return value if abs(value) <= _LARGEST else None


def _real(text: str) -> float | None:
    if _REAL.fullmatch(text) is None:
        return None
    value = float(text)
    too_small = value == 0 and re.search("[1-9]", re.split("[eE]", text)[0])
    return None if math.isinf(value) or too_small else value


def _typed(parameter: KernelParameter, text: str) -> Any:
    if parameter.type == "integer":
        return whole_number(text)
    return _real(text) if parameter.type == "real" else text


def _is_in_range(parameter: KernelParameter, value: float | None) -> bool:
    if value is None:
        return False
    least, most = parameter.minimum, parameter.maximum
    return (least is None or value >= least) and (most is None or value <= most)


def _range(parameter: KernelParameter) -> str:
    least, most = parameter.minimum, parameter.maximum
    if least is not None and most is not None:
        return f" from {_number(least)} to {_number(most)}"
    if least is not None:
        return f" of at least {_number(least)}"
    return f" of at most {_number(most)}" if most is not None else ""


def _number(value: float) -> str:
    """Return the shortest text of a number, as halobench writes it."""
    if float(value).is_integer():
        plain, power = str(int(value)), f"{value:e}"
        digits, exponent = power.split("e")
        power = f"{digits.rstrip('0').rstrip('.')}e{exponent}"
        return min(plain, power, key=len)
    return repr(float(value))


def _refused_sizes(parameter: KernelParameter, text: str) -> Iterator[str]:
    unit = " bytes" if parameter.unit == "B" else ""
    like = "such as 8,64,1K or 8:4M (doubling; K, M, G for 2^10, 2^20, 2^30)"
    for item in text.split(","):
        if (why := _refused_item(parameter, item, unit)) is not None:
            yield f"{why}; give sizes{_range(parameter)}{unit}, {like}"


def _refused_item(parameter: KernelParameter, item: str, unit: str) -> str | None:
    """Return why an item, "8" or "8:4M" (8, 16 ...), is invalid, or None."""
    low, colon, high = item.partition(":")
    ends = [whole_number(one) for one in ((low, high) if colon else (low,))]
    for word, end in zip((low, high), ends, strict=False):
        if end is None:
            return f"'{word}' is not an integer below 2^63"
    first, last = ends[0] or 0, ends[-1] or 0
    if last < first:
        return f"'{item}' ends below its start"
    if first < 0:
        return f"'{item}' is below 0"
    size = first
    while size <= last:
        if not _is_in_range(parameter, size):
            return f"'{item}' names {size}{unit}"
        size = max(1, 2 * size)
    return None
