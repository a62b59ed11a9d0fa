# SPDX-License-Identifier: BSD-3-Clause
"""haloscope cluster: list and show cluster files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from math import prod

from rich.table import Table
from rich.text import Text

from haloscope.clusters import file as cluster_file
from haloscope.clusters.assumed import assumed
from haloscope.clusters.checks.copies import copy_of
from haloscope.clusters.checks.doubts import doubts
from haloscope.clusters.network import Mpi, Network, NetworkLevel
from haloscope.clusters.node import Gpu, Node, NodeSpread, Protocol, Socket
from haloscope.clusters.quantity import Quantity
from haloscope.clusters.schema import OTHER_NODE, Cluster, missing_for_simulation
from haloscope.commands.options import flag
from haloscope.commands.screen import Screen
from haloscope.errors import UserError
from haloscope.quantities import count, flops, listed, percent, rate, seconds, size

_DESCRIPTION = """\
Show a cluster file: the node, its caches and memory, each level of the network, the MPI library,
and the source of every number. Values that a simulation (run STUDY --on NAME) needs but the file
lacks are listed.

Cluster files are in haloscope's own clusters folder and in ./clusters, which takes precedence. To
describe a machine, copy the file of a similar one and edit it (see docs/clusters.md). Missing or
impossible values are reported with their keys.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `cluster list` and `cluster show`, and add their arguments."""
    parser.description = _DESCRIPTION
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="list clusters with nodes, cores, memory, and network")
    show = actions.add_parser("show", help="show one cluster", description=_DESCRIPTION)
    show.add_argument("name", metavar="NAME", help="name of a cluster, or a TOML file")
    flag(
        show,
        "--assumed",
        "show only the assumed values, each with its reason, and the defaults of missing keys",
    )


def execute(arguments: argparse.Namespace) -> int:
    """List clusters, or show one; return 1 if it lacks something for simulations."""
    if arguments.action == "list":
        return _list(Screen())
    found = cluster_file.find(arguments.name)
    out = Screen()
    if arguments.assumed:
        return _show_assumed(found, out)
    out.print(Text(found.name, style="bold"), Text(f"source: {found.source}"))
    path = cluster_file.ready().get(arguments.name, arguments.name)
    out.lines(Text(cluster_file.of_the_user(arguments.name) or str(path)))
    for doubt in filter(None, (copy_of(found), *doubts(found))):
        out.lines(Text(f"warning: {doubt}", style="yellow"))
    for why in found.disturbed:
        out.print(Text(f"calibration disturbed: {why}", style="yellow"))
    table = Table.grid(padding=(0, 2), pad_edge=True)
    for name, value, source in _lines(found):
        table.add_row(name, Text.assemble(value, (source and f"\n{source}", "dim")))
    out.print(table)
    missing = missing_for_simulation(found)
    for problem in missing:
        key = problem.where.split(": ")[-1]
        out.print(Text(f"cannot be simulated: {key} {problem.what}; {problem.remedy}"))
    return 1 if missing else 0


def _list(out: Screen) -> int:
    table = Table(box=None, pad_edge=False)
    for title, right in (("cluster", False), ("nodes", True), ("cores", True), ("memory", True)):
        table.add_column(title, justify="right" if right else "left", no_wrap=True)
    table.add_column("network")
    wrong, incomplete = [], []
    for name, path in cluster_file.ready().items():
        try:
            one = cluster_file.load(path)
        except UserError:
            wrong.append(name)
            continue
        table.add_row(*_row(one))
        if missing_for_simulation(one):
            incomplete.append(name)
    out.print(table)
    for names, what in ((wrong, "invalid file"), (incomplete, "cannot be simulated")):
        for name in names:
            out.print(f"{name}: {what}; for details: haloscope cluster show {name}")
    return 1 if wrong else 0


def _row(one: Cluster) -> tuple[str, ...]:
    gpu, node = one.node.gpu, one.node
    network = one.network.name if one.network else "none" if one.nodes == 1 else "unknown"
    gpus = f"{gpu.number} x {gpu.gpu} per node; " if gpu else ""
    return (
        one.name,
        f"{one.nodes:,}",
        str(node.cores),
        size(node.memory_bytes),
        f"{gpus}{network}",
    )


def _show_assumed(found: Cluster, out: Screen) -> int:
    assumptions = assumed(found)
    if not assumptions:
        out.print(f"{found.name} has no assumed values")
        return 0
    for one in assumptions:
        value = "" if one.value is None else f" = {one.value:g}"
        absent = "" if one.given else " (default)"
        out.print(Text.assemble(f"{one.where}{value}{absent}", (f"\n    {one.source}", "dim")))
    return 0


def _lines(found: Cluster) -> Iterator[tuple[str, str, str]]:
    yield from _node(found)
    if found.network:
        yield from _network(found.network, found.nodes)
    if found.others:
        held = found.others.occupancy
        yield "others", f"{percent(held.value)} of the nodes are in use", held.source
        if sends := found.others.traffic:
            what = f"nodes of other jobs send {percent(sends.value)} of their maximum rate"
            yield "", what, sends.source
    if found.mpi:
        yield from _mpi(found.mpi)
    for messages in found.messages:
        latency = messages.latency_s
        yield f"messages, {messages.placement}", seconds(latency.value), latency.source
        yield from _rate("", messages.bandwidth_bytes_per_s, "")
        if messages.protocols:
            yield "", "simulated, by message size:", ""
        elif messages.placement == OTHER_NODE:
            yield "", "used by models only; simulated messages use the links", ""
        yield from _by_size(messages.protocols)
        if moved := messages.memory_bytes_per_byte:
            yield "", f"{moved.value:g} bytes of memory traffic per byte sent", moved.source


def _network(network: Network, nodes: int) -> Iterator[tuple[str, str, str]]:
    yield "network", network.name, network.source
    for picture, words in drawing(network, nodes):
        yield "", f"{picture:20}{words}".rstrip(), ""
    ports = [count(level.ports, "port") for level in network.levels if level.ports]
    if ports:
        yield "", f"switches with {listed(ports)}, from the nodes up", ""
    yield from _rate("link", network.link_bandwidth_bytes_per_s, "")
    latency = network.link_latency_s
    yield "", seconds(latency.value), latency.source
    for number, level in enumerate(network.levels, 1):
        if left := level.left:
            what = f"{percent(left.value)} of the links up to level {number} are available"
            yield "", f"{what} (the rest is used by other jobs)", left.source


def _mpi(mpi: Mpi) -> Iterator[tuple[str, str, str]]:
    yield "MPI", mpi.library, ""
    limit = mpi.rendezvous_bytes
    yield "", f"rendezvous from {size(limit.value)}", limit.source
    if trips := mpi.rendezvous_latencies:
        yield "", f"rendezvous messages take {trips.value:g} latencies", trips.source
    if held := mpi.cached_bytes:
        yield "", f"messages up to {size(held.value)} within a node stay in caches", held.source
    for name, cost in (("send", mpi.send_overhead_s), ("receive", mpi.receive_overhead_s)):
        if cost:
            yield "", f"{name} overhead per message: {seconds(cost.value)}", cost.source
    for operation, one in mpi.collectives.items():
        yield "", f"{operation}: {one.algorithm}", one.source


def _by_size(protocols: Sequence[Protocol]) -> Iterator[tuple[str, str, str]]:
    for piece in protocols:
        numbers = [
            *([seconds(piece.latency_s.value)] if piece.latency_s else []),
            *([rate(piece.bandwidth_bytes_per_s.value)] if piece.bandwidth_bytes_per_s else []),
        ]
        sizes = f"{size(piece.first_bytes)} to {size(piece.last_bytes)}"
        yield "", f"{sizes}: {', '.join(numbers)}", ""


def _node(found: Cluster) -> Iterator[tuple[str, str, str]]:
    node = found.node
    threads = ""
    if node.threads_per_core > 1:
        threads = f" with {count(node.threads_per_core, 'hardware thread')} each"
    yield "nodes", f"{found.nodes:,}", ""
    yield "node", node.cpu, ""
    cores = f"{count(node.sockets, 'socket')}, {count(node.cores, 'core')}{threads}"
    yield "", f"{cores}, {size(node.memory_bytes)} of memory", node.source
    if node.clock_ghz:
        yield "", f"{node.clock_ghz.value:g} GHz", node.clock_ghz.source
    yield from _core_lines(node)
    for memory in node.memory:
        yield from _rate(
            "memory", memory.bandwidth_bytes_per_s, f" to {count(memory.cores, 'core')}"
        )
        if cost := memory.store_cost:
            yield ("", f"storing a byte takes {cost.value:.2g}x as long as loading it", cost.source)
    if node.socket:
        yield from _socket(node.socket)
    if node.gpu:
        yield from _gpus(node.gpu)
    for one in node.regions:
        takes = f"{seconds(one.cost_s.value)} with {count(one.threads, 'thread')}"
        yield "parallel region", takes, one.cost_s.source
    yield from _spread(node.spread or NodeSpread())


def _socket(socket: Socket) -> Iterator[tuple[str, str, str]]:
    for memory in socket.memory:
        to = f" to {count(memory.cores, 'core')}"
        yield from _rate("memory per socket", memory.bandwidth_bytes_per_s, to)
    yield from _rate("between sockets", socket.link.bandwidth_bytes_per_s, " per direction")
    if latency := socket.link.latency_s:
        yield "", f"{seconds(latency.value)} added latency", latency.source


def _gpus(gpu: Gpu) -> Iterator[tuple[str, str, str]]:
    yield "GPUs", f"{gpu.number} x {gpu.gpu}, {size(gpu.memory_bytes)} of memory", gpu.source
    yield from _rate("", gpu.memory_bandwidth_bytes_per_s, " memory bandwidth")
    yield from _rate("", gpu.copy_bandwidth_bytes_per_s, " between GPU and host memory")
    yield from _rate("", gpu.socket_bandwidth_bytes_per_s, " between GPUs of different sockets")
    for cost, what in (
        (gpu.launch_s, "to launch a kernel or a copy"),
        (gpu.launch_latency_s, "from the launch to its start on the GPU"),
        (gpu.stream_sync_s, "to synchronise a stream"),
        (gpu.device_sync_s, "to synchronise the device"),
        (gpu.query_s, "to query the memory space of an address"),
        (gpu.operation_s, "of other overhead per star forest operation"),
    ):
        if cost:
            yield "", f"{seconds(cost.value)} {what}", cost.source
    for messages in gpu.messages:
        sources = dict.fromkeys(
            number.source
            for piece in messages.protocols
            for number in (piece.latency_s, piece.bandwidth_bytes_per_s)
            if number
        )
        where = messages.placement.replace("-", " ").replace("gpu", "GPU")
        yield "messages", f"between GPUs, {where}", "; ".join(sources)
        yield from _by_size(messages.protocols)
        if overhead := messages.receive_overhead_s:
            yield "", f"receive overhead: {seconds(overhead.value)}", overhead.source


def _spread(apart: NodeSpread) -> Iterator[tuple[str, str, str]]:
    for name, one in (("node variability", apart.nodes), ("phase variability", apart.phases)):
        if one:
            yield name, f"{percent(one.value)} (standard deviation of times)", one.source
    if apart.slowest and apart.nodes:
        yield "", "all nodes of a job: expected time of the slowest", apart.nodes.source


def _core_lines(node: Node) -> Iterator[tuple[str, str, str]]:
    if node.core_flops_per_s:
        core = node.core_flops_per_s
        yield "core", flops(core.value), core.source
    for one in node.kernels:
        full = " (all cores busy)"
        for each, where in ((one.core_flops_per_s, ""), (one.crowded_flops_per_s, full)):
            if each:
                name = " ".join(filter(None, (f"core{where},", one.kernel, one.variant)))
                yield name, flops(each.value), each.source
    for cache in node.caches:
        cores = count(cache.shared_by, "core")
        shared = f" shared by {cores}" if cache.shared_by > 1 else " per core"
        yield f"cache L{cache.level}", size(cache.size_bytes) + shared, cache.source
        if cache.usable_bytes:
            usable = cache.usable_bytes
            yield "", f"{size(usable.value)} effective", usable.source
        yield from _rate("", cache.bandwidth_bytes_per_s, " to one core")
        yield from _rate("", cache.crowded_bytes_per_s, " per core of a full socket")
    factors = (("sharpness", node.sharpness), ("knee", node.knee), ("SMT gain", node.smt_gain))
    for name, factor in factors:
        if factor:
            yield name, f"{factor.value:g}", factor.source


def _rate(name: str, quantity: Quantity | None, to: str) -> Iterator[tuple[str, str, str]]:
    if quantity is not None:
        yield name, rate(quantity.value) + to, quantity.source


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
