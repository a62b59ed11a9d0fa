# SPDX-License-Identifier: BSD-3-Clause
"""A lab as text: its addresses, links, rates and Slurm's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from haloscope.lab import GATE, Lab, address, latency_of, rate_of, slurm_files, wiring


def test_nodes_are_distributed_evenly_with_neighbours_together() -> None:
    assert Lab(5, 1, switches=2).of_switch() == {
        "switch1": ["lab1", "lab2", "lab3"],
        "switch2": ["lab4", "lab5"],
    }


def test_every_host_has_its_own_address() -> None:
    lab = Lab(64, 1)

    assert len({GATE, *map(address, lab.hosts)}) == 66
    assert wiring.hosts_file(Lab(1, 1)) == (
        "127.0.0.1 localhost\n198.18.0.254 lab0\n198.18.0.1 lab1\n"
    )


def test_a_single_switch_connects_all_hosts() -> None:
    lines = wiring.fabric(Lab(1, 1), {"lab0": 10, "lab1": 11})

    assert lines == [
        "link add switch1 type bridge forward_delay 0",
        "link set switch1 up",
        "link add lab0 type veth peer name eth0 netns 10",
        "link set lab0 master switch1",
        "link set lab0 up",
        "link add lab1 type veth peer name eth0 netns 11",
        "link set lab1 master switch1",
        "link set lab1 up",
        "link set gate master switch1",
        "link set gate up",
        "link set lo up",
    ]


def test_several_switches_are_connected_by_a_trunk() -> None:
    lines = wiring.fabric(Lab(2, 1, switches=2), {"lab0": 10, "lab1": 11, "lab2": 12})

    for line in (
        "link add switch2-up type veth peer name switch2-down",
        "link set switch2-up master switch2",
        "link set switch2-down master trunk",
        "link set lab2 master switch2",
        "link set lab0 master trunk",
    ):
        assert line in lines


def test_a_rate_limits_both_ends_of_every_link_and_trunk_but_not_the_head() -> None:
    lab = Lab(2, 1, switches=2, rate_bits_per_s=1e9)
    bucket = "tbf rate 1000000000bit burst 1600 limit 6250000"

    ends = ("lab1", "lab2", "switch1-up", "switch1-down", "switch2-up", "switch2-down")
    assert wiring.fabric_rates(lab) == [f"qdisc add dev {e} root handle 1: {bucket}" for e in ends]
    assert wiring.host_rates(lab, "lab1") == [f"qdisc add dev eth0 root handle 1: {bucket}"]
    assert wiring.host_rates(lab, "lab0") == []


@pytest.mark.parametrize(
    ("rate", "held"),
    [(1e6, "burst 1600 limit 131072"), (1e10, "burst 12500 limit 62500000")],
)
def test_a_bucket_holds_one_packet_or_the_bytes_of_a_timer_tick(rate: float, held: str) -> None:
    (line,) = wiring.host_rates(Lab(1, 1, rate_bits_per_s=rate), "lab1")

    assert line.endswith(held)


def test_latency_is_applied_below_the_rate_or_alone() -> None:
    both = wiring.host_rates(Lab(1, 1, rate_bits_per_s=1e9, latency_s=5e-5), "lab1")

    assert both[1] == "qdisc add dev eth0 parent 1:1 netem delay 50us"
    assert wiring.host_rates(Lab(1, 1, latency_s=1e-3), "lab1") == [
        "qdisc add dev eth0 root netem delay 1000us"
    ]


def test_slurm_is_configured_with_nodes_cores_and_switches() -> None:
    lab = Lab(3, 2, switches=2)
    conf = slurm_files.slurm_conf(lab, Path("/run/x"), memory_mb=1000)

    assert "NodeName=lab3 NodeAddr=198.18.0.3 Sockets=1 CoresPerSocket=2" in conf
    assert "RealMemory=1000" in conf
    assert "PartitionName=lab Nodes=lab1,lab2,lab3 Default=YES" in conf
    assert slurm_files.topology_conf(lab) == (
        "SwitchName=switch1 Nodes=lab1,lab2\n"
        "SwitchName=switch2 Nodes=lab3\n"
        "SwitchName=trunk Switches=switch1,switch2\n"
    )


@pytest.mark.parametrize(
    ("text", "bits"), [("10mbit", 1e7), ("1gbit", 1e9), ("2.5gbit", 2.5e9), ("64kbit", 6.4e4)]
)
def test_rates_are_parsed_like_tc(text: str, bits: float) -> None:
    assert rate_of(text) == bits


@pytest.mark.parametrize("text", ["", "1", "gbit", "0gbit", "1Gbps", "-1gbit", "1us"])
def test_an_invalid_rate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="10kbit, 10mbit, 10gbit"):
        rate_of(text)


def test_latencies_are_parsed_like_tc() -> None:
    assert (latency_of("50us"), latency_of("1.5ms")) == pytest.approx((50e-6, 1.5e-3))


@pytest.mark.parametrize(
    ("lab", "where"),
    [
        (Lab(0, 1), "--nodes 0"),
        (Lab(65, 1), "--nodes 65"),
        (Lab(2, 0), "--cores 0"),
        (Lab(2, 1, switches=3), "--switches 3"),
        (Lab(2, 1, rate_bits_per_s=0.1), "--rate 0.1bit"),
        (Lab(2, 1, rate_bits_per_s=9e14), "--rate 9e+14bit"),
    ],
)
def test_out_of_range_numbers_are_named(lab: Lab, where: str) -> None:
    assert [problem.where for problem in lab.problems()] == [where]
