# SPDX-License-Identifier: BSD-3-Clause
"""A lab's network as input of `ip` and `tc`: links, switches, addresses, rates."""

from __future__ import annotations

from collections.abc import Mapping

from haloscope.lab import GATE, HEAD, LINK, Lab, address

TRUNK = "trunk"
_QUEUE_S = 0.05
"""_QUEUE_S is the longest time of a packet in a link before it is dropped: tc has no default."""
_LEAST_QUEUE_BYTES = 2**17
"""_LEAST_QUEUE_BYTES lets slow links accept what TCP sends at once, 64 KiB per connection."""
_AHEAD_S = 10e-6
"""_AHEAD_S times its rate is the burst of a link. Timers are not finer, so fast links would not
reach their rates with less. With more, ping-pongs would be faster than the link, whose bucket fills
while the other direction sends.
"""
PACKET_BYTES = 1600
"""At least an Ethernet packet, and what tc rounds down; larger ones are split (tc-tbf(8))."""


def this_machine(pids: Mapping[str, int]) -> list[str]:
    """Return the input of `ip` on this machine: its link to the switches. pids: of the cages."""
    return [
        f"link add {LINK} type veth peer name gate netns {pids['fabric']}",
        f"address add {GATE}/24 dev {LINK}",
        f"link set {LINK} up",
    ]


def fabric(lab: Lab, pids: Mapping[str, int]) -> list[str]:
    """Return the input of `ip` for the switches: switches, trunk, and a link to each host."""
    middle = TRUNK if lab.switches > 1 else lab.switch_names[0]
    switches = dict.fromkeys((middle, *lab.switch_names))
    lines = [line for name in switches for line in _switch(name)]
    for name in lab.switch_names if lab.switches > 1 else ():
        lines.append(f"link add {name}-up type veth peer name {name}-down")
        lines += _plugged(f"{name}-up", name) + _plugged(f"{name}-down", middle)
    above = {node: switch for switch, nodes in lab.of_switch().items() for node in nodes}
    for host in lab.hosts:
        lines.append(f"link add {host} type veth peer name eth0 netns {pids[host]}")
        lines += _plugged(host, above.get(host, middle))
    return [*lines, *_plugged("gate", middle), "link set lo up"]


def _switch(name: str) -> list[str]:
    return [f"link add {name} type bridge forward_delay 0", f"link set {name} up"]


def _plugged(end: str, switch: str) -> list[str]:
    return [f"link set {end} master {switch}", f"link set {end} up"]


def host(name: str) -> list[str]:
    """Return the input of `ip` on a host of the lab."""
    return ["link set lo up", f"address add {address(name)}/24 dev eth0", "link set eth0 up"]


def fabric_rates(lab: Lab) -> list[str]:
    """Return the input of `tc` for the switches: their ends of all links of nodes, and trunks."""
    ends = [*lab.names]
    if lab.switches > 1:
        ends += [f"{name}-{end}" for name in lab.switch_names for end in ("up", "down")]
    return [line for end in ends for line in _limited(lab, end)]


def host_rates(lab: Lab, name: str) -> list[str]:
    """Return the input of `tc` on a host; the head's link has no limit."""
    return [] if name == HEAD else _limited(lab, "eth0")


def _limited(lab: Lab, end: str) -> list[str]:
    lines, parent = [], "root"
    if lab.rate_bits_per_s is not None:
        rate = round(lab.rate_bits_per_s)
        burst = max(PACKET_BYTES, round(rate / 8 * _AHEAD_S))
        queue = max(_LEAST_QUEUE_BYTES, round(rate / 8 * _QUEUE_S))
        bucket = f"tbf rate {rate}bit burst {burst} limit {queue}"
        lines.append(f"qdisc add dev {end} root handle 1: {bucket}")
        parent = "parent 1:1"
    if lab.latency_s is not None:
        lines.append(f"qdisc add dev {end} {parent} netem delay {1e6 * lab.latency_s:g}us")
    return lines


def hosts_file(lab: Lab) -> str:
    """Return /etc/hosts of every host."""
    lines = ["127.0.0.1 localhost", *(f"{address(name)} {name}" for name in lab.hosts)]
    return "\n".join(lines) + "\n"
