# SPDX-License-Identifier: BSD-3-Clause
"""Why a place cannot run or simulate a valid case; None if it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from haloscope.errors import Problem
from haloscope.layout import Layout
from haloscope.quantities import listed
from haloscope.study.case import Case, gpus_lacking, ranks_sharing_a_gpu
from haloscope.study.checks.capacity import Site
from haloscope.toolchains.library import parted


def message_layer(site: Site, layout: Layout, toolchain: str, transport: str | None) -> str | None:
    """Return why the layout, the MPI library, or the transport is not available, or None."""
    if site.facts.simulated:
        return _not_simulated(site, layout, toolchain, transport)
    if layout.allocation not in site.allocations:
        return (
            f"allocation '{layout.allocation}' can only be simulated (--on CLUSTER), because a "
            "batch system chooses the nodes itself"
        )
    if toolchain in site.missing:
        return site.missing[toolchain]
    there = () if transport is None else site.transports.get(toolchain, ())
    if transport is not None and transport not in there:
        return f"{toolchain} has no transport '{transport}', only {', '.join(there)}"
    if layout.placement is not None and layout.placement not in site.placements:
        return f"placement '{layout.placement}' does not exist {site.where}"
    return None


def _not_simulated(site: Site, layout: Layout, toolchain: str, transport: str | None) -> str | None:
    if transport:
        what = f"transport '{transport}' cannot be chosen in simulations, because the cluster file "
        what += "determines the costs of messages"
        return f"{what}; remove it, or write a cluster file for this transport"
    if toolchain not in site.toolchains:
        what = f"MPI library '{toolchain}' is not simulated"
        return f"{what}, because the cluster file determines the library; remove it"
    if layout.allocation not in site.allocations:
        what = f"allocation '{layout.allocation}' requires a tree network"
        return f"{what}, which {site.name} does not have"
    if _partly_packed(site, layout):
        what = "the simulation cannot place threads close to each other on "
        what += "only some of the sockets" if layout.ppn < site.sockets else "shared cores"
        return f"{what}; use thread_bind = spread, or bind = close"
    if toolchain in site.missing:
        return site.missing[toolchain]
    if layout.placement is None or layout.placement in site.placements:
        return None
    inside = "the simulation does not distinguish placements inside a node"
    if site.sockets_differ:
        inside = (
            f"inside a node of {site.name}, the simulation distinguishes only sockets; use "
            "ppn = 2 with bind = close (one socket) or bind = spread (two sockets)"
        )
    return f"{inside}; placement 'other-node' can be simulated if there are several nodes"


def _partly_packed(site: Site, layout: Layout) -> bool:
    """Return whether spread ranks have close threads that share more than an even share would."""
    if layout.bind != "spread" or layout.ppn == 1 or layout.threads_bound != "close":
        return False
    several = layout.places == "threads" and site.hardware_threads > site.cores
    return several or layout.ppn < site.sockets


def rate(site: Site, kernel: str, params: Mapping[str, Any]) -> str | None:
    """Return why the place has no rate for a kernel with these parameters, or None."""
    if site.facts.simulated and params.get("cache") == "off":
        return "simulated messages do not depend on caches: cache=off equals cache=warm"
    known, variant = site.variants.get(kernel), params.get("variant")
    if known is None or variant in known:
        return None
    rates = listed(list(known))
    return f"the cluster file has no {kernel} rate for {variant}, only for {rates}"


def gpus(site: Site, layout: Layout, params: Mapping[str, Any]) -> str | None:
    """Return why a simulated node's GPUs are too few for these ranks, or None."""
    if not site.facts.simulated or params.get("memory") != "device":
        return None
    return gpus_lacking(site.gpus, layout, ranks_sharing_a_gpu(params), site.name)


def devices_of_two_kinds(cases: Sequence[Case]) -> Iterator[Problem]:
    """Yield a problem if a study mixes times of an emulated device with those of a GPU."""
    names = {case.toolchain for case in cases if case.params.get("memory") == "device"}
    emulated = {name for name in names if parted(name)[1] is None}
    real = names - emulated
    if emulated and real:
        one, other = (listed([repr(name) for name in sorted(each)]) for each in (emulated, real))
        what = f"toolchain {one} emulates the device, whereas {other} uses a GPU; "
        what += "their times are not comparable"
        remedy = "use a separate study for each"
        yield Problem("memory = device", what, remedy)


def second_socket(site: Site) -> str:
    """Return why a run on several sockets is skipped."""
    if site.facts.simulated:
        return f"the cluster file of {site.name} already contains the values between sockets"
    return f"{site.node} has no second socket"
