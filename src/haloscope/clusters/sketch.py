# SPDX-License-Identifier: BSD-3-Clause
"""Drawing of a cluster's network in characters: switches above nodes, or a torus from above."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from haloscope.clusters.network import Network, NetworkLevel
from haloscope.quantities import count

_SWITCHES = ("▢", "▢   ▢", "▢   ▢   ▢", "▢   ▢   ▢   ▢", "▢   ▢   ▢  …  ▢")
_CROSSING = ("│", "│ ╳ │", "│ ╳ │ ╳ │", "│ ╳ │ ╳ │ ╳ │", "│ ╳ │ ╳ │     │")
_FAN = ("├┬┐", "├┬┐ ├┬┐", "├┬┐ ├┬┐ ├┬┐", "├┬┐ ├┬┐ ├┬┐ ├┬┐", "├┬┐ ├┬┐ ├┬┐   ├┬┐")
_NODES = ("●●●", "●●● ●●●", "●●● ●●● ●●●", "●●● ●●● ●●● ●●●", "●●● ●●● ●●● … ●●●")
_TORUS = ("╭●─●─●─ … ─●╮", " │ │ │     │", "╰●─●─●─ … ─●╯")


def drawing(network: Network, nodes: int) -> Iterator[tuple[str, str]]:
    """Yield the network from the top: each line of the picture with its description."""
    if network.topology == "torus":
        sizes = " x ".join(map(str, network.dimensions))
        links = "each node has one link per direction of each dimension"
        yield from zip(_TORUS, (f"torus of {sizes} nodes", links, "every row: a ring"), strict=True)
        return
    levels = network.levels or (NetworkLevel(children=nodes),)
    for number in reversed(range(len(levels))):
        switches, down = _switches(levels, number), levels[number].children * levels[number].links
        words = f"{count(switches, 'switch', 'switches')}, {count(down, 'link')} down"
        up = _up(levels, number)
        yield _some(_SWITCHES, switches), f"{words}, {up} up" if up else words
        if number > 0:
            below = _switches(levels, number - 1)
            yield _some(_CROSSING, max(switches, below)), _blocking(levels, number - 1)
    leaves = _switches(levels, 0)
    yield _some(_FAN, leaves), ""
    under = f"{levels[0].children} under each switch" if leaves > 1 else "all under one switch"
    yield _some(_NODES, leaves), f"{count(nodes, 'node')}, {under}"


def _some(pictures: tuple[str, ...], number: int) -> str:
    return pictures[min(number, len(pictures)) - 1]


def _switches(levels: tuple[NetworkLevel, ...], number: int) -> int:
    """Return the number of switches of a level: those per upper part, and alternatives
    within it.
    """
    above = prod(one.children for one in levels[number + 1 :])
    return above * prod(one.parents for one in levels[: number + 1])


def _up(levels: tuple[NetworkLevel, ...], number: int) -> int:
    above = levels[number + 1 : number + 2]
    return above[0].parents * above[0].links if above else 0


def _blocking(levels: tuple[NetworkLevel, ...], number: int) -> str:
    here = levels[: number + 1]
    nodes = prod(one.children for one in here)
    links = _up(levels, number) * prod(one.parents for one in here)
    return f"blocking {nodes / links:.3g}:1 (nodes : links up)"
